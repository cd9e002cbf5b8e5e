//! The engine's own rows: the name of each command that it runs, its arity and its function.
//!
//! The command table of the proxy knows every command and where its keys are; here stands only what an embedded
//! shard can run. What is not here is answered with what to use instead, never with half of it. Names are found
//! without allocation, in whatever case the client wrote them.

use super::{Run, bits, counters, expiry, info, keys, lcs, object, scan, server, set, strings};
use crate::resp::request::Args;
use crate::resp::write;

pub struct Row {
    pub name: &'static str,
    /// As COMMAND says it: arguments with the name; negative: at least as many.
    arity: i8,
    pub run: Run,
}

impl Row {
    const fn new(name: &'static str, arity: i8, run: Run) -> Row {
        Row { name, arity, run }
    }

    #[inline]
    pub fn takes(&self, args: usize) -> bool {
        let arity = usize::from(self.arity.unsigned_abs());
        args == arity || (self.arity < 0 && args > arity)
    }
}

static ROWS: &[Row] = &[
    Row::new("append", 3, strings::append),
    Row::new("bitcount", -2, bits::bitcount),
    Row::new("bitop", -4, bits::bitop),
    Row::new("bitpos", -3, bits::bitpos),
    Row::new("copy", -3, keys::copy),
    Row::new("dbsize", 1, server::dbsize),
    Row::new("decr", 2, counters::decr),
    Row::new("decrby", 3, counters::decrby),
    Row::new("del", -2, keys::del),
    Row::new("echo", 2, server::echo),
    Row::new("exists", -2, keys::exists),
    Row::new("expire", -3, expiry::expire),
    Row::new("expireat", -3, expiry::expireat),
    Row::new("expiretime", 2, expiry::expiretime),
    Row::new("flushall", -1, server::flushall),
    Row::new("flushdb", -1, server::flushdb),
    Row::new("get", 2, strings::get),
    Row::new("getbit", 3, bits::getbit),
    Row::new("getdel", 2, strings::getdel),
    Row::new("getex", -2, set::getex),
    Row::new("getrange", 4, strings::getrange),
    Row::new("getset", 3, strings::getset),
    Row::new("incr", 2, counters::incr),
    Row::new("incrby", 3, counters::incrby),
    Row::new("incrbyfloat", 3, counters::incrbyfloat),
    Row::new("info", -1, info::info),
    Row::new("keys", 2, scan::keys),
    Row::new("lcs", -3, lcs::lcs),
    Row::new("mget", -2, strings::mget),
    Row::new("mset", -3, strings::mset),
    Row::new("msetnx", -3, strings::msetnx),
    Row::new("object", -2, object::object),
    Row::new("persist", 2, expiry::persist),
    Row::new("pexpire", -3, expiry::pexpire),
    Row::new("pexpireat", -3, expiry::pexpireat),
    Row::new("pexpiretime", 2, expiry::pexpiretime),
    Row::new("ping", -1, server::ping),
    Row::new("psetex", 4, set::psetex),
    Row::new("pttl", 2, expiry::pttl),
    Row::new("randomkey", 1, scan::randomkey),
    Row::new("rename", 3, keys::rename),
    Row::new("renamenx", 3, keys::renamenx),
    Row::new("scan", -2, scan::scan),
    Row::new("set", -3, set::set),
    Row::new("setbit", 4, bits::setbit),
    Row::new("setex", 4, set::setex),
    Row::new("setnx", 3, set::setnx),
    Row::new("setrange", 4, strings::setrange),
    Row::new("strlen", 2, strings::strlen),
    Row::new("substr", 4, strings::getrange),
    Row::new("time", 1, server::time),
    Row::new("touch", -2, keys::exists),
    Row::new("ttl", 2, expiry::ttl),
    Row::new("type", 2, keys::key_type),
    Row::new("unlink", -2, keys::del),
];

pub enum Found {
    Row(&'static Row),
    Nothing,
}

const BUCKETS: usize = 256;
const _: () = assert!(ROWS.len() < BUCKETS / 2);
const EMPTY: u8 = u8::MAX;

/// Name → row: an open-addressed index that is built once.
pub struct Commands {
    buckets: [u8; BUCKETS],
}

impl Commands {
    pub fn new() -> Commands {
        let mut buckets = [EMPTY; BUCKETS];
        for (i, row) in ROWS.iter().enumerate() {
            let mut at = bucket(row.name.as_bytes());
            while buckets[at] != EMPTY {
                at = (at + 1) % BUCKETS;
            }
            buckets[at] = i as u8;
        }
        Commands { buckets }
    }

    /// The row of the request's name.
    #[inline]
    pub fn find(&self, args: Args<'_>) -> Found {
        let Some(name) = args.get(0) else {
            return Found::Nothing;
        };
        let mut at = bucket(name);
        loop {
            match self.buckets[at] {
                EMPTY => return Found::Nothing,
                i if ROWS[i as usize].name.as_bytes().eq_ignore_ascii_case(name) => {
                    return Found::Row(&ROWS[i as usize]);
                }
                _ => at = (at + 1) % BUCKETS,
            }
        }
    }
}

/// Of the length and the first eight letters, which tell all the rows apart well enough; case does not count.
#[inline]
fn bucket(name: &[u8]) -> usize {
    let mut head = name.len() as u64;
    for &b in name.iter().take(8) {
        head = head << 7 ^ u64::from(b | 0x20);
    }
    (head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

/// The answer to a command that embedded shards do not have.
#[cold]
pub fn refuse_unknown(args: Args<'_>, out: &mut Vec<u8>) {
    let name = args.get(0).unwrap_or_default();
    let mut text = b"ERR onetrip: '".to_vec();
    text.extend(name.iter().take(128).map(u8::to_ascii_lowercase));
    text.extend_from_slice(
        b"' is not available on embedded shards; start onetrip with --backend ADDR,... in front of real servers",
    );
    write::error_bytes(out, &text);
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;
    use super::*;

    #[test]
    fn every_row_is_found_in_any_case_and_probes_are_short() {
        let commands = Commands::new();
        for row in ROWS {
            let upper = row.name.to_ascii_uppercase();
            let span = crate::resp::request::Span { start: 0, end: upper.len() as u32 };
            let spans = [span];
            let Found::Row(found) = commands.find(Args::new(upper.as_bytes(), &spans)) else {
                panic!("{} is not found", row.name);
            };
            assert_eq!(found.name, row.name);
        }
    }

    #[test]
    fn what_is_not_here_is_named_with_what_to_do() {
        let mut shard = Shard::new();
        let reply = shard.run("LPUSH k v");
        assert!(reply.starts_with("-ERR onetrip: 'lpush' is not available on embedded shards;"));
        assert!(reply.contains("--backend"));
        assert_eq!(shard.run("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
    }
}
