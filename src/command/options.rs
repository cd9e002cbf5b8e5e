//! What a request's options say that its row can't: whether it waits, and whether it reads keys that it does not name.
//!
//! Both are asked before a request is sent on, because the answer would be wrong or late rather than an error: an
//! XREAD that blocks holds up everything behind it on a shared lane, and a SORT whose pattern leaves its shard finds
//! nothing there. Options are read as the server reads them, from the left, each with its arguments.

use super::keys::width;
use super::{Begin, Finder, Spec, flag};
use crate::resp::request::Args;
use crate::slot::{Slot, hash_tag};

/// Whether the request waits at the server for what others do: the blocking commands, and XREAD and XREADGROUP where
/// BLOCK stands among their options.
pub fn blocks(spec: &Spec, args: Args<'_>) -> bool {
    let optional = spec.keys.first().is_some_and(|k| matches!(k.begin, Begin::Keyword(..)));
    spec.flags.has(flag::BLOCKING) && (!optional || has_block(args))
}

/// Whether SORT or SORT_RO would read keys that need not be where its own key is: a BY or GET pattern with a `*`,
/// unless its hash tag is fixed and has the key's slot. Servers of a cluster refuse these with
/// [`SORT_BY_DENIED`] and [`SORT_GET_DENIED`]; plain shards would answer as if those keys did not exist.
pub fn sort_reads_elsewhere(spec: &Spec, args: Args<'_>) -> Option<&'static str> {
    if !matches!(spec.finder, Finder::Sort | Finder::SortRo) {
        return None;
    }
    let slot = Slot::of(args.at(1));
    let mut i = 2;
    while i + 1 < args.len() {
        let (word, value) = (args.at(i), args.at(i + 1));
        let by = word.eq_ignore_ascii_case(b"by");
        if by || word.eq_ignore_ascii_case(b"get") {
            if leaves(value, slot) {
                return Some(if by { SORT_BY_DENIED } else { SORT_GET_DENIED });
            }
            i += 1;
        } else if word.eq_ignore_ascii_case(b"limit") {
            i += 2;
        } else if word.eq_ignore_ascii_case(b"store") {
            i += 1;
        }
        i += 1;
    }
    None
}

pub const SORT_BY_DENIED: &str =
    "ERR BY option of SORT denied in cluster mode when keys formed by the pattern may be in different slots.";
pub const SORT_GET_DENIED: &str = "ERR GET option of SORT denied in cluster mode when keys formed by the pattern may be in different slots.";

/// Whether keys made from a pattern may have another slot: a pattern without `*` makes none.
fn leaves(pattern: &[u8], slot: Slot) -> bool {
    pattern.contains(&b'*')
        && !hash_tag(pattern).is_some_and(|tag| !tag.contains(&b'*') && Slot::of(tag) == slot)
}

/// Options of XREAD and XREADGROUP and how many arguments each takes.
const READ_OPTIONS: [(&[u8], usize); 5] =
    [(b"count", 1), (b"group", 2), (b"claim", 1), (b"maxcount", 1), (b"maxsize", 1)];

fn has_block(args: Args<'_>) -> bool {
    let mut i = 1;
    while i < args.len() {
        let word = args.at(i);
        if word.eq_ignore_ascii_case(b"block") {
            return true;
        }
        if word.eq_ignore_ascii_case(b"streams") {
            return false;
        }
        i += 1 + width(word, &READ_OPTIONS);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::lookup::{Found, find as find_row};
    use crate::resp::request::Decoder;

    fn with<T>(line: &str, f: impl FnOnce(&'static Spec, Args<'_>) -> T) -> T {
        let mut decoder = Decoder::default();
        let bytes = format!("{line}\r\n");
        assert!(decoder.next(bytes.as_bytes(), true).is_ok());
        let args = decoder.args(bytes.as_bytes());
        match find_row(args) {
            Found::Command(spec, _) => f(spec, args),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn block_is_an_option_only_before_streams() {
        let says = |line| with(line, blocks);
        assert!(says("xread BLOCK 0 STREAMS s $"));
        assert!(says("xreadgroup group g c count 1 block 5 streams s >"));
        assert!(!says("xread COUNT 1 STREAMS block 0"));
        assert!(!says("xreadgroup GROUP block block STREAMS s >"));
        assert!(says("blpop a 0"));
        assert!(!says("get block"));
    }

    #[test]
    fn sort_patterns_that_leave_the_slot() {
        let says = |line| with(line, sort_reads_elsewhere);
        assert_eq!(says("sort k BY w_*"), Some(SORT_BY_DENIED));
        assert_eq!(says("sort_ro {a}k BY nosort GET # GET {a}w_*"), None);
        assert_eq!(says("sort {a}k GET {b}w_*->f"), Some(SORT_GET_DENIED));
        assert_eq!(says("sort k GET {*}"), Some(SORT_GET_DENIED));
        assert_eq!(says("sort k LIMIT by get* STORE by"), None);
    }
}
