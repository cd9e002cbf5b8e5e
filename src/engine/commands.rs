//! What each command of the engine runs: rows of the command table → functions.
//!
//! The command table knows every command, its arity and its keys; here stands only which of them an embedded shard
//! can run. What is not here is answered with what to use instead, never with half of it.

use super::{Run, bits, counters, expiry, info, keys, lcs, object, scan, server, set, strings};
use crate::command::lookup::by_name;
use crate::command::{Handling, Spec, SpecId, table};
use crate::resp::write;

static RUNS: &[(&str, Run)] = &[
    ("append", strings::append),
    ("bitcount", bits::bitcount),
    ("bitop", bits::bitop),
    ("bitpos", bits::bitpos),
    ("config|get", server::config_get),
    ("copy", keys::copy),
    ("dbsize", server::dbsize),
    ("decr", counters::decr),
    ("decrby", counters::decrby),
    ("del", keys::del),
    ("echo", server::echo),
    ("exists", keys::exists),
    ("expire", expiry::expire),
    ("expireat", expiry::expireat),
    ("expiretime", expiry::expiretime),
    ("flushall", server::flushall),
    ("flushdb", server::flushdb),
    ("get", strings::get),
    ("getbit", bits::getbit),
    ("getdel", strings::getdel),
    ("getex", set::getex),
    ("getrange", strings::getrange),
    ("getset", strings::getset),
    ("incr", counters::incr),
    ("incrby", counters::incrby),
    ("incrbyfloat", counters::incrbyfloat),
    ("info", info::info),
    ("keys", scan::keys),
    ("lcs", lcs::lcs),
    ("mget", strings::mget),
    ("mset", strings::mset),
    ("msetnx", strings::msetnx),
    ("object|encoding", object::encoding),
    ("object|freq", object::freq),
    ("object|help", object::help),
    ("object|idletime", object::idletime),
    ("object|refcount", object::refcount),
    ("persist", expiry::persist),
    ("pexpire", expiry::pexpire),
    ("pexpireat", expiry::pexpireat),
    ("pexpiretime", expiry::pexpiretime),
    ("ping", server::ping),
    ("psetex", set::psetex),
    ("pttl", expiry::pttl),
    ("randomkey", scan::randomkey),
    ("rename", keys::rename),
    ("renamenx", keys::renamenx),
    ("scan", scan::scan),
    ("set", set::set),
    ("setbit", bits::setbit),
    ("setex", set::setex),
    ("setnx", set::setnx),
    ("setrange", strings::setrange),
    ("strlen", strings::strlen),
    ("substr", strings::getrange),
    ("time", server::time),
    ("touch", keys::exists),
    ("ttl", expiry::ttl),
    ("type", keys::key_type),
    ("unlink", keys::del),
];

/// A function for each row of the command table that has one.
pub struct Commands {
    runs: Box<[Option<Run>]>,
}

impl Commands {
    pub fn new() -> Commands {
        let mut runs = vec![None; table::ROWS.len()];
        for &(name, run) in RUNS {
            let Some(id) = by_name(name) else { unreachable!("{name} has no row") };
            runs[id.index()] = Some(run);
        }
        Commands { runs: runs.into() }
    }

    #[inline]
    pub fn run(&self, id: SpecId) -> Option<Run> {
        self.runs[id.index()]
    }
}

/// The answer to a command that embedded shards do not have.
#[cold]
pub fn refuse(spec: &Spec, out: &mut Vec<u8>) {
    let name = spec.name.replace('|', " ");
    let refused = format!("ERR onetrip: '{name}' is not available on embedded shards");
    // A help text is no reason to run other shards, and may be that of commands which no shards are sent.
    match spec.handling {
        Handling::AnyShard => write::error(out, &refused),
        _ => {
            let advice = "start onetrip with --backend ADDR,... in front of real servers";
            write::error(out, &format!("{refused}; {advice}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn what_can_not_be_run_is_named_with_what_to_do() {
        let mut shard = Shard::new();
        let reply = shard.run("LPUSH k v");
        assert!(reply.starts_with("-ERR onetrip: 'lpush' is not available on embedded shards;"));
        assert!(reply.contains("--backend"));
        let help = shard.run("XINFO HELP");
        assert_eq!(help, "-ERR onetrip: 'xinfo help' is not available on embedded shards\r\n");
        assert_eq!(shard.run("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
        assert_eq!(
            shard.run("NOSUCH a"),
            "-ERR unknown command 'NOSUCH', with args beginning with: 'a' \r\n"
        );
    }
}
