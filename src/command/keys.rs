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

pub use super::options::blocks;

use super::flag;
use super::{Begin, Find, Finder, KeySpec, Spec};
use crate::resp::request::{Args, parse_integer};

/// The keys are not where the row says (a bad count, a missing keyword): any shard refuses this request in its own
/// words, and none executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfindable;

/// Puts the positions of the request's keys into `out`, in the order of the specs; none where the request names no
/// key and need not (PING, EVAL with 0 keys). `args` has passed the row's arity.
pub fn find(spec: &Spec, args: Args<'_>, out: &mut Vec<u32>) -> Result<(), Unfindable> {
    out.clear();
    match spec.finder {
        Finder::Specs | Finder::Copy => by_specs(spec, args, out),
        Finder::Sort => {
            out.push(1);
            out.extend(sort_store(args));
            Ok(())
        }
        Finder::SortRo => {
            out.push(1);
            Ok(())
        }
        Finder::Migrate => migrate(args, out),
    }
}

/// How many arguments belong to an option; 0 for a word that is none of them.
pub(super) fn width(word: &[u8], options: &[(&[u8], usize)]) -> usize {
    options.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map_or(0, |&(_, width)| width)
}

fn by_specs(spec: &Spec, args: Args<'_>, out: &mut Vec<u32>) -> Result<(), Unfindable> {
    let sound = spec.keys.iter().all(|k| add(k, args, out).is_some());
    if !sound {
        out.clear();
    }
    let none_due = spec.flags.has(flag::NO_MANDATORY_KEYS) && spec.keys.iter().all(|k| counts_none(k, args));
    if out.is_empty() && !none_due && !spec.keys.is_empty() {
        return Err(Unfindable);
    }
    Ok(())
}

/// Adds the keys of one spec; `None` where the request breaks it. An optional keyword that is not there adds none.
fn add(spec: &KeySpec, args: Args<'_>, out: &mut Vec<u32>) -> Option<()> {
    let argc = args.len() as i64;
    let begin = match spec.begin {
        Begin::Unknown => return None,
        _ => match begin(spec, args) {
            Some(begin) => begin,
            None => return Some(()),
        },
    };
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
            let behind = count.checked_sub(1)?.checked_mul(i64::from(step))?;
            (first, behind.checked_add(first)?, step)
        }
        Find::Unknown => return None,
    };
    if last >= argc || last < first {
        return None;
    }
    let step = step.unsigned_abs() as usize;
    out.extend((first..=last).step_by(step).map(|i| i as u32));
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

/// The argument behind the last STORE of a SORT.
fn sort_store(args: Args<'_>) -> Option<u32> {
    let mut found = None;
    let mut i = 2;
    while i < args.len() {
        let word = args.at(i);
        if i + 1 < args.len() && word.eq_ignore_ascii_case(b"store") {
            found = Some(i as u32 + 1);
            i += 1;
        }
        i += 1 + width(word, &[(b"limit", 2), (b"get", 1), (b"by", 1)]);
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
    fn a_lone_key_is_what_the_specs_say() {
        with("object encoding k", |spec, _| assert_eq!(spec.lone_key, 2));
        with("sort k", |spec, _| assert_eq!(spec.lone_key, 0));
    }
}
