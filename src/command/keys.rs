//! A row and a request → where the request's keys are.
//!
//! Owns the server's rules for finding keys: the key specs of a row in all their shapes, and a small finder for each
//! of the few commands whose specs the server itself calls incomplete. What COMMAND GETKEYS of a real server answers
//! is what is found here, and a test holds the two against each other; on top of that, channels that are routed like
//! keys (SPUBLISH) are found too.
//!
//! A command with a `lone_key` needs none of this. A request in which keys can't be found (`Unfindable`) is one that
//! a server refuses before it touches any key, so it may go to any shard, which answers with its own words.
//!
//! Must never guess: a request either names its keys by the server's own rules or is refused by the server.

use super::flag;
use super::{Begin, Find, Finder, KeySpec, Spec};
use crate::resp::request::{Args, parse_integer};
use crate::slot::{Slot, hash_tag};

/// The keys are not where the row says (a bad count, a missing keyword): any shard refuses this request in its own
/// words, and none executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfindable;

/// Puts the positions of the request's keys into `out`, in the order of the specs; none where the request names no
/// key and need not (PING, EVAL with 0 keys). `args` has passed the row's arity.
pub fn find(spec: &Spec, args: Args<'_>, out: &mut Vec<u32>) -> Result<(), Unfindable> {
    out.clear();
    match spec.finder {
        Finder::Specs => by_specs(spec, args, out),
        Finder::Sort => {
            out.push(1);
            out.extend(last_store(args, &[(b"limit", 2), (b"get", 1), (b"by", 1)], 2, &[b"store"]));
            Ok(())
        }
        Finder::SortRo => {
            out.push(1);
            Ok(())
        }
        Finder::GeoRadius => {
            out.push(1);
            out.extend(last_store(args, &[], 5, &[b"store", b"storedist"]));
            Ok(())
        }
        Finder::Migrate => migrate(args, out),
    }
}

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

/// How many arguments belong to an option; 0 for a word that is none of them.
fn width(word: &[u8], options: &[(&[u8], usize)]) -> usize {
    options.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map_or(0, |&(_, width)| width)
}

fn by_specs(spec: &Spec, args: Args<'_>, out: &mut Vec<u32>) -> Result<(), Unfindable> {
    for key_spec in spec.keys {
        if add(key_spec, args, out).is_none() {
            out.clear();
            return if spec.flags.has(flag::NO_MANDATORY_KEYS) && counts_none(key_spec, args) {
                Ok(())
            } else {
                Err(Unfindable)
            };
        }
    }
    Ok(())
}

fn add(spec: &KeySpec, args: Args<'_>, out: &mut Vec<u32>) -> Option<()> {
    let argc = args.len() as i64;
    let begin = begin(spec, args)?;
    let (first, last, step) = match spec.find {
        Find::Range { last, step, limit } => {
            let last = i64::from(last);
            let last = if last >= 0 {
                begin + last
            } else if limit < 2 {
                argc + last
            } else {
                begin + (argc - begin) / i64::from(limit) + last
            };
            (begin, last, step)
        }
        Find::KeyNum { at, first, step } => {
            let count = count(args, begin + i64::from(at))?;
            let first = begin + i64::from(first);
            let last = count.checked_sub(1)?.checked_mul(i64::from(step))?.checked_add(first)?;
            (first, last, step)
        }
        Find::Unknown => return None,
    };
    if last >= argc || last < first || first >= argc {
        return None;
    }
    out.extend((first..=last).step_by(step.unsigned_abs() as usize).map(|i| i as u32));
    Some(())
}

fn begin(spec: &KeySpec, args: Args<'_>) -> Option<i64> {
    match spec.begin {
        Begin::Index(at) => Some(i64::from(at)),
        Begin::Keyword(word, from) => after_keyword(args, word.as_bytes(), from),
        Begin::Unknown => None,
    }
}

/// The argument behind `word`, which is looked for from `from` on, but not in the last argument; backwards, and not
/// in the first two, where `from` is negative.
fn after_keyword(args: Args<'_>, word: &[u8], from: i16) -> Option<i64> {
    let is = |&i: &usize| args.at(i).eq_ignore_ascii_case(word);
    let from = isize::from(from);
    let found = if from > 0 {
        (from as usize..args.len().saturating_sub(1)).find(is)
    } else {
        (2..args.len().checked_add_signed(from + 1)?).rev().find(is)
    };
    found.map(|i| i as i64 + 1)
}

/// A count of keys: a whole number as the server reads one, not negative.
fn count(args: Args<'_>, at: i64) -> Option<i64> {
    parse_integer(args.get(usize::try_from(at).ok()?)?).filter(|&n| n >= 0)
}

/// Whether the count that a spec reads is a plain 0.
fn counts_none(spec: &KeySpec, args: Args<'_>) -> bool {
    match (begin(spec, args), spec.find) {
        (Some(begin), Find::KeyNum { at, .. }) => count(args, begin + i64::from(at)) == Some(0),
        _ => false,
    }
}

/// What follows the last of `stores` among the options from `from` on; an option that `skipped` names is stepped
/// over with its arguments.
fn last_store(args: Args<'_>, skipped: &[(&[u8], usize)], from: usize, stores: &[&[u8]]) -> Option<u32> {
    let mut found = None;
    let mut i = from;
    while i < args.len() {
        let word = args.at(i);
        let steps = width(word, skipped);
        if steps == 0 && i + 1 < args.len() && stores.iter().any(|s| word.eq_ignore_ascii_case(s)) {
            found = Some(i as u32 + 1);
            i += 1;
        }
        i += 1 + steps;
    }
    found
}

fn migrate(args: Args<'_>, out: &mut Vec<u32>) -> Result<(), Unfindable> {
    let mut i = 6;
    while i < args.len() {
        let word = args.at(i);
        if word.eq_ignore_ascii_case(b"keys") {
            if !args.at(3).is_empty() {
                return Err(Unfindable);
            }
            out.extend(i as u32 + 1..args.len() as u32);
            return Ok(());
        }
        i += 1 + width(word, &[(b"auth", 1), (b"auth2", 2)]);
    }
    out.push(3);
    Ok(())
}

/// The one key that a command always has, at the same place; 0 where its specs say anything else.
pub(super) const fn lone(keys: &[KeySpec]) -> u8 {
    match keys {
        [KeySpec { begin: Begin::Index(at), find: Find::Range { last: 0, .. }, access }]
            if *access & flag::NOT_KEY == 0 =>
        {
            *at as u8
        }
        _ => 0,
    }
}

/// Whether a first, last and step can't tell all keys.
pub(super) const fn movable(keys: &[KeySpec]) -> bool {
    let mut i = 0;
    while i < keys.len() {
        let plain = matches!((keys[i].begin, keys[i].find), (Begin::Index(_), Find::Range { .. }));
        if !plain || keys[i].access & flag::INCOMPLETE != 0 {
            return true;
        }
        i += 1;
    }
    false
}

/// The plain ranges among the specs joined into one, as COMMAND's first, last and step.
pub(super) fn legacy_range(keys: &[KeySpec]) -> (i16, i16, i16) {
    let mut joined = (0, 0, 0);
    for key in keys {
        let (Begin::Index(first), Find::Range { last, step, .. }) = (key.begin, key.find) else {
            continue;
        };
        let last = if last >= 0 { first + last } else { last };
        if joined.2 == 0 {
            joined = (first, last, step);
        } else if joined.1 >= 0 && first == joined.1 + 1 && step == joined.2 {
            joined.1 = last;
        }
    }
    joined
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

    fn keys(line: &str) -> Result<Vec<u32>, Unfindable> {
        with(line, |spec, args| {
            let mut out = Vec::new();
            find(spec, args, &mut out).map(|()| out)
        })
    }

    #[test]
    fn shapes_that_no_server_here_knows() {
        assert_eq!(keys("msetex 2 a 1 b 2 EX 10"), Ok(vec![2, 4]));
        assert_eq!(keys("msetex 2 a 1"), Err(Unfindable));
        assert_eq!(keys("json.mget a b c $"), Ok(vec![1, 2, 3]));
        assert_eq!(keys("json.mset a $ 1 b $ 2"), Ok(vec![1, 4]));
        assert_eq!(keys("cms.merge d 2 a b WEIGHTS 1 2"), Ok(vec![1, 3, 4]));
        assert_eq!(keys("spublish channel x"), Ok(vec![1]));
    }

    #[test]
    fn counts_are_the_servers() {
        assert_eq!(keys("eval return 0"), Ok(vec![]));
        assert_eq!(keys("eval return 0 a"), Ok(vec![]));
        for count in ["-1", "2", "x", "+1", "01", "9223372036854775807"] {
            assert_eq!(keys(&format!("eval s {count} a")), Err(Unfindable), "{count}");
        }
        assert_eq!(keys("zdiff 0 a"), Err(Unfindable));
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

    #[test]
    fn a_lone_key_is_what_the_specs_say() {
        with("object encoding k", |spec, _| assert_eq!(spec.lone_key, 2));
        with("sort k", |spec, _| assert_eq!(spec.lone_key, 0));
    }
}
