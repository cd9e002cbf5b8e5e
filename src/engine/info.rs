//! INFO of one shard: the figures that the proxy adds up over its shards.
//!
//! Sections and field names are Redis's. What only the proxy knows (clients, ports, uptime) is not here; it writes
//! those itself.

use super::db::Db;
use super::{Engine, Outcome, Request};
use crate::resp::write;
use std::fmt::Write;

type Section = fn(&Engine, i64, &mut String);

const SECTIONS: [(&str, Section); 5] =
    [("server", server), ("clients", clients), ("memory", memory), ("stats", stats), ("keyspace", keyspace)];

/// Words that stand for more than one section.
const WHOLE: [&str; 3] = ["default", "all", "everything"];

pub fn info(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let named = |word: &str| (1..r.args.len()).any(|i| r.is(i, word));
    let whole = r.args.len() == 1 || WHOLE.iter().any(|word| named(word));
    let mut text = String::new();
    for (name, section) in SECTIONS {
        if whole || named(name) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            section(e, r.now, &mut text);
        }
    }
    write::verbatim(out, r.proto, &text);
    Ok(())
}

fn field(text: &mut String, name: &str, value: impl std::fmt::Display) {
    // Writing to a String can't fail.
    let _ = write!(text, "{name}:{value}\r\n");
}

fn server(_: &Engine, _: i64, text: &mut String) {
    text.push_str("# Server\r\n");
    field(text, "redis_version", "7.0.15");
    field(text, "redis_mode", "standalone");
}

fn clients(_: &Engine, _: i64, text: &mut String) {
    text.push_str("# Clients\r\n");
    field(text, "connected_clients", 0);
    field(text, "blocked_clients", 0);
}

fn memory(e: &Engine, _: i64, text: &mut String) {
    text.push_str("# Memory\r\n");
    // For people in bytes: the unit is chosen where the shards are added up.
    let used = e.memory_bytes();
    field(text, "used_memory", used);
    field(text, "used_memory_human", format_args!("{used}B"));
    field(text, "maxmemory", 0);
    field(text, "maxmemory_human", "0B");
    field(text, "maxmemory_policy", "noeviction");
}

fn stats(e: &Engine, _: i64, text: &mut String) {
    text.push_str("# Stats\r\n");
    field(text, "total_commands_processed", e.stats.commands);
    field(text, "expired_keys", e.dbs.iter().map(Db::expired).sum::<u64>());
    field(text, "evicted_keys", 0);
    field(text, "keyspace_hits", e.stats.hits);
    field(text, "keyspace_misses", e.stats.misses);
}

fn keyspace(e: &Engine, now: i64, text: &mut String) {
    text.push_str("# Keyspace\r\n");
    for (number, db) in e.dbs.iter().enumerate().filter(|(_, db)| db.len() > 0) {
        let (keys, expires, mean) = (db.len(), db.volatile(), db.mean_ttl(now));
        let _ = write!(text, "db{number}:keys={keys},expires={expires},avg_ttl={mean}\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn the_figures_that_are_added_up() {
        let mut shard = Shard::new();
        shard.run("SET a 1 PX 5000");
        shard.run("SET b 1");
        shard.run("GET a");
        shard.run("GET absent");
        let text = shard.run("INFO keyspace STATS");
        assert!(text.contains("db0:keys=2,expires=1,avg_ttl=5000\r\n"), "{text}");
        assert!(text.contains("keyspace_hits:1\r\nkeyspace_misses:1\r\n"));
        assert!(text.contains("total_commands_processed:5\r\n"));
        assert!(!text.contains("used_memory"));
        let text = shard.run("INFO memory");
        for name in ["used_memory", "used_memory_human", "maxmemory", "maxmemory_human", "maxmemory_policy"] {
            assert!(text.contains(&format!("\r\n{name}:")), "{name} is missing in {text}");
        }
        assert_eq!(shard.run("INFO nosuch"), "$0\r\n\r\n");
        shard.proto = crate::resp::Proto::Resp3;
        assert!(shard.run("INFO server").contains("\r\ntxt:# Server\r\n"));
    }
}
