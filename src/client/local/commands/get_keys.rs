//! COMMAND GETKEYS and GETKEYSANDFLAGS: the keys of a request as onetrip itself finds them.

use super::access;
use crate::command::lookup::{self, Found};
use crate::command::{Begin, Spec, flag, keys, options};
use crate::resp::request::{Args, Span};
use crate::resp::{Proto, write};
use bytes::BytesMut;

pub(in super::super) fn get_keys(args: Args<'_>, out: &mut BytesMut) {
    let inner = Inner::new(args);
    match inner.keys() {
        Err(text) => write::error(out, text),
        Ok((_, positions)) => {
            write::array(out, positions.len());
            for at in positions {
                write::bulk(out, inner.args().at(at as usize));
            }
        }
    }
}

pub(in super::super) fn get_keys_and_flags(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    let inner = Inner::new(args);
    match inner.keys() {
        Err(text) => write::error(out, text),
        Ok((spec, positions)) => {
            write::array(out, positions.len());
            for at in positions {
                let at = at as usize;
                write::array(out, 2);
                write::bulk(out, inner.args().at(at));
                access(access_of(spec, inner.args(), at), proto, out);
            }
        }
    }
}

/// What a command does with the key at a position: the key spec that names the position or the word before it,
/// else the last one that begins before it.
fn access_of(spec: &Spec, args: Args<'_>, at: usize) -> u16 {
    let after = |word: &str| at > 0 && args.at(at - 1).eq_ignore_ascii_case(word.as_bytes());
    let exact = spec.keys.iter().find(|keys| match keys.begin {
        Begin::Index(index) => usize::try_from(index) == Ok(at),
        Begin::Keyword(word, _) => after(word),
        Begin::Unknown => false,
    });
    let before = spec.keys.iter().rev().find(|keys| match keys.begin {
        Begin::Index(index) => usize::try_from(index).is_ok_and(|index| index < at),
        Begin::Keyword(..) | Begin::Unknown => false,
    });
    let keys = exact.or(before).or(spec.keys.first());
    let access = keys.map_or(0, |keys| options::access(spec, keys.access, args));
    access & !flag::INCOMPLETE & !flag::VARIABLE
}

/// The request that COMMAND GETKEYS is asked about: its own, from the third argument on.
struct Inner {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Inner {
    fn new(args: Args<'_>) -> Inner {
        let mut inner = Inner { bytes: Vec::new(), spans: Vec::new() };
        for arg in args.iter().skip(2) {
            let start = inner.bytes.len() as u32;
            inner.bytes.extend_from_slice(arg);
            let end = inner.bytes.len() as u32;
            inner.spans.push(Span { start, end });
        }
        inner
    }

    fn args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }

    /// The row and the positions of the keys, or the error line.
    fn keys(&self) -> Result<(&'static Spec, Vec<u32>), &'static str> {
        let args = self.args();
        if args.is_empty() {
            return Err("ERR Invalid command specified");
        }
        let Found::Command(spec, _) = lookup::find(args) else {
            return Err("ERR Invalid command specified");
        };
        if !spec.has_keys() {
            return Err("ERR The command has no key arguments");
        }
        if !spec.arity_ok(args.len()) {
            return Err("ERR Invalid number of arguments specified for command");
        }
        let mut positions = Vec::new();
        let found = keys::find(spec, args, &mut positions);
        if found.is_err() || positions.is_empty() {
            if !spec.flags.has(flag::NO_MANDATORY_KEYS) {
                return Err("ERR Invalid arguments specified for command");
            }
            positions.clear();
        }
        Ok((spec, positions))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::Client;

    #[test]
    fn keys_are_told_with_what_is_done_to_them() {
        let mut client = Client::new();
        for (line, reply) in [
            ("mset a 1 b 2", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
            ("eval x 0", "*0\r\n"),
            ("set a b EX 1", "*1\r\n$1\r\na\r\n"),
            ("eval x 99 a", "*0\r\n"),
            ("get", "-ERR Invalid number of arguments specified for command\r\n"),
            ("foo", "-ERR Invalid command specified\r\n"),
            ("client foo", "-ERR Invalid command specified\r\n"),
            ("ping", "-ERR The command has no key arguments\r\n"),
        ] {
            assert_eq!(client.says(&format!("COMMAND GETKEYS {line}")), reply, "{line}");
        }
        let set = "*1\r\n*2\r\n$1\r\na\r\n*2\r\n+OW\r\n+update\r\n";
        assert_eq!(client.says("COMMAND GETKEYSANDFLAGS set a b"), set);
        let set_get = "*1\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+update\r\n";
        assert_eq!(client.says("COMMAND GETKEYSANDFLAGS set a b GET"), set_get);
        assert_eq!(
            client.says("COMMAND GETKEYSANDFLAGS lmove a b left left"),
            "*2\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+delete\r\n*2\r\n$1\r\nb\r\n*2\r\n+RW\r\n+insert\r\n"
        );
    }
}
