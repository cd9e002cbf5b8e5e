//! Strings as a whole and in parts: GET MGET MSET APPEND STRLEN GETRANGE SETRANGE and their kin.
//!
//! SET and its options are in `set`, numbers in `counters`. Every write that replaces a value clears its TTL;
//! writes into a value (APPEND, SETRANGE) keep it.

use super::args::TOO_LONG;
use super::db::Ttl;
use super::entry::Encoding;
use super::{Engine, Outcome, Refusal, Request};
use crate::limits;
use crate::resp::write;

pub fn get(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    reply_value(e, r, r.key(), out);
    Ok(())
}

/// The key's value or null.
#[inline]
pub fn reply_value(e: &mut Engine, r: &Request<'_>, key: &[u8], out: &mut Vec<u8>) {
    match e.read(r, key) {
        Some(entry) => write::bulk(out, entry.value()),
        None => write::null(out, r.proto),
    }
}

pub fn getdel(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    reply_value(e, r, r.key(), out);
    e.db(r).remove_key(r.key(), r.now);
    Ok(())
}

pub fn getset(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    reply_value(e, r, r.key(), out);
    replace(e, r, r.key(), r.args.at(2));
    Ok(())
}

/// Sets a key as plain SET does.
#[inline]
pub fn replace(e: &mut Engine, r: &Request<'_>, key: &[u8], value: &[u8]) {
    let db = e.db(r);
    let at = db.look(key, r.now);
    db.put(at, key, value, Encoding::of(value), Ttl::Clear, r.now);
}

pub fn strlen(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let len = e.read(r, r.key()).map_or(0, |entry| entry.value_len());
    write::integer(out, len as i64);
    Ok(())
}

pub fn mget(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::array(out, r.args.len() - 1);
    for key in r.args.iter().skip(1) {
        reply_value(e, r, key, out);
    }
    Ok(())
}

pub fn mset(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    paired(r)?;
    set_pairs(e, r);
    write::simple(out, "OK");
    Ok(())
}

pub fn msetnx(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    paired(r)?;
    let db = e.db(r);
    let any = (1..r.args.len()).step_by(2).any(|i| db.look(r.args.at(i), r.now).place.is_some());
    if !any {
        set_pairs(e, r);
    }
    write::integer(out, i64::from(!any));
    Ok(())
}

fn paired(r: &Request<'_>) -> Outcome {
    if r.args.len().is_multiple_of(2) {
        return Err(Refusal::Arity);
    }
    Ok(())
}

fn set_pairs(e: &mut Engine, r: &Request<'_>) {
    for i in (1..r.args.len()).step_by(2) {
        replace(e, r, r.args.at(i), r.args.at(i + 1));
    }
}

pub fn append(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let (key, tail) = (r.key(), r.args.at(2));
    let db = e.db(r);
    let at = db.look(key, r.now);
    let len = match at.place {
        None => {
            db.put(at, key, tail, Encoding::of(tail), Ttl::Clear, r.now);
            tail.len()
        }
        Some(place) => {
            fits(db.entry(place).value_len(), tail.len())?;
            db.change(place, r.now, |entry| {
                entry.append(tail);
                entry.value_len()
            })
        }
    };
    write::integer(out, len as i64);
    Ok(())
}

pub fn setrange(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let (key, offset, part) = (r.key(), r.integer(2)?, r.args.at(3));
    let Ok(offset) = usize::try_from(offset) else {
        return Err(Refusal::Text("ERR offset is out of range"));
    };
    let db = e.db(r);
    let mut at = db.look(key, r.now);
    if part.is_empty() {
        let len = at.place.map_or(0, |place| db.entry(place).value_len());
        write::integer(out, len as i64);
        return Ok(());
    }
    fits(offset, part.len())?;
    if at.place.is_none() {
        db.put(at, key, b"", Encoding::Raw, Ttl::Clear, r.now);
        at = db.look(key, r.now);
    }
    let len = at.place.map_or(0, |place| {
        db.change(place, r.now, |entry| {
            let value = entry.value_mut(offset + part.len());
            value[offset..offset + part.len()].copy_from_slice(part);
            value.len()
        })
    });
    write::integer(out, len as i64);
    Ok(())
}

/// No string grows past the longest bulk string that could be read back.
pub fn fits(len: usize, more: usize) -> Outcome {
    match len.checked_add(more) {
        Some(total) if total as u64 <= limits::BULK_BYTES_MAX as u64 => Ok(()),
        _ => Err(TOO_LONG),
    }
}

pub fn getrange(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let (start, end) = (r.integer(2)?, r.integer(3)?);
    let value = e.read(r, r.key()).map_or(&b""[..], |entry| entry.value());
    write::bulk(out, slice(value, start, end));
    Ok(())
}

/// The bytes from `start` to `end`, both counted and both from the end where negative.
fn slice(value: &[u8], start: i64, end: i64) -> &[u8] {
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let len = value.len() as i64;
    let from_end = |i: i64| if i < 0 { (len + i).max(0) } else { i };
    let (start, end) = (from_end(start), from_end(end).min(len - 1));
    if start > end || len == 0 {
        return &[];
    }
    &value[start as usize..=end as usize]
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;
    use super::slice;

    #[test]
    fn ranges_at_their_edges() {
        assert_eq!(slice(b"hello", 0, -1), b"hello");
        assert_eq!(slice(b"hello", -3, -2), b"ll");
        assert_eq!(slice(b"hello", -2, -3), b"");
        assert_eq!(slice(b"hello", i64::MIN, i64::MAX), b"hello");
        assert_eq!(slice(b"hello", 5, 9), b"");
        assert_eq!(slice(b"hello", -100, -90), b"h");
        assert_eq!(slice(b"", 0, -1), b"");
    }

    #[test]
    fn setrange_pads_with_zeros_and_refuses_what_is_too_long() {
        let mut shard = Shard::new();
        assert_eq!(shard.run("SETRANGE k 3 ab"), ":5\r\n");
        assert_eq!(shard.run("GET k"), "$5\r\n\0\0\0ab\r\n");
        assert_eq!(
            shard.run("SETRANGE k 536870911 ab"),
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"
        );
        assert_eq!(shard.run("SETRANGE k -1 ab"), "-ERR offset is out of range\r\n");
        assert_eq!(shard.run("STRLEN k"), ":5\r\n");
    }
}
