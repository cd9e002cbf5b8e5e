//! Replies as a client sees them: where one ends, and what it says.
//!
//! A reader of RESP2 and RESP3 of the tests' own, so that they don't judge the proxy's parser by itself. It panics
//! on bytes that are no reply, since for a client that is always a failure.

/// One reply, as a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reply {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    Null,
    Array(Vec<Reply>),
    /// Keys and values in turn.
    Map(Vec<Reply>),
    Set(Vec<Reply>),
    Push(Vec<Reply>),
    /// Doubles, booleans, big numbers and verbatim strings: type byte and text.
    Other(u8, Vec<u8>),
}

impl Reply {
    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Reply {
        let (reply, end) = parse_at(bytes, 0).expect("a whole reply");
        assert_eq!(end, bytes.len(), "bytes after the reply {}", show(bytes));
        reply
    }

    pub fn is_simple(&self, text: &str) -> bool {
        *self == Reply::Simple(text.as_bytes().to_vec())
    }

    /// Whether this is an error whose text begins with `prefix`.
    pub fn is_error(&self, prefix: &str) -> bool {
        matches!(self, Reply::Error(text) if text.starts_with(prefix.as_bytes()))
    }

    #[track_caller]
    pub fn integer(&self) -> i64 {
        let Reply::Integer(n) = self else { panic!("not an integer: {self:?}") };
        *n
    }

    /// The bytes of a string of any kind, or of an error.
    #[track_caller]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Reply::Simple(t) | Reply::Error(t) | Reply::Bulk(t) | Reply::Other(_, t) => t,
            other => panic!("not a string: {other:?}"),
        }
    }

    #[track_caller]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    #[track_caller]
    pub fn items(&self) -> &[Reply] {
        match self {
            Reply::Array(i) | Reply::Map(i) | Reply::Set(i) | Reply::Push(i) => i,
            other => panic!("not an aggregate: {other:?}"),
        }
    }

    /// The same with everything that servers may order as they like in one order: the items of arrays and sets,
    /// the pairs of maps.
    pub fn sorted(self) -> Reply {
        let sort = |items: Vec<Reply>| {
            let mut items: Vec<Reply> = items.into_iter().map(Reply::sorted).collect();
            items.sort();
            items
        };
        match self {
            Reply::Array(items) => Reply::Array(sort(items)),
            Reply::Set(items) => Reply::Set(sort(items)),
            Reply::Map(items) => {
                let mut pairs: Vec<&[Reply]> = items.chunks(2).collect();
                pairs.sort();
                Reply::Map(pairs.concat())
            }
            other => other,
        }
    }
}

/// Where the reply that begins at `at` ends; `None` where it isn't whole.
pub fn frame_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (line, next) = line_at(bytes, at)?;
    match line[0] {
        b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => Some(next),
        b'$' | b'=' => match count(line) {
            -1 => Some(next),
            len => {
                let end = next + len as usize + 2;
                (bytes.len() >= end).then_some(end)
            }
        },
        b'*' | b'~' | b'>' => (0..count(line)).try_fold(next, |at, _| frame_end(bytes, at)),
        b'%' => (0..2 * count(line)).try_fold(next, |at, _| frame_end(bytes, at)),
        _ => panic!("no reply begins with {}", show(line)),
    }
}

fn parse_at(bytes: &[u8], at: usize) -> Option<(Reply, usize)> {
    let (line, next) = line_at(bytes, at)?;
    let rest = line[1..].to_vec();
    let reply = match line[0] {
        b'+' => Reply::Simple(rest),
        b'-' => Reply::Error(rest),
        b':' => Reply::Integer(count(line)),
        b'_' => Reply::Null,
        kind @ (b',' | b'#' | b'(') => Reply::Other(kind, rest),
        b'$' | b'*' if count(line) == -1 => Reply::Null,
        kind @ (b'$' | b'=') => {
            let end = next + count(line) as usize;
            let body = bytes.get(next..end)?.to_vec();
            assert_eq!(&bytes[end..end + 2], b"\r\n", "a bulk ends with CRLF");
            let reply = if kind == b'$' { Reply::Bulk(body) } else { Reply::Other(kind, body) };
            return Some((reply, end + 2));
        }
        b'*' => return aggregate(bytes, next, count(line), Reply::Array),
        b'~' => return aggregate(bytes, next, count(line), Reply::Set),
        b'>' => return aggregate(bytes, next, count(line), Reply::Push),
        b'%' => return aggregate(bytes, next, 2 * count(line), Reply::Map),
        _ => panic!("no reply begins with {}", show(line)),
    };
    Some((reply, next))
}

fn aggregate(
    bytes: &[u8],
    mut at: usize,
    count: i64,
    build: fn(Vec<Reply>) -> Reply,
) -> Option<(Reply, usize)> {
    let mut items = Vec::new();
    for _ in 0..count {
        let (item, next) = parse_at(bytes, at)?;
        items.push(item);
        at = next;
    }
    Some((build(items), at))
}

/// The line that begins at `at`, without its CRLF, and where the next one begins.
fn line_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().position(|&b| b == b'\r')?;
    rest.get(length + 1)?;
    assert!(length > 0 && rest[length + 1] == b'\n', "a broken line: {}", show(&rest[..length]));
    Some((&rest[..length], at + length + 2))
}

fn count(line: &[u8]) -> i64 {
    let text = std::str::from_utf8(&line[1..]).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or_else(|| panic!("not a number: {}", show(line)))
}

/// Bytes for people, cut where they are many.
pub fn show(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(300)];
    let more = if cut.len() < bytes.len() { " …" } else { "" };
    format!("\"{}\"{more} ({} B)", cut.escape_ascii(), bytes.len())
}

#[test]
fn frames_end_where_trees_do() {
    let replies: &[&[u8]] = &[
        b"+OK\r\n",
        b"$-1\r\n",
        b"$4\r\na\r\nb\r\n",
        b"*-1\r\n",
        b"%1\r\n+a\r\n*2\r\n:1\r\n_\r\n",
        b"~2\r\n,1.5\r\n#t\r\n",
        b"=5\r\ntxt:a\r\n",
    ];
    for reply in replies {
        assert_eq!(frame_end(reply, 0), Some(reply.len()), "{}", show(reply));
        Reply::parse(reply);
        for cut in 0..reply.len() {
            assert_eq!(frame_end(&reply[..cut], 0), None, "{} at {cut}", show(reply));
        }
    }
}
