//! Commands on the shard as a whole: PING, ECHO, TIME, CONFIG GET, DBSIZE, FLUSHDB, FLUSHALL.
//!
//! A flush answers at once and drops a large table on a thread of its own: freeing a million blocks would hold up
//! every client of the shard for a tenth of a second, and nobody can tell the difference.

use super::args::SYNTAX;
use super::table::Table;
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::write;

/// From this many keys on, a flushed table is dropped elsewhere.
const DROP_ELSEWHERE_KEYS: usize = 10_000;

pub fn ping(_: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    match r.args.len() {
        1 => write::simple(out, "PONG"),
        2 => write::bulk(out, r.args.at(1)),
        _ => return Err(Refusal::Arity),
    }
    Ok(())
}

pub fn echo(_: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::bulk(out, r.args.at(1));
    Ok(())
}

/// To the millisecond that the request was given.
pub fn time(_: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::array(out, 2);
    write::bulk(out, (r.now / 1000).to_string().as_bytes());
    write::bulk(out, (r.now % 1000 * 1000).to_string().as_bytes());
    Ok(())
}

/// A shard of a process has no settings of its own: the proxy answers from its own.
pub fn config_get(_: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::map(out, r.proto, 0);
    Ok(())
}

pub fn dbsize(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::integer(out, e.db(r).len() as i64);
    Ok(())
}

pub fn flushdb(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    flush(e, r, r.db..r.db + 1, out)
}

pub fn flushall(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let all = 0..e.dbs.len();
    flush(e, r, all, out)
}

fn flush(e: &mut Engine, r: &Request<'_>, dbs: std::ops::Range<usize>, out: &mut Vec<u8>) -> Outcome {
    let known = r.args.len() == 1 || r.is(1, "SYNC") || r.is(1, "ASYNC");
    if !known || r.args.len() > 2 {
        return Err(SYNTAX);
    }
    let seed = e.seed;
    for db in &mut e.dbs[dbs] {
        drop_table(db.clear(seed));
    }
    write::simple(out, "OK");
    Ok(())
}

fn drop_table(table: Table) {
    if table.len() < DROP_ELSEWHERE_KEYS {
        return;
    }
    let dropper = std::thread::Builder::new().name("engine-drop".into());
    // Where no thread is to be had, the closure and with it the table is dropped right here.
    drop(dropper.spawn(move || drop(table)));
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn a_flush_leaves_an_empty_shard_that_works() {
        let mut shard = Shard::new();
        for i in 0..20_000 {
            shard.run(&format!("SET {i} v EX 100"));
        }
        assert_eq!(shard.run("FLUSHALL NOW"), "-ERR syntax error\r\n");
        assert_eq!(shard.run("DBSIZE"), ":20000\r\n");
        assert_eq!(shard.run("FLUSHALL ASYNC"), "+OK\r\n");
        assert_eq!((shard.engine.keys(), shard.engine.any_volatile()), (0, false));
        assert_eq!(shard.run("SET k v"), "+OK\r\n");
        assert_eq!(shard.run("RANDOMKEY"), "$1\r\nk\r\n");
    }
}
