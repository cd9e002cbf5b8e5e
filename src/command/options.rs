//! What a request's options say that its row can't: whether it waits, whether it reads keys that it does not name or
//! writes where nobody can read, and what it does with its key.
//!
//! All but the last are asked before a request is sent on, because the answer would be wrong or late rather than an error: an
//! XREAD that blocks holds up everything behind it on a shared lane, and a SORT whose pattern leaves its shard finds
//! nothing there. Options are read as the server reads them, from the left, each with its arguments.

use super::errors::ONE_DATABASE;
use super::keys::width;
use super::{Begin, Finder, Group, Spec, flag};
use crate::resp::request::{Args, parse_integer};
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

/// Whether COPY would write to another database, where no client could find the key: an error line then. What is no
/// number is left to the server, which says so.
pub fn names_a_database(spec: &Spec, args: Args<'_>) -> Option<&'static str> {
    if spec.finder != Finder::Copy {
        return None;
    }
    let mut i = 3;
    while i + 1 < args.len() {
        if args.at(i).eq_ignore_ascii_case(b"db") {
            if parse_integer(args.at(i + 1)).is_some_and(|database| database != 0) {
                return Some(ONE_DATABASE);
            }
            i += 1;
        }
        i += 1;
    }
    None
}

/// What a request does with the key of a spec that is [`flag::VARIABLE`]: SET reads only to GET, BITFIELD writes
/// unless all it does is GET.
pub fn access(spec: &Spec, access: u16, args: Args<'_>) -> u16 {
    if access & flag::VARIABLE == 0 {
        return access;
    }
    let get = |i: usize| args.at(i).eq_ignore_ascii_case(b"get");
    match spec.group {
        Group::Bitmap if only_gets(args) => flag::RO | flag::ACCESS,
        Group::String if !(3..args.len()).any(get) => flag::OW | flag::UPDATE,
        _ => access,
    }
}

fn only_gets(args: Args<'_>) -> bool {
    let mut i = 2;
    while i < args.len() {
        i += match args.at(i) {
            word if word.eq_ignore_ascii_case(b"get") && i + 2 < args.len() => 3,
            word if word.eq_ignore_ascii_case(b"overflow") && i + 1 < args.len() => 2,
            _ => return false,
        };
    }
    true
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
    fn copy_into_another_database() {
        let says = |line| with(line, names_a_database);
        assert_eq!(says("copy a b"), None);
        assert_eq!(says("copy db 1 REPLACE DB 0"), None);
        assert_eq!(says("copy a b replace db 3"), Some(ONE_DATABASE));
        assert_eq!(says("copy a b DB 1 REPLACE"), Some(ONE_DATABASE));
        assert_eq!(says("copy a b DB x"), None);
        assert_eq!(says("set db db DB 1"), None);
    }

    #[test]
    fn what_is_done_with_a_key_may_depend_on_the_options() {
        let says = |line| with(line, |spec, args| access(spec, spec.keys[0].access, args) & !flag::VARIABLE);
        let both = flag::RW | flag::ACCESS | flag::UPDATE;
        assert_eq!(says("set get get EX 1"), flag::OW | flag::UPDATE);
        assert_eq!(says("set a b NX get"), both);
        assert_eq!(says("bitfield a get u8 0 overflow sat"), flag::RO | flag::ACCESS);
        assert_eq!(says("bitfield a get u8 0 set u8 0 1"), both);
        assert_eq!(says("bitfield a get u8"), both);
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
