//! Where a shard's replies end, and nothing else about them.
//!
//! Replies pass through onetrip as the bytes they are; all that has to be known is their boundaries. The scanner
//! builds no tree: elements still due are one flat count, since an aggregate of n elements merely makes n more due.
//! It is resumable at any byte and its state is a few words, so a reply of any size streams in bounded memory.
//!
//! Whatever a shared lane must never see (a push, a streamed aggregate, garbage) is a fault: after it nobody can
//! tell whose bytes follow, so the connection that brought it has to go.

use super::request::parse_integer;
use crate::limits;

/// Longest `$…` or `*…` header line; i64 has at most 20 characters.
const HEADER_MAX: usize = 24;

/// Why a shard's bytes are not replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    UnknownType(u8),
    BadLength,
    TooLong,
    MissingCrlf,
    UnexpectedPush,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::UnknownType(b) => write!(f, "reply of unknown type {:?}", *b as char),
            Fault::BadLength => f.write_str("length that is no number"),
            Fault::TooLong => f.write_str("length over the limit"),
            Fault::MissingCrlf => f.write_str("reply without its CRLF"),
            Fault::UnexpectedPush => f.write_str("push that nobody asked for"),
        }
    }
}

/// Finds the end of one reply after another in a stream of bytes.
#[derive(Default)]
pub struct Scanner {
    /// Elements still due in the reply at hand; 0 between replies.
    due: u64,
    /// Bytes of a bulk still due, with its CRLF.
    body: u64,
    /// Type byte of a line that was cut; 0 where none was.
    kind: u8,
    header: [u8; HEADER_MAX],
    header_len: u8,
}

impl Scanner {
    /// Whether the last reply was complete: the next byte begins a new one.
    #[inline]
    pub fn between_replies(&self) -> bool {
        self.due == 0
    }

    /// Goes on in the reply at hand (or begins one). `Some(n)`: it ends with `bytes[..n]`. `None`: all of `bytes`
    /// belong to it and more are due.
    #[inline]
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        if self.due == 0
            && let Some(end) = whole(bytes)
        {
            return Ok(Some(end));
        }
        self.resume(bytes)
    }

    #[inline(never)]
    fn resume(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if self.due == 0 {
            self.due = 1;
        }
        let mut at = 0;
        loop {
            if self.body > 0 {
                at += self.skip_body(&bytes[at..])?;
                if self.body > 0 {
                    return Ok(None);
                }
                self.due -= 1;
            } else {
                match self.line(&bytes[at..])? {
                    None => return Ok(None),
                    Some(len) => at += len,
                }
            }
            if self.due == 0 {
                return Ok(Some(at));
            }
            if at == bytes.len() {
                return Ok(None);
            }
        }
    }

    /// Skips what is there of a bulk and its CRLF; returns how much that was.
    fn skip_body(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let here = self.body.min(bytes.len() as u64);
        let after = self.body - here;
        // The last two bytes of the body are its CRLF, wherever the packets cut them.
        if here > 0 && after == 0 && bytes[here as usize - 1] != b'\n' {
            return Err(Fault::MissingCrlf);
        }
        let cr = self.body.checked_sub(2).filter(|&cr| cr < here);
        if cr.is_some_and(|cr| bytes[cr as usize] != b'\r') {
            return Err(Fault::MissingCrlf);
        }
        self.body = after;
        Ok(here as usize)
    }

    /// Takes a line; `None` where its end is not there yet.
    fn line(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let (fresh, rest) = match self.kind {
            0 => (1, &bytes[1..]),
            _ => (0, bytes),
        };
        if fresh == 1 {
            self.kind = known(bytes[0])?;
            self.header_len = 0;
        }
        let end = rest.iter().position(|&b| b == b'\n');
        if has_length(self.kind) {
            self.keep(&rest[..end.unwrap_or(rest.len())])?;
        }
        let Some(end) = end else { return Ok(None) };
        let kind = std::mem::take(&mut self.kind);
        if has_length(kind) {
            self.length(kind)?;
        } else {
            self.due -= 1;
        }
        Ok(Some(fresh + end + 1))
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), Fault> {
        let from = self.header_len as usize;
        let room = self.header.get_mut(from..from + part.len()).ok_or(Fault::BadLength)?;
        room.copy_from_slice(part);
        self.header_len += part.len() as u8;
        Ok(())
    }

    /// What a complete header line makes due.
    fn length(&mut self, kind: u8) -> Result<(), Fault> {
        let header = &self.header[..self.header_len as usize];
        let digits = header.strip_suffix(b"\r").ok_or(Fault::MissingCrlf)?;
        let n = parse_integer(digits).ok_or(Fault::BadLength)?;
        if n == -1 && matches!(kind, b'$' | b'*') {
            self.due -= 1;
            return Ok(());
        }
        if n < 0 {
            return Err(Fault::BadLength);
        }
        let n = n as u64;
        match kind {
            b'$' | b'=' | b'!' if n > limits::REPLY_BULK_BYTES_MAX => return Err(Fault::TooLong),
            b'$' | b'=' | b'!' => self.body = n + 2,
            _ if n > limits::REPLY_ELEMENTS_MAX => return Err(Fault::TooLong),
            b'*' | b'~' => self.due = self.due + n - 1,
            b'%' => self.due = self.due + 2 * n - 1,
            // An attribute precedes the element that it is about.
            _ => self.due += 2 * n,
        }
        if self.due > limits::REPLY_ELEMENTS_MAX * 2 {
            return Err(Fault::TooLong);
        }
        Ok(())
    }
}

/// The end of a reply that is complete and of the kinds that nearly all are: a short line or a short bulk string.
/// `None` says nothing about the bytes.
#[inline]
fn whole(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'$' => whole_bulk(bytes),
        b'+' | b':' | b'-' => {
            let near = bytes.first_chunk().and_then(|chunk| newline_among(*chunk));
            Some(1 + near.or_else(|| bytes.iter().take(64).position(|&b| b == b'\n'))?)
        }
        _ => None,
    }
}

/// Where the first newline of eight bytes is, found without a branch a byte.
#[inline]
fn newline_among(chunk: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let zero_where_newline = u64::from_le_bytes(chunk) ^ (ONES * b'\n' as u64);
    // The lowest set bit marks the first zero byte; those above it may be wrong, and are not looked at.
    let marks = zero_where_newline.wrapping_sub(ONES) & !zero_where_newline & (ONES << 7);
    (marks != 0).then_some(marks.trailing_zeros() as usize / 8)
}

#[inline]
fn whole_bulk(bytes: &[u8]) -> Option<usize> {
    let Some((len, header)) = super::short_bulk(bytes) else {
        return bytes.starts_with(b"$-1\r\n").then_some(5);
    };
    let end = header + len;
    (bytes.get(end..end + 2)? == b"\r\n").then_some(end + 2)
}

fn known(kind: u8) -> Result<u8, Fault> {
    match kind {
        b'+' | b'-' | b':' | b'$' | b'*' | b'_' | b'#' | b',' | b'(' | b'!' | b'=' | b'%' | b'~' | b'|' => {
            Ok(kind)
        }
        b'>' => Err(Fault::UnexpectedPush),
        other => Err(Fault::UnknownType(other)),
    }
}

fn has_length(kind: u8) -> bool {
    matches!(kind, b'$' | b'*' | b'!' | b'=' | b'%' | b'~' | b'|')
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLIES: &[&[u8]] = &[
        b"+OK\r\n",
        b"-ERR no\r\n",
        b":-12\r\n",
        b"$-1\r\n",
        b"*-1\r\n",
        b"$0\r\n\r\n",
        b"$5\r\nhe\r\nl\r\n",
        b"$12\r\nhello, world\r\n",
        b"*0\r\n",
        b"*2\r\n*0\r\n*1\r\n$1\r\na\r\n",
        b"%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n",
        b"%0\r\n",
        b"~2\r\n#t\r\n,1.5\r\n",
        b"|1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n",
        b"_\r\n",
        b"(123456789012345678901234567890\r\n",
        b"=8\r\ntxt:text\r\n",
        b"!5\r\nERR x\r\n",
    ];

    #[test]
    fn every_reply_ends_where_it_ends_however_it_is_cut() {
        for reply in REPLIES {
            let mut followed = reply.to_vec();
            followed.extend_from_slice(b"+next\r\n");
            assert_eq!(Scanner::default().scan(&followed), Ok(Some(reply.len())), "{reply:?}");
            for cut in 1..reply.len() {
                let mut scanner = Scanner::default();
                assert_eq!(scanner.scan(&reply[..cut]), Ok(None), "{reply:?} cut at {cut}");
                assert_eq!(
                    scanner.scan(&followed[cut..]),
                    Ok(Some(reply.len() - cut)),
                    "{reply:?} cut at {cut}"
                );
                assert!(scanner.between_replies());
            }
        }
    }

    #[test]
    fn a_line_ends_at_its_first_newline_wherever_it_is() {
        for length in 1..80 {
            let mut bytes = vec![b'+'];
            bytes.extend((0..length).map(|i| [0x0b, 0x8a, 0xff, b'x', 0, b'\r'][i % 6]));
            bytes.extend_from_slice(b"\r\n\n\x0b+OK\r\n");
            assert_eq!(Scanner::default().scan(&bytes), Ok(Some(length + 3)), "{length}");
        }
    }

    #[test]
    fn dripped_replies_end_once() {
        let mut scanner = Scanner::default();
        let stream: Vec<u8> = REPLIES.concat();
        let ends = stream.iter().filter(|&&b| scanner.scan(&[b]).expect("well-formed") == Some(1)).count();
        assert_eq!(ends, REPLIES.len());
    }

    #[test]
    fn what_is_no_reply_is_a_fault() {
        let faults: &[(&[u8], Fault)] = &[
            (b">1\r\n+x\r\n", Fault::UnexpectedPush),
            (b"?\r\n", Fault::UnknownType(b'?')),
            (b"$abc\r\n", Fault::BadLength),
            (b"$-2\r\n", Fault::BadLength),
            (b"*?\r\n", Fault::BadLength),
            (b"$1\r\nabc", Fault::MissingCrlf),
            (b"$99999999999\r\n", Fault::TooLong),
            (b"*99999999999\r\n", Fault::TooLong),
        ];
        for (bytes, fault) in faults {
            assert_eq!(Scanner::default().scan(bytes), Err(*fault), "{bytes:?}");
        }
    }
}
