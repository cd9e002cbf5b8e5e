//! Keys whatever they hold: DEL, UNLINK, EXISTS, TOUCH, TYPE, RENAME, RENAMENX, COPY.
//!
//! UNLINK is DEL here: a value is one block, so dropping it costs the same at once or later. Times to live go with
//! the value, as in Redis.

use super::args::{NO_SUCH_KEY, SYNTAX};
use super::db::Ttl;
use super::entry::Entry;
use super::{DATABASES, Engine, Outcome, Refusal, Request};
use crate::resp::write;

pub fn del(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let db = e.db(r);
    let removed = r.args.iter().skip(1).filter(|key| db.remove_key(key, r.now));
    write::integer(out, removed.count() as i64);
    Ok(())
}

/// EXISTS and TOUCH: a key named twice counts twice.
pub fn exists(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let mut found = 0;
    for key in r.args.iter().skip(1) {
        found += i64::from(e.read(r, key).is_some());
    }
    write::integer(out, found);
    Ok(())
}

pub fn key_type(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let there = e.db(r).look(r.key(), r.now).place.is_some();
    write::simple(out, if there { "string" } else { "none" });
    Ok(())
}

pub fn rename(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    move_to(e, r, true)?;
    write::simple(out, "OK");
    Ok(())
}

pub fn renamenx(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let moved = move_to(e, r, false)?;
    write::integer(out, i64::from(moved));
    Ok(())
}

/// Whether the key was moved: it is not onto an existing key, itself included, without `replace`.
fn move_to(e: &mut Engine, r: &Request<'_>, replace: bool) -> Result<bool, Refusal> {
    let (from, to) = (r.key(), r.args.at(2));
    let db = e.db(r);
    if db.look(from, r.now).place.is_none() {
        return Err(NO_SUCH_KEY);
    }
    if from == to {
        return Ok(replace);
    }
    if db.look(to, r.now).place.is_some() && !replace {
        return Ok(false);
    }
    if let Some(place) = db.look(from, r.now).place {
        let entry = db.remove(place);
        place_copy(e, r, r.db, to, &entry);
    }
    Ok(true)
}

fn place_copy(e: &mut Engine, r: &Request<'_>, db: usize, key: &[u8], entry: &Entry) {
    let db = &mut e.dbs[db];
    let at = db.look(key, r.now);
    let ttl = if entry.has_deadline() { Ttl::At(entry.deadline) } else { Ttl::Clear };
    db.put(at, key, entry.value(), entry.encoding(), ttl, r.now);
}

/// Where COPY copies to.
struct Target {
    db: usize,
    replace: bool,
}

pub fn copy(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let target = copy_options(r)?;
    let (from, to) = (r.key(), r.args.at(2));
    if target.db == r.db && from == to {
        return Err(Refusal::Text("ERR source and destination objects are the same"));
    }
    let taken = e.dbs[target.db].look(to, r.now).place.is_some();
    let copied = match e.read(r, from) {
        Some(entry) if !taken || target.replace => {
            let entry = Entry::new(to, entry.value(), entry.encoding(), entry.deadline);
            place_copy(e, r, target.db, to, &entry);
            true
        }
        _ => false,
    };
    write::integer(out, i64::from(copied));
    Ok(())
}

fn copy_options(r: &Request<'_>) -> Result<Target, Refusal> {
    let mut target = Target { db: r.db, replace: false };
    let mut i = 3;
    while i < r.args.len() {
        if r.is(i, "REPLACE") {
            target.replace = true;
        } else if r.is(i, "DB") && i + 1 < r.args.len() {
            i += 1;
            target.db = database(r, i)?;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    Ok(target)
}

fn database(r: &Request<'_>, i: usize) -> Result<usize, Refusal> {
    let number = r.integer(i)?;
    if i32::try_from(number).is_err() {
        return Err(Refusal::Text(
            "ERR value is out of range, value must between -2147483648 and 2147483647",
        ));
    }
    match usize::try_from(number) {
        Ok(db) if db < usize::from(DATABASES) => Ok(db),
        _ => Err(Refusal::Text("ERR DB index is out of range")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn a_renamed_key_takes_its_time_to_live_along() {
        let mut shard = Shard::new();
        shard.run("SET a 1 EX 100");
        shard.run("SET b 2");
        assert_eq!(shard.run("RENAMENX a b"), ":0\r\n");
        assert_eq!(shard.run("RENAME a b"), "+OK\r\n");
        assert_eq!(shard.run("TTL b"), ":100\r\n");
        assert_eq!(shard.run("RENAME a b"), "-ERR no such key\r\n");
        assert_eq!(shard.run("RENAME b b"), "+OK\r\n");
        assert_eq!(shard.run("RENAMENX b b"), ":0\r\n");
        assert_eq!(shard.run("COPY b c"), ":1\r\n");
        assert_eq!(shard.run("COPY b c"), ":0\r\n");
        assert_eq!(shard.run("COPY b c REPLACE DB 0"), ":1\r\n");
        assert_eq!(shard.run("COPY b b DB 3"), ":1\r\n");
        assert_eq!(shard.run("TTL c"), ":100\r\n");
    }
}
