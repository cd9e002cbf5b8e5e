//! Reply trees, for the control plane and the few replies that have to be understood to be merged.
//!
//! A [`Value`] borrows from the bytes that it was parsed from. Nothing here is on the way of an ordinary command:
//! those replies pass as ranges, delimited by `reply`. [`skip`] is in between: it finds where one element ends, for
//! a merge that moves elements without looking into them.
//!
//! What it never does: panic on any input, recurse deeper than [`DEPTH_MAX`], or allocate by a declared count. A
//! frame that says a million elements and holds none costs nothing.

use super::request::parse_integer;

/// Deepest nesting that is built. COMMAND, the deepest reply that a server gives, has six levels.
const DEPTH_MAX: u32 = 32;
/// Most nodes in one tree. CLUSTER SHARDS and COMMAND of a large installation stay under a hundred thousand.
const NODES_MAX: u32 = 1 << 20;
/// Longest line that is looked through for its end (the text of an error, say).
const LINE_MAX: usize = 64 * 1024;

/// A reply, borrowed from its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Simple(&'a [u8]),
    /// The text with its code (`ERR …`), whether sent as a line or as a bulk.
    Error(&'a [u8]),
    Integer(i64),
    Bulk(&'a [u8]),
    /// RESP3's null and both nulls of RESP2.
    Null,
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
    Set(Vec<Value<'a>>),
    Double(f64),
    Boolean(bool),
    /// Digits, of any length.
    BigNumber(&'a [u8]),
    Verbatim {
        format: [u8; 3],
        text: &'a [u8],
    },
    Push(Vec<Value<'a>>),
    Attribute {
        attributes: Vec<(Value<'a>, Value<'a>)>,
        of: Box<Value<'a>>,
    },
}

/// These bytes are no RESP, or more of it than the bounds allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'a> Value<'a> {
    /// The bytes of a string of any kind.
    pub fn text(&self) -> Option<&'a [u8]> {
        match self {
            Value::Simple(text) | Value::Bulk(text) | Value::Verbatim { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The elements of an array, set or push.
    pub fn elements(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(items) | Value::Set(items) | Value::Push(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key, in a map or in the flat array that RESP2 gives in its place.
    pub fn field(&self, key: &[u8]) -> Option<&Value<'a>> {
        match self {
            Value::Map(pairs) => pairs.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, v)| v),
            Value::Array(flat) => {
                flat.chunks_exact(2).find(|pair| pair[0].text() == Some(key)).map(|pair| &pair[1])
            }
            _ => None,
        }
    }
}

/// One whole reply at the front of `bytes` and its length; `None` where it is not complete.
pub fn parse(bytes: &[u8]) -> Result<Option<(Value<'_>, usize)>, Malformed> {
    let mut parser = Parser { bytes, at: 0, nodes: 0 };
    match parser.value(0) {
        Ok(value) => Ok(Some((value, parser.at))),
        Err(Stop::Incomplete) => Ok(None),
        Err(Stop::Malformed) => Err(Malformed),
    }
}

/// The length of one whole reply at the front of `bytes`, building nothing; `None` where it is not complete.
#[inline]
pub fn skip(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let mut at = 0;
    let mut due: u64 = 1;
    while due > 0 {
        let Some((kind, n, body)) = next_header(bytes, at)? else {
            return Ok(None);
        };
        at = body;
        due -= 1;
        match kind {
            b'$' | b'=' | b'!' if n >= 0 => match bulk_end(bytes, body, n)? {
                Some(end) => at = end,
                None => return Ok(None),
            },
            b'*' | b'~' | b'>' if n > 0 => due = due.checked_add(n as u64).ok_or(Malformed)?,
            b'%' if n > 0 => due = due.checked_add(2 * n as u64).ok_or(Malformed)?,
            // An attribute comes before the element that it belongs to.
            b'|' => due = due.checked_add(2 * n.max(0) as u64 + 1).ok_or(Malformed)?,
            _ => {}
        }
    }
    Ok(Some(at))
}

/// The number of elements of an array or set at the front of `bytes`, and where the first of them begins.
pub fn elements(bytes: &[u8]) -> Option<(usize, usize)> {
    match next_header(bytes, 0) {
        Ok(Some((b'*' | b'~', n, body))) => Some((usize::try_from(n).ok()?, body)),
        _ => None,
    }
}

/// The type byte, number and body of the element that begins at `at`; a number of 0 for types that have none.
#[inline]
fn next_header(bytes: &[u8], at: usize) -> Result<Option<(u8, i64, usize)>, Malformed> {
    match bytes.get(at..).unwrap_or_default() {
        [] => Ok(None),
        // Most elements are bulk strings of less than a thousand bytes.
        &[b'$', a @ b'1'..=b'9', b'\r', b'\n', ..] => Ok(Some((b'$', digit(a), at + 4))),
        &[b'$', a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', ..] => {
            Ok(Some((b'$', digit(a) * 10 + digit(b), at + 5)))
        }
        [kind, ..] => match line(bytes, at + 1)? {
            None => Ok(None),
            Some((text, body)) => Ok(Some((*kind, header_number(*kind, text)?, body))),
        },
    }
}

fn digit(d: u8) -> i64 {
    i64::from(d - b'0')
}

/// The number in a header line: a length or count of −1 (null) or more, 0 for types without one.
fn header_number(kind: u8, text: &[u8]) -> Result<i64, Malformed> {
    match kind {
        b'$' | b'*' | b'%' | b'~' | b'>' | b'|' | b'=' | b'!' => {
            let n = parse_integer(text).ok_or(Malformed)?;
            let null = n == -1 && matches!(kind, b'$' | b'*');
            // Doubled for a map's pairs, so half of the range is left.
            if null || (0..=i64::MAX / 4).contains(&n) { Ok(n) } else { Err(Malformed) }
        }
        b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => Ok(0),
        _ => Err(Malformed),
    }
}

/// The text of a line from `from` on, and where the next begins.
fn line(bytes: &[u8], from: usize) -> Result<Option<(&[u8], usize)>, Malformed> {
    let rest = bytes.get(from..).unwrap_or_default();
    let Some(cr) = rest.iter().take(LINE_MAX).position(|&b| b == b'\r') else {
        return if rest.len() >= LINE_MAX { Err(Malformed) } else { Ok(None) };
    };
    match rest.get(cr + 1) {
        None => Ok(None),
        Some(b'\n') => Ok(Some((&rest[..cr], from + cr + 2))),
        Some(_) => Err(Malformed),
    }
}

/// Where a bulk of `len` bytes that begins at `body` ends, its CRLF included.
#[inline]
fn bulk_end(bytes: &[u8], body: usize, len: i64) -> Result<Option<usize>, Malformed> {
    let end = usize::try_from(len)
        .ok()
        .and_then(|len| body.checked_add(len))
        .and_then(|end| end.checked_add(2))
        .ok_or(Malformed)?;
    match bytes.get(end - 2..end) {
        None => Ok(None),
        Some(b"\r\n") => Ok(Some(end)),
        Some(_) => Err(Malformed),
    }
}

enum Stop {
    Incomplete,
    Malformed,
}

impl From<Malformed> for Stop {
    fn from(_: Malformed) -> Stop {
        Stop::Malformed
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: u32,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: u32) -> Result<Value<'a>, Stop> {
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            return Err(Stop::Malformed);
        }
        let start = self.at + 1;
        let (kind, n, body) = next_header(self.bytes, self.at)?.ok_or(Stop::Incomplete)?;
        self.at = body;
        Ok(match kind {
            b'$' | b'*' if n < 0 => Value::Null,
            b'$' => Value::Bulk(self.bulk(n)?),
            b'!' => Value::Error(self.bulk(n)?),
            b'=' => verbatim(self.bulk(n)?)?,
            b'*' => Value::Array(self.many(n, depth)?),
            b'~' => Value::Set(self.many(n, depth)?),
            b'>' => Value::Push(self.many(n, depth)?),
            b'%' => Value::Map(self.pairs(n, depth)?),
            b'|' => {
                Value::Attribute { attributes: self.pairs(n, depth)?, of: Box::new(self.value(depth + 1)?) }
            }
            _ => scalar(kind, &self.bytes[start..body - 2])?,
        })
    }

    fn bulk(&mut self, len: i64) -> Result<&'a [u8], Stop> {
        let body = self.at;
        self.at = bulk_end(self.bytes, body, len)?.ok_or(Stop::Incomplete)?;
        Ok(&self.bytes[body..self.at - 2])
    }

    fn many(&mut self, n: i64, depth: u32) -> Result<Vec<Value<'a>>, Stop> {
        let mut items = Vec::new();
        for _ in 0..n {
            items.push(self.value(depth + 1)?);
        }
        Ok(items)
    }

    fn pairs(&mut self, n: i64, depth: u32) -> Result<Vec<(Value<'a>, Value<'a>)>, Stop> {
        let mut pairs = Vec::new();
        for _ in 0..n {
            pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(pairs)
    }
}

fn verbatim(bytes: &[u8]) -> Result<Value<'_>, Malformed> {
    match bytes {
        [a, b, c, b':', text @ ..] => Ok(Value::Verbatim { format: [*a, *b, *c], text }),
        _ => Err(Malformed),
    }
}

/// A value that is one line.
fn scalar(kind: u8, text: &[u8]) -> Result<Value<'_>, Malformed> {
    match (kind, text) {
        (b'+', _) => Ok(Value::Simple(text)),
        (b'-', _) => Ok(Value::Error(text)),
        (b':', _) => parse_integer(text).map(Value::Integer).ok_or(Malformed),
        (b'_', b"") => Ok(Value::Null),
        (b'#', b"t") => Ok(Value::Boolean(true)),
        (b'#', b"f") => Ok(Value::Boolean(false)),
        (b',', _) => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok())
            .map(Value::Double)
            .ok_or(Malformed),
        (b'(', _) => Ok(Value::BigNumber(text)),
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_TYPE: &[u8] = b"*14\r\n+OK\r\n-ERR no\r\n:-7\r\n$2\r\nhi\r\n$-1\r\n*-1\r\n_\r\n,1.5\r\n#t\r\n(123456\r\n\
        =7\r\ntxt:abc\r\n%1\r\n+k\r\n*1\r\n:1\r\n~1\r\n!5\r\nERR x\r\n|1\r\n+ttl\r\n:9\r\n$12\r\nhello, world\r\n";

    #[test]
    fn every_type_is_understood() {
        let (value, used) = parse(EVERY_TYPE).unwrap().unwrap();
        assert_eq!(used, EVERY_TYPE.len());
        assert_eq!(skip(EVERY_TYPE), Ok(Some(used)));
        let items = value.elements().unwrap();
        assert_eq!(items[1], Value::Error(b"ERR no"));
        assert_eq!(items[2], Value::Integer(-7));
        assert_eq!(&items[4..8], &[Value::Null, Value::Null, Value::Null, Value::Double(1.5)]);
        assert_eq!(items[10].text(), Some(&b"abc"[..]));
        assert_eq!(items[11].field(b"k"), Some(&Value::Array(vec![Value::Integer(1)])));
        assert_eq!(items[12], Value::Set(vec![Value::Error(b"ERR x")]));
        let Value::Attribute { of, .. } = &items[13] else {
            panic!("{:?}", items[13]);
        };
        assert_eq!(**of, Value::Bulk(b"hello, world"));
    }

    #[test]
    fn every_prefix_is_incomplete() {
        for cut in 0..EVERY_TYPE.len() {
            assert_eq!(parse(&EVERY_TYPE[..cut]), Ok(None), "cut at {cut}");
            assert_eq!(skip(&EVERY_TYPE[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn declared_counts_and_depths_cost_nothing() {
        assert_eq!(parse(b"*2305843009213693951\r\n"), Ok(None));
        assert_eq!(parse(b"*9223372036854775807\r\n"), Err(Malformed));
        assert_eq!(skip(b"%2305843009213693951\r\n"), Ok(None));
        assert_eq!(parse(b"$9223372036854775807\r\n"), Err(Malformed));
        assert_eq!(parse(&b"*1\r\n".repeat(100_000)), Err(Malformed));
        assert_eq!(skip(&b"*1\r\n".repeat(100_000)), Ok(None));
    }

    #[test]
    fn random_bytes_never_panic_and_the_two_scanners_agree() {
        let mut rng = fastrand::Rng::with_seed(7);
        let alphabet = b"*$+-:_,#(=!%~>|\r\n\r\n\r\n0123-1tfa.";
        for _ in 0..200_000 {
            let len = rng.usize(0..40);
            let bytes: Vec<u8> = (0..len).map(|_| alphabet[rng.usize(0..alphabet.len())]).collect();
            if let Ok(Some((_, used))) = parse(&bytes) {
                assert_eq!(skip(&bytes), Ok(Some(used)), "{bytes:?}");
            }
        }
    }
}
