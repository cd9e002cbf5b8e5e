//! Strings as bits: SETBIT, GETBIT, BITCOUNT, BITPOS, BITOP.
//!
//! Bit 0 is the highest bit of byte 0. Past the end of a string its bits are zero. Ranges are in bytes unless BIT
//! says otherwise.

use super::args::SYNTAX;
use super::db::Ttl;
use super::entry::Encoding;
use super::strings::fits;
use super::{Engine, Outcome, Refusal, Request};
use crate::limits;
use crate::resp::request::parse_integer;
use crate::resp::write;

/// A bit's number, within the longest string.
fn offset(arg: &[u8]) -> Result<usize, Refusal> {
    parse_integer(arg)
        .filter(|n| (0..limits::BULK_BYTES_MAX * 8).contains(n))
        .map(|n| n as usize)
        .ok_or(Refusal::Text("ERR bit offset is not an integer or out of range"))
}

fn mask(bit: usize) -> u8 {
    0x80 >> (bit & 7)
}

pub fn setbit(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let bit = offset(r.args.at(2))?;
    let on = match parse_integer(r.args.at(3)) {
        Some(0) => false,
        Some(1) => true,
        _ => {
            return Err(Refusal::Text("ERR bit is not an integer or out of range"));
        }
    };
    let db = e.db(r);
    let mut at = db.look(r.key(), r.now);
    if at.place.is_none() {
        db.put(at, r.key(), b"", Encoding::Raw, Ttl::Clear, r.now);
        at = db.look(r.key(), r.now);
    }
    let old = at.place.is_some_and(|place| {
        db.change(place, r.now, |entry| {
            let byte = &mut entry.value_mut(bit / 8 + 1)[bit / 8];
            let old = *byte & mask(bit) != 0;
            *byte = if on { *byte | mask(bit) } else { *byte & !mask(bit) };
            old
        })
    });
    write::integer(out, i64::from(old));
    Ok(())
}

pub fn getbit(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let bit = offset(r.args.at(2))?;
    let byte = e.read(r, r.key()).and_then(|entry| entry.value().get(bit / 8).copied()).unwrap_or(0);
    write::integer(out, i64::from(byte & mask(bit) != 0));
    Ok(())
}

/// A range of bits, from the first to the last; `None` where it is empty.
type Bits = Option<(usize, usize)>;

/// Start and end as the client gave them, in its unit, as a range of bits in `len` bytes.
fn bits(start: i64, end: i64, by_bit: bool, len: usize) -> Bits {
    let total = if by_bit { len * 8 } else { len } as i64;
    let from_end = |i: i64| if i < 0 { (total + i).max(0) } else { i };
    let (start, end) = (from_end(start), from_end(end).min(total - 1));
    if start > end {
        return None;
    }
    let (start, end) = (start as usize, end as usize);
    Some(if by_bit { (start, end) } else { (start * 8, end * 8 + 7) })
}

/// Whether argument `i` says BIT rather than BYTE, which is also the default.
fn by_bit(r: &Request<'_>, i: usize) -> Result<bool, Refusal> {
    if r.is(i, "BIT") {
        Ok(true)
    } else if r.is(i, "BYTE") || r.args.len() <= i {
        Ok(false)
    } else {
        Err(SYNTAX)
    }
}

/// The byte at `i` with only those of its bits that are in the range.
fn within(value: &[u8], i: usize, (first, last): (usize, usize)) -> u8 {
    let mut byte = value[i];
    if i == first / 8 {
        byte &= 0xFF >> (first & 7);
    }
    if i == last / 8 {
        byte &= !(0x7F >> (last & 7));
    }
    byte
}

/// An absent key is answered before its range is read, as Redis does.
pub fn bitcount(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let Some(entry) = e.read(r, r.key()) else {
        write::integer(out, 0);
        return Ok(());
    };
    let value = entry.value();
    let range = match r.args.len() {
        2 => bits(0, -1, false, value.len()),
        4 | 5 => {
            let (start, end) = (r.integer(2)?, r.integer(3)?);
            let backwards = start < 0 && end < 0 && start > end;
            let unit = if backwards { false } else { by_bit(r, 4)? };
            bits(start, end, unit, value.len()).filter(|_| !backwards)
        }
        _ => return Err(SYNTAX),
    };
    let ones = range.map_or(0, |range| {
        (range.0 / 8..=range.1 / 8).map(|i| u64::from(within(value, i, range).count_ones())).sum()
    });
    write::integer(out, ones as i64);
    Ok(())
}

pub fn bitpos(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let bit = match r.integer(2)? {
        0 => false,
        1 => true,
        _ => return Err(Refusal::Text("ERR The bit argument must be 1 or 0.")),
    };
    let Some(entry) = e.read(r, r.key()) else {
        write::integer(out, if bit { -1 } else { 0 });
        return Ok(());
    };
    let value = entry.value();
    let range = match r.args.len() {
        3 => bits(0, -1, false, value.len()),
        4..=6 => {
            let (start, unit) = (r.integer(3)?, by_bit(r, 5)?);
            let end = if r.args.len() > 4 { r.integer(4)? } else { -1 };
            bits(start, end, unit, value.len())
        }
        _ => return Err(SYNTAX),
    };
    let found = range.and_then(|range| first(value, range, bit));
    // Without an end the string goes on in zeros.
    let beyond = (range.is_some() && !bit && r.args.len() <= 4).then_some(value.len() * 8);
    write::integer(out, found.or(beyond).map_or(-1, |n| n as i64));
    Ok(())
}

fn first(value: &[u8], range: (usize, usize), bit: bool) -> Option<usize> {
    (range.0 / 8..=range.1 / 8).find_map(|i| {
        let mut byte = within(value, i, range);
        if !bit {
            byte ^= within(&[0xFF; 1], 0, shifted(range, i));
        }
        (byte != 0).then(|| i * 8 + byte.leading_zeros() as usize)
    })
}

/// The range as byte `i` sees it, were it byte 0.
fn shifted((first, last): (usize, usize), i: usize) -> (usize, usize) {
    (first.saturating_sub(i * 8), (last - i * 8).min(7))
}

type Operation = fn(u8, u8) -> u8;

const OPERATIONS: [(&str, Operation); 3] =
    [("AND", |a, b| a & b), ("OR", |a, b| a | b), ("XOR", |a, b| a ^ b)];

pub fn bitop(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let not = r.is(1, "NOT");
    let operation = OPERATIONS.iter().find(|(name, _)| r.is(1, name));
    if not && r.args.len() != 4 {
        return Err(Refusal::Text("ERR BITOP NOT must be called with a single source key."));
    }
    let mut sources = Vec::with_capacity(r.args.len() - 3);
    for key in r.args.iter().skip(3) {
        let value = e.read(r, key).map_or(Vec::new(), |v| v.value().to_vec());
        sources.push(value);
    }
    let result = match operation {
        Some((_, f)) => combine(&sources, f),
        None if not => sources[0].iter().map(|b| !b).collect(),
        None => return Err(SYNTAX),
    };
    fits(result.len(), 0)?;
    store(e, r, &result);
    write::integer(out, result.len() as i64);
    Ok(())
}

/// Byte by byte, shorter strings going on in zeros.
fn combine(sources: &[Vec<u8>], f: &Operation) -> Vec<u8> {
    let len = sources.iter().map(Vec::len).max().unwrap_or(0);
    let byte = |source: &Vec<u8>, i: usize| source.get(i).copied().unwrap_or(0);
    (0..len)
        .map(|i| {
            let first = byte(&sources[0], i);
            sources[1..].iter().fold(first, |b, s| f(b, byte(s, i)))
        })
        .collect()
}

fn store(e: &mut Engine, r: &Request<'_>, result: &[u8]) {
    let key = r.args.at(2);
    let db = e.db(r);
    if result.is_empty() {
        db.remove_key(key, r.now);
        return;
    }
    let at = db.look(key, r.now);
    db.put(at, key, result, Encoding::Raw, Ttl::Clear, r.now);
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn bits_are_set_counted_and_found() {
        let mut shard = Shard::new();
        assert_eq!(shard.run("SETBIT k 10 1"), ":0\r\n");
        assert_eq!(shard.run("SETBIT k 10 1"), ":1\r\n");
        assert_eq!(shard.run("GETBIT k 10"), ":1\r\n");
        assert_eq!(shard.run("STRLEN k"), ":2\r\n");
        assert_eq!(shard.run("BITCOUNT k 8 10 BIT"), ":1\r\n");
        assert_eq!(shard.run("BITPOS k 1"), ":10\r\n");
        assert_eq!(shard.run("BITPOS k 0 1"), ":8\r\n");
        shard.words(&[b"SET", b"ones", b"\xff\xff"]);
        assert_eq!(shard.run("BITPOS ones 0"), ":16\r\n");
        assert_eq!(shard.run("BITPOS ones 0 0 -1"), ":-1\r\n");
        assert_eq!(shard.run("BITOP XOR d k ones"), ":2\r\n");
        assert_eq!(shard.run("BITCOUNT d"), ":15\r\n");
    }
}
