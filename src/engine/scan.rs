//! Walking the keys: KEYS, SCAN, RANDOMKEY.
//!
//! SCAN keeps no state: its cursor is a position in the table's order (see `table`), so a key that is there all
//! along is returned at least once, and one may be returned twice. A call walks pages until it has seen COUNT
//! keys. Keys whose time is over are left out, and left to the sweep.

use super::args::SYNTAX;
use super::entry::Entry;
use super::{Engine, Outcome, Refusal, Request, glob};
use crate::resp::request::parse_integer;
use crate::resp::write;

const COUNT_DEFAULT: i64 = 10;
/// Pages walked for each key asked for, at most, where pages are empty.
const PAGES_PER_KEY: usize = 10;

/// `*` alone matches every key, the empty one included.
fn wanted(pattern: &[u8], key: &[u8]) -> bool {
    pattern == b"*" || glob::matches(pattern, key)
}

fn live(entry: &Entry, now: i64) -> bool {
    entry.deadline > now
}

pub fn keys(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let mut found = Found::default();
    for entry in e.db(r).table().iter() {
        if live(entry, r.now) && wanted(r.args.at(1), entry.key()) {
            found.push(entry.key());
        }
    }
    found.write(out);
    Ok(())
}

/// Keys written one after the other; their number goes before them.
#[derive(Default)]
struct Found {
    bulks: Vec<u8>,
    number: usize,
}

impl Found {
    fn push(&mut self, key: &[u8]) {
        write::bulk(&mut self.bulks, key);
        self.number += 1;
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::array(out, self.number);
        out.extend_from_slice(&self.bulks);
    }
}

struct Scan<'a> {
    count: usize,
    pattern: &'a [u8],
    /// Whether TYPE named the type that keys here have.
    strings: bool,
}

pub fn scan(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let mut cursor = cursor(r.args.at(1))?;
    let options = scan_options(r)?;
    let mut found = Found::default();
    let mut seen = 0;
    for _ in 0..options.count.saturating_mul(PAGES_PER_KEY) {
        let (entries, next) = e.dbs[r.db].table().scan(cursor);
        seen += entries.len();
        for entry in entries {
            if options.strings && live(entry, r.now) && wanted(options.pattern, entry.key()) {
                found.push(entry.key());
            }
        }
        cursor = next;
        if cursor == 0 || seen >= options.count {
            break;
        }
    }
    write::array(out, 2);
    write::bulk(out, cursor.to_string().as_bytes());
    found.write(out);
    Ok(())
}

/// Any 64-bit number is a cursor, signed ones and nothing at all too (Redis reads it as C does); the bits that the
/// table has no use for are ignored.
fn cursor(text: &[u8]) -> Result<u32, Refusal> {
    let (negative, digits) = match text {
        [] => return Ok(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let number = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| !digits.starts_with('+'))
        .and_then(|digits| digits.parse::<u64>().ok())
        .ok_or(Refusal::Text("ERR invalid cursor"))?;
    Ok(if negative { number.wrapping_neg() as u32 } else { number as u32 })
}

fn scan_options<'a>(r: &Request<'a>) -> Result<Scan<'a>, Refusal> {
    let mut scan = Scan { count: COUNT_DEFAULT as usize, pattern: b"*", strings: true };
    let mut i = 2;
    while i < r.args.len() {
        let Some(value) = r.args.get(i + 1) else {
            return Err(SYNTAX);
        };
        if r.is(i, "COUNT") {
            scan.count = count(value)?;
        } else if r.is(i, "MATCH") {
            scan.pattern = value;
        } else if r.is(i, "TYPE") {
            scan.strings = value.eq_ignore_ascii_case(b"string");
        } else {
            return Err(SYNTAX);
        }
        i += 2;
    }
    Ok(scan)
}

fn count(text: &[u8]) -> Result<usize, Refusal> {
    let n = parse_integer(text).ok_or(super::args::NOT_INTEGER)?;
    if n < 1 {
        return Err(SYNTAX);
    }
    Ok(n as usize)
}

pub fn randomkey(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    while e.dbs[r.db].len() > 0 {
        let key = pick(e, r);
        // Looking takes a key out whose time is over, so this ends.
        if e.db(r).look(&key, r.now).place.is_some() {
            write::bulk(out, &key);
            return Ok(());
        }
    }
    write::null(out, r.proto);
    Ok(())
}

/// Any key of a database that is not empty: of a page drawn at random, or the next that has one.
fn pick(e: &mut Engine, r: &Request<'_>) -> Vec<u8> {
    let table = e.dbs[r.db].table();
    let mut page = e.rng.usize(..table.pages());
    while table.page_entries(page).is_empty() {
        page = (page + 1) % table.pages();
    }
    let entries = table.page_entries(page);
    entries[e.rng.usize(..entries.len())].key().to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn a_scan_returns_about_as_many_as_asked_and_ends() {
        let mut shard = Shard::new();
        for i in 0..1_000 {
            shard.run(&format!("SET key:{i} v"));
        }
        let mut cursor = "0".to_string();
        let (mut calls, mut keys) = (0, 0);
        loop {
            let reply = shard.run(&format!("SCAN {cursor} COUNT 20"));
            keys += reply.matches("key:").count();
            calls += 1;
            cursor = reply.lines().nth(2).unwrap_or("0").to_string();
            if cursor == "0" {
                break;
            }
        }
        assert_eq!(keys, 1_000);
        assert!((20..=50).contains(&calls), "{calls} calls");
    }

    #[test]
    fn filters_and_faults_of_scan() {
        let mut shard = Shard::new();
        shard.run("SET one 1");
        shard.run("SET two 2");
        assert_eq!(shard.run("SCAN 0 MATCH o* TYPE STRING"), "*2\r\n$1\r\n0\r\n*1\r\n$3\r\none\r\n");
        assert_eq!(shard.run("SCAN 0 TYPE list"), "*2\r\n$1\r\n0\r\n*0\r\n");
        assert_eq!(shard.run("SCAN x"), "-ERR invalid cursor\r\n");
        assert_eq!(shard.run("SCAN 0 COUNT 0"), "-ERR syntax error\r\n");
        assert_eq!(shard.run("SCAN 0 MATCH"), "-ERR syntax error\r\n");
    }
}
