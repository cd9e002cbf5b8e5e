//! Parts → one reply, by the policy of the command.
//!
//! A part is one whole reply of one shard, as its lane delimited it, or the error line that stands for a reply that
//! will not come. A part that is an error fails the whole: a shorter answer would look like a whole one. The error
//! keeps the shard's code in front, because clients act on it (`OOM`, `NOAUTH`, `TRYAGAIN` …), and names the shard:
//!
//! ```text
//! -OOM onetrip: shard 3: command not allowed when used memory > 'maxmemory'.
//! ```
//!
//! Where other shards have done their part of it, the code is always `ERR` (a client must not send it again as if
//! nothing had happened), and the text says which have and which have not.
//!
//! A part may be anything at all: what is not the reply that the command gives is an error that names the shard,
//! never a panic. Elements move as ranges of bytes; no tree is built of them.

pub mod config;
mod failure;
pub mod info;
mod random_key;
pub mod scan_cursor;
mod values;

use crate::resp::{Proto, request, value, write};
use crate::slot::ShardId;
use failure::Misfit;
use scan_cursor::Cursor;

/// One shard's share of a reply.
#[derive(Clone, Debug)]
pub struct Part {
    pub shard: ShardId,
    pub reply: Vec<u8>,
}

/// How the parts become one.
#[derive(Clone, Debug)]
pub enum Merge {
    /// Integers, added up. `writes`: the shards have changed something for it.
    Sum { writes: bool },
    /// All say OK.
    AllSucceeded,
    /// MGET: value `i` is the next one of part `order[i]`.
    Values { order: Vec<u16> },
    /// MSET: all say OK, and an error says which shards have written.
    Pairs,
    /// KEYS: arrays, one after the other.
    Concat,
    /// SCAN: the reply of one shard out of `shards`, its cursor made the client's.
    Scan { shards: u16 },
    /// RANDOMKEY: for every shard two parts, its DBSIZE and its RANDOMKEY; `random` chooses among all keys.
    RandomKey { random: u64 },
    /// INFO of every shard, as the INFO of one server.
    Info { sections: info::Sections, own: Box<info::Own> },
    /// CONFIG GET of every shard; `table` is what onetrip says by itself, names as the client asked for them.
    Config { table: Vec<(Vec<u8>, String)> },
}

impl Merge {
    /// Whether the shards have changed something for it.
    pub fn changes(&self) -> bool {
        matches!(self, Merge::Sum { writes: true } | Merge::AllSucceeded | Merge::Pairs)
    }
}

/// Puts one reply together, in the protocol version that the parts are in.
pub fn merge(how: Merge, parts: &[Part], proto: Proto, out: &mut Vec<u8>) {
    // What is told of a part of the shards is better than nothing; which are out of reach is told by other means.
    let mut answered = Vec::new();
    if matches!(how, Merge::Info { .. }) {
        answered.extend(parts.iter().filter(|part| failure::text(&part.reply).is_none()).cloned());
    }
    let parts = if answered.is_empty() { parts } else { &answered };
    if let Merge::Config { table } = &how
        && parts.iter().any(config::is_refused)
    {
        return config::write_table(table, proto, out);
    }
    if parts.iter().any(|part| failure::text(&part.reply).is_some()) {
        return failure::write(&how, parts, out);
    }
    let begin = out.len();
    let merged = match how {
        Merge::Sum { .. } => sum(parts, out),
        Merge::AllSucceeded | Merge::Pairs => all_succeeded(parts, out),
        Merge::Values { order } => values::in_order(&order, parts, out),
        Merge::Concat => values::one_after_the_other(parts, out),
        Merge::Scan { shards } => scan(shards, parts, out),
        Merge::RandomKey { random } => random_key::choose(random, parts, proto, out),
        Merge::Info { sections, own } => info::write(&sections, &own, parts, proto, out),
        Merge::Config { table } => config::write(&table, parts, proto, out),
    };
    if let Err(misfit) = merged {
        out.truncate(begin);
        misfit.write(out);
    }
}

fn sum(parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
    let mut sum = 0i64;
    for part in parts {
        let n = integer(&part.reply).ok_or(Misfit(part.shard))?;
        sum = sum.saturating_add(n);
    }
    write::integer(out, sum);
    Ok(())
}

fn integer(reply: &[u8]) -> Option<i64> {
    let digits = reply.strip_prefix(b":")?.strip_suffix(b"\r\n")?;
    request::parse_integer(digits)
}

fn all_succeeded(parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
    for part in parts {
        if part.reply.first() != Some(&b'+') {
            return Err(Misfit(part.shard));
        }
    }
    write::simple(out, "OK");
    Ok(())
}

/// The shard's own reply, but for the cursor.
fn scan(shards: u16, parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
    for part in parts {
        let misfit = Misfit(part.shard);
        let reply = &part.reply;
        let (2, at) = value::elements(reply).ok_or(misfit)? else {
            return Err(misfit);
        };
        let len = value::skip(&reply[at..]).ok().flatten().ok_or(misfit)?;
        let cursor = Cursor::of_reply(part.shard, &reply[at..at + len], shards).ok_or(misfit)?;
        out.extend_from_slice(&reply[..at]);
        write::bulk(out, cursor.encode().to_string().as_bytes());
        out.extend_from_slice(&reply[at + len..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(replies: &[&str]) -> Vec<Part> {
        let part =
            |(i, reply): (usize, &&str)| Part { shard: ShardId(i as u16), reply: reply.as_bytes().to_vec() };
        replies.iter().enumerate().map(part).collect()
    }

    const DEL: Merge = Merge::Sum { writes: true };

    fn merged(how: Merge, replies: &[&str]) -> String {
        let mut out = Vec::new();
        merge(how, &parts(replies), Proto::Resp2, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sums_and_successes() {
        assert_eq!(merged(DEL, &[":1\r\n", ":41\r\n"]), ":42\r\n");
        assert_eq!(merged(Merge::AllSucceeded, &["+OK\r\n", "+OK\r\n"]), "+OK\r\n");
        assert_eq!(
            merged(Merge::Concat, &["*1\r\n$1\r\na\r\n", "*0\r\n", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n"]),
            "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
        );
    }

    #[test]
    fn a_scan_goes_on_at_the_next_shard_and_ends_after_the_last() {
        let how = Merge::Scan { shards: 2 };
        let reply = merged(how.clone(), &["*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n"]);
        assert_eq!(reply, "*2\r\n$1\r\n1\r\n*1\r\n$1\r\na\r\n");
        let last = [Part { shard: ShardId(1), reply: b"*2\r\n$1\r\n0\r\n*0\r\n".to_vec() }];
        let mut out = Vec::new();
        merge(how, &last, Proto::Resp2, &mut out);
        assert_eq!(out, b"*2\r\n$1\r\n0\r\n*0\r\n");
    }

    #[test]
    fn an_error_keeps_its_code_and_names_the_shard() {
        let read = Merge::Values { order: vec![0, 1] };
        assert_eq!(
            merged(read.clone(), &["*1\r\n$-1\r\n", "-LOADING server is loading\r\n"]),
            "-LOADING onetrip: shard 1: server is loading\r\n"
        );
        let unreachable = "-TRYAGAIN onetrip: shard 1 is unreachable, not executed\r\n";
        assert_eq!(merged(read, &["*1\r\n$-1\r\n", unreachable]), unreachable);
        assert_eq!(merged(Merge::Sum { writes: false }, &[":3\r\n", unreachable]), unreachable);
        assert_eq!(merged(DEL, &[unreachable, unreachable]), unreachable);
    }

    #[test]
    fn a_write_that_some_shards_did_is_never_a_retryable_error() {
        assert_eq!(
            merged(Merge::Pairs, &["+OK\r\n", "-OOM no memory\r\n", "+OK\r\n"]),
            "-ERR onetrip: done by shards 0, 2, not by shard 1: OOM no memory\r\n"
        );
        let unknown = "-ERR onetrip: outcome unknown (shard 1 at h:1: timed out)\r\n";
        let gone = "-TRYAGAIN onetrip: shard 2 is unreachable, not executed\r\n";
        assert_eq!(
            merged(DEL, &[":3\r\n", unknown, gone]),
            "-ERR onetrip: done by shard 0, not by shard 2, unknown of shard 1: onetrip: outcome unknown \
             (shard 1 at h:1: timed out)\r\n"
        );
        assert!(merged(Merge::Pairs, &[gone, unknown]).starts_with("-ERR onetrip: not by"));
    }

    #[test]
    fn whatever_the_parts_are_there_is_one_whole_reply() {
        let mut rng = fastrand::Rng::with_seed(3);
        let pieces = [
            "*",
            "$",
            ":",
            "+",
            "-",
            "%",
            "=",
            "1",
            "2",
            "-1",
            "0",
            "\r\n",
            "\r\n",
            "$1\r\na\r\n",
            ":7\r\n",
            "*2\r\n",
            "# Keyspace\r\n",
            "db0:keys=1,",
            "used_memory:9\r\n",
        ];
        for _ in 0..20_000 {
            let mut reply = || {
                let len = rng.usize(0..6);
                let piece = |_| pieces[rng.usize(0..pieces.len())];
                (0..len).map(piece).collect::<String>()
            };
            let (a, b) = (reply(), reply());
            let own = Box::<info::Own>::default();
            for how in [
                DEL,
                Merge::AllSucceeded,
                Merge::Values { order: vec![0, 1, 0, 9] },
                Merge::Pairs,
                Merge::Concat,
                Merge::Scan { shards: 2 },
                Merge::RandomKey { random: 5 },
                Merge::Info { sections: info::Sections::default(), own },
                Merge::Config { table: vec![(b"port".to_vec(), "1".to_owned())] },
            ] {
                // Elements of KEYS and SCAN pass unseen: their lane has delimited them.
                let unseen = matches!(how, Merge::Concat | Merge::Scan { .. });
                let out = merged(how, &[&a, &b]);
                if !unseen {
                    assert_eq!(value::skip(out.as_bytes()), Ok(Some(out.len())), "{a:?} {b:?} gave {out:?}");
                }
            }
        }
    }
}
