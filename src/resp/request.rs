//! Requests: where one ends in a client's bytes and where its arguments lie, without copying them.
//!
//! Owns the grammar of what clients may send (multibulk and inline) with Redis's own limits and error texts. It is
//! resumable: a request cut at any byte, even a million arguments dripped one byte at a time, is scanned once.
//! It is strict where servers differ (a bulk not followed by CRLF is an error), because a shard that framed a
//! request differently than its proxy would run what no client sent.
//!
//! What it never does: allocate by a declared count or length.

use super::words::split_words;
use crate::limits;
use bytes::BufMut;

/// Bytes `start..end` of the frame that they belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// The arguments of one request, the command's name first, as slices of its frame.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    frame: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    pub fn new(frame: &'a [u8], spans: &'a [Span]) -> Args<'a> {
        Args { frame, spans }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Argument `i`; panics past the end, as a slice does.
    #[inline]
    pub fn at(&self, i: usize) -> &'a [u8] {
        let span = self.spans[i];
        &self.frame[span.start as usize..span.end as usize]
    }

    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        (i < self.spans.len()).then(|| self.at(i))
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let this = *self;
        (0..this.len()).map(move |i| this.at(i))
    }

    /// The whole request as it is sent on: always multibulk, whatever the client wrote.
    #[inline]
    pub fn frame(&self) -> &'a [u8] {
        self.frame
    }
}

/// Arguments that a request found the short way has at most: a count of one digit.
const FEW: usize = 9;

/// What the client did wrong; each is answered with Redis's text and the connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    MultibulkLength,
    UnauthenticatedMultibulkLength,
    MultibulkCountTooBig,
    BulkLength,
    UnauthenticatedBulkLength,
    BulkCountTooBig,
    ExpectedBulk(u8),
    MissingCrlf,
    InlineTooBig,
    UnbalancedQuotes,
    RequestTooBig,
}

impl Fault {
    /// The error line without its `-`.
    pub fn text(&self) -> String {
        let what = match self {
            Fault::MultibulkLength => "invalid multibulk length",
            Fault::UnauthenticatedMultibulkLength => "unauthenticated multibulk length",
            Fault::MultibulkCountTooBig => "too big mbulk count string",
            Fault::BulkLength => "invalid bulk length",
            Fault::UnauthenticatedBulkLength => "unauthenticated bulk length",
            Fault::BulkCountTooBig => "too big bulk count string",
            Fault::ExpectedBulk(got) => {
                return format!("ERR Protocol error: expected '$', got '{}'", *got as char);
            }
            Fault::MissingCrlf => "invalid CRLF in request",
            Fault::InlineTooBig => "too big inline request",
            Fault::UnbalancedQuotes => "unbalanced quotes in request",
            Fault::RequestTooBig => "too big request",
        };
        format!("ERR Protocol error: {what}")
    }
}

/// What [`Decoder::next`] found at the front of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A request that took `consumed` bytes; its arguments are [`Decoder::args`].
    Request { consumed: usize },
    /// Bytes that ask for nothing (an empty line, `*0`): skip `consumed` and go on.
    Nothing { consumed: usize },
    /// The front request is not complete; at least `missing` more bytes are due.
    Incomplete { missing: usize },
}

/// The scanner of one client's requests. Its progress counts from the front of the bytes that it is given, so
/// those must stay in place until a request is complete; `next` starts afresh after each.
#[derive(Default)]
pub struct Decoder {
    spans: Vec<Span>,
    /// How many spans there are. The vector knows it too, but a slice made right after a push from the vector's own
    /// adjacent words is loaded in one piece that the processor can't forward from the stores: it would wait for them.
    found: usize,
    /// An inline request in multibulk form; empty for a multibulk one.
    rewritten: Vec<u8>,
    /// Arguments found the short way.
    few: [Span; FEW],
    at: usize,
    /// Bulks still due; 0 between requests.
    due: u32,
    /// Length of the bulk whose header was read.
    bulk: Option<u32>,
    done: bool,
}

impl Decoder {
    /// The arguments of the request that `next` has just found at the front of `bytes`.
    #[inline]
    pub fn args<'a>(&'a self, bytes: &'a [u8]) -> Args<'a> {
        if self.rewritten.is_empty() {
            Args::new(&bytes[..self.at], &self.spans[..self.found])
        } else {
            Args::new(&self.rewritten, &self.spans[..self.found])
        }
    }

    /// Whether a request has been begun and not completed.
    pub fn midway(&self) -> bool {
        !self.done && (self.at > 0 || self.due > 0)
    }

    /// Bytes held for this decoder beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.rewritten.capacity()
    }

    /// Looks for one request at the front of `bytes`, going on from where the last call ran out of them.
    /// `trusted` is false until the client has authenticated, where a password is asked for.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], trusted: bool) -> Result<Decoded, Fault> {
        if self.done {
            self.begin();
        }
        if self.due == 0 {
            match bytes.first() {
                None => return Ok(Decoded::Incomplete { missing: 1 }),
                Some(b'*') => {}
                Some(_) => return self.inline(bytes),
            }
            let Some((count, next)) = header(bytes, 0, Fault::MultibulkCountTooBig, Fault::MultibulkLength)?
            else {
                return Ok(Decoded::Incomplete { missing: 1 });
            };
            if count > i64::from(i32::MAX) {
                return Err(Fault::MultibulkLength);
            }
            if count <= 0 {
                return Ok(Decoded::Nothing { consumed: next });
            }
            if !trusted && count > limits::UNAUTHENTICATED_ARGS {
                return Err(Fault::UnauthenticatedMultibulkLength);
            }
            self.due = count as u32;
            self.at = next;
        }
        self.bulks(bytes, trusted)
    }

    #[inline]
    fn bulks(&mut self, bytes: &[u8], trusted: bool) -> Result<Decoded, Fault> {
        while self.due > 0 {
            let len = match self.bulk {
                Some(len) => len as usize,
                None => match self.bulk_header(bytes, trusted)? {
                    Some(len) => len,
                    None => return Ok(Decoded::Incomplete { missing: 1 }),
                },
            };
            let end = self.at + len;
            if bytes.len() < end + 2 {
                self.bulk = Some(len as u32);
                if end + 2 > limits::REQUEST_BYTES_MAX {
                    return Err(Fault::RequestTooBig);
                }
                return Ok(Decoded::Incomplete { missing: end + 2 - bytes.len() });
            }
            if bytes[end] != b'\r' || bytes[end + 1] != b'\n' {
                return Err(Fault::MissingCrlf);
            }
            self.spans.push(Span { start: self.at as u32, end: end as u32 });
            self.at = end + 2;
            self.bulk = None;
            self.due -= 1;
        }
        self.done = true;
        self.found = self.spans.len();
        Ok(Decoded::Request { consumed: self.at })
    }

    #[inline]
    fn bulk_header(&mut self, bytes: &[u8], trusted: bool) -> Result<Option<usize>, Fault> {
        match bytes.get(self.at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(&got) => return Err(Fault::ExpectedBulk(got)),
        }
        let Some((len, next)) = header(bytes, self.at, Fault::BulkCountTooBig, Fault::BulkLength)? else {
            return Ok(None);
        };
        if !(0..=limits::BULK_BYTES_MAX).contains(&len) {
            return Err(Fault::BulkLength);
        }
        if !trusted && len > limits::UNAUTHENTICATED_BULK_BYTES {
            return Err(Fault::UnauthenticatedBulkLength);
        }
        self.at = next;
        Ok(Some(len as usize))
    }

    /// The short way: a request that is there as a whole, of few and short arguments, as nearly all are. `None` says
    /// nothing about the bytes; `next` does.
    #[inline]
    pub fn whole<'a>(&'a mut self, bytes: &'a [u8]) -> Option<(Args<'a>, usize)> {
        if self.midway() {
            return None;
        }
        let [b'*', count @ b'1'..=b'9', b'\r', b'\n', ..] = *bytes else { return None };
        let spans = &mut self.few[..usize::from(count - b'0')];
        let mut at = 4;
        for span in spans.iter_mut() {
            let (len, header) = super::short_bulk(&bytes[at..])?;
            let start = at + header;
            let end = start + len;
            if bytes.get(end..end + 2)? != b"\r\n" {
                return None;
            }
            *span = Span { start: start as u32, end: end as u32 };
            at = end + 2;
        }
        Some((Args::new(&bytes[..at], spans), at))
    }

    /// Forgets the request at hand: the next call starts at the front of its bytes.
    pub fn restart(&mut self) {
        self.begin();
    }

    #[inline]
    fn begin(&mut self) {
        self.spans.clear();
        self.rewritten.clear();
        self.at = 0;
        self.due = 0;
        self.bulk = None;
        self.done = false;
    }

    /// A line of words, as typed into a terminal, rewritten to multibulk for whoever it is sent on to.
    #[cold]
    fn inline(&mut self, bytes: &[u8]) -> Result<Decoded, Fault> {
        let Some(newline) = find_or_nul(&bytes[self.at..], b'\n').map(|i| i + self.at) else {
            if bytes.len() > limits::INLINE_BYTES_MAX {
                return Err(Fault::InlineTooBig);
            }
            // Up to a NUL at most: behind it nothing is looked at.
            self.at += bytes[self.at..].iter().position(|&b| b == 0).unwrap_or(bytes.len() - self.at);
            return Ok(Decoded::Incomplete { missing: 1 });
        };
        self.at = 0;
        let line = &bytes[..newline];
        if line.len() > limits::INLINE_BYTES_MAX {
            return Err(Fault::InlineTooBig);
        }
        let words = split_words(line.strip_suffix(b"\r").unwrap_or(line)).ok_or(Fault::UnbalancedQuotes)?;
        self.done = true;
        if words.is_empty() {
            return Ok(Decoded::Nothing { consumed: newline + 1 });
        }
        super::write::array(&mut self.rewritten, words.len());
        for word in &words {
            super::write::number(&mut self.rewritten, b'$', word.len() as i64);
            let start = self.rewritten.len() as u32;
            self.rewritten.put_slice(word);
            self.spans.push(Span { start, end: start + word.len() as u32 });
            self.rewritten.put_slice(b"\r\n");
        }
        self.found = self.spans.len();
        Ok(Decoded::Request { consumed: newline + 1 })
    }
}

/// The number of a `*` or `$` line that begins at `at`, and where the next line begins; `None` where the line is
/// not complete. Strict as Redis: no sign but a minus, no leading zero, no space.
#[inline]
fn header(bytes: &[u8], at: usize, too_big: Fault, invalid: Fault) -> Result<Option<(i64, usize)>, Fault> {
    let line = &bytes[at + 1..];
    // Nearly every header has one or two digits.
    if let [a @ b'1'..=b'9', b'\r', b'\n', ..] = *line {
        return Ok(Some((i64::from(a - b'0'), at + 4)));
    }
    if let [a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', ..] = *line {
        return Ok(Some((i64::from(a - b'0') * 10 + i64::from(b - b'0'), at + 5)));
    }
    long_header(line, at, too_big, invalid)
}

#[inline(never)]
fn long_header(
    line: &[u8],
    at: usize,
    too_big: Fault,
    invalid: Fault,
) -> Result<Option<(i64, usize)>, Fault> {
    let Some(cr) = find_or_nul(&line[..line.len().min(limits::INLINE_BYTES_MAX)], b'\r') else {
        return if line.len() > limits::INLINE_BYTES_MAX { Err(too_big) } else { Ok(None) };
    };
    match line.get(cr + 1) {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) => return Err(invalid),
    }
    parse_integer(&line[..cr]).map(|n| Some((n, at + 1 + cr + 2))).ok_or(invalid)
}

/// Where `wanted` is, unless a NUL comes first: servers search lines as C strings, so a line with a NUL has no end and
/// is refused once it is too long.
fn find_or_nul(line: &[u8], wanted: u8) -> Option<usize> {
    let at = line.iter().position(|&b| b == wanted || b == 0)?;
    (line[at] == wanted).then_some(at)
}

/// A decimal integer exactly as Redis writes one: no plus, no leading zero, no space, within i64.
pub fn parse_integer(digits: &[u8]) -> Option<i64> {
    let (negative, digits) = match digits {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut n: i64 = 0;
    for &d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        let digit = i64::from(d - b'0');
        n = n.checked_mul(10)?;
        n = if negative { n.checked_sub(digit)? } else { n.checked_add(digit)? };
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(bytes: &[u8]) -> Result<Vec<Vec<Vec<u8>>>, Fault> {
        let (mut decoder, mut at, mut found) = (Decoder::default(), 0, Vec::new());
        loop {
            match decoder.next(&bytes[at..], true)? {
                Decoded::Request { consumed } => {
                    found.push(decoder.args(&bytes[at..]).iter().map(<[u8]>::to_vec).collect());
                    at += consumed;
                }
                Decoded::Nothing { consumed } => at += consumed,
                Decoded::Incomplete { .. } => return Ok(found),
            }
        }
    }

    fn fault(bytes: &[u8]) -> String {
        requests(bytes).expect_err("must be refused").text()
    }

    const STREAM: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n\r\n*0\r\n*-10\r\nPING \"a b\\x41\"\r\nset 'k\\'' v\n*1\r\n$0\r\n\r\n*1\r\n$12\r\nabcdefghijkl\r\n";

    #[test]
    fn a_stream_means_the_same_however_it_is_cut() {
        let expected = requests(STREAM).expect("well-formed");
        assert_eq!(expected.len(), 5);
        assert_eq!(expected[1], [b"PING".to_vec(), b"a bA".to_vec()]);
        assert_eq!(expected[2], [b"set".to_vec(), b"k'".to_vec(), b"v".to_vec()]);
        for cut in 0..STREAM.len() {
            let (mut decoder, mut at, mut found, mut upto) = (Decoder::default(), 0, Vec::new(), cut);
            loop {
                match decoder.next(&STREAM[at..upto], true).expect("well-formed") {
                    Decoded::Request { consumed } => {
                        found
                            .push(decoder.args(&STREAM[at..]).iter().map(<[u8]>::to_vec).collect::<Vec<_>>());
                        at += consumed;
                    }
                    Decoded::Nothing { consumed } => at += consumed,
                    Decoded::Incomplete { missing } => {
                        assert!(missing > 0);
                        if upto == STREAM.len() {
                            break;
                        }
                        upto += 1;
                    }
                }
            }
            assert_eq!(found, expected, "cut at {cut}");
        }
    }

    #[test]
    fn the_short_way_finds_what_the_long_way_finds() {
        let long = [&b"*2\r\n$4\r\nECHO\r\n$999\r\n"[..], &[b'x'; 999], b"\r\n"].concat();
        let whole: [&[u8]; 4] = [b"*1\r\n$4\r\nPING\r\n", b"*2\r\n$0\r\n\r\n$10\r\n0123456789\r\n", &long, b"*9\r\n\
            $1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"];
        for request in whole {
            let mut followed = request.to_vec();
            followed.extend_from_slice(b"*1\r\n");
            let (mut short, mut long) = (Decoder::default(), Decoder::default());
            let (args, consumed) = short.whole(&followed).expect("short and whole");
            assert_eq!(long.next(&followed, false), Ok(Decoded::Request { consumed }));
            assert!(args.iter().eq(long.args(&followed).iter()) && args.frame() == request);
            for cut in 0..request.len() {
                assert!(Decoder::default().whole(&request[..cut]).is_none(), "cut at {cut}");
            }
        }
        let left: [&[u8]; 7] = [
            b"PING\r\n      ",
            b"*0\r\n*1\r\n$4\r\nPING\r\n",
            b"*10\r\n$1\r\na\r\n",
            b"*1\r\n$01\r\na\r\n",
            b"*1\r\n$1000\r\n",
            b"*1\r\n$4\r\nPINGxx",
            b"*1\r\n:4\r\nPING\r\n",
        ];
        for request in left {
            assert!(Decoder::default().whole(request).is_none(), "{request:?}");
        }
        let mut midway = Decoder::default();
        assert_eq!(midway.next(b"*2\r\n", true), Ok(Decoded::Incomplete { missing: 1 }));
        assert!(midway.whole(b"*1\r\n$4\r\nPING\r\n").is_none());
    }

    #[test]
    fn faults_in_the_servers_words() {
        let invalid = "ERR Protocol error: invalid multibulk length";
        for bytes in
            [&b"*3000000000\r\n"[..], b"*abc\r\n", b"*01\r\n", b"*+1\r\n", b"*99999999999999999999\r\n"]
        {
            assert_eq!(fault(bytes), invalid);
        }
        for bytes in [&b"*1\r\n$-10\r\n"[..], b"*1\r\n$2000000000\r\n", b"*1\r\n$blabla\r\n"] {
            assert_eq!(fault(bytes), "ERR Protocol error: invalid bulk length");
        }
        assert_eq!(fault(b"*1\r\n*1\r\n"), "ERR Protocol error: expected '$', got '*'");
        assert_eq!(fault(b"*1\r\n$1\r\nabc"), "ERR Protocol error: invalid CRLF in request");
        assert_eq!(fault(b"set \"a\"b\r\n"), "ERR Protocol error: unbalanced quotes in request");
        assert_eq!(fault(&[b'a'; 70_000]), "ERR Protocol error: too big inline request");
        assert_eq!(
            fault(&[&b"*"[..], &[b'1'; 70_000]].concat()),
            "ERR Protocol error: too big mbulk count string"
        );
        assert_eq!(
            fault(&[&b"*1\r\n$"[..], &[b'1'; 70_000]].concat()),
            "ERR Protocol error: too big bulk count string"
        );
    }

    #[test]
    fn strangers_may_send_little() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.next(b"*11\r\n", false), Err(Fault::UnauthenticatedMultibulkLength));
        let mut decoder = Decoder::default();
        assert_eq!(decoder.next(b"*1\r\n$16385\r\n", false), Err(Fault::UnauthenticatedBulkLength));
    }

    #[test]
    fn nothing_is_allocated_by_a_declared_count() {
        let mut decoder = Decoder::default();
        assert!(matches!(decoder.next(b"*1000000\r\n$1\r\na\r\n", true), Ok(Decoded::Incomplete { .. })));
        assert!(decoder.heap_bytes() < 1024);
    }
}
