//! Counters: INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT.
//!
//! A counter is its decimal digits; what Redis would not read as an integer (a plus, a blank, a leading zero) is
//! refused. A counter keeps its TTL.

use super::args::NOT_INTEGER;
use super::db::Ttl;
use super::entry::Encoding;
use super::float::Extended;
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::request::parse_integer;
use crate::resp::write;

pub fn incr(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    add(e, r, 1, out)
}

pub fn decr(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    add(e, r, -1, out)
}

pub fn incrby(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    add(e, r, r.integer(2)?, out)
}

pub fn decrby(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let Some(by) = r.integer(2)?.checked_neg() else {
        return Err(Refusal::Text("ERR decrement would overflow"));
    };
    add(e, r, by, out)
}

fn add(e: &mut Engine, r: &Request<'_>, by: i64, out: &mut Vec<u8>) -> Outcome {
    let db = e.db(r);
    let at = db.look(r.key(), r.now);
    let old = match at.place {
        Some(place) => parse_integer(db.entry(place).value()).ok_or(NOT_INTEGER)?,
        None => 0,
    };
    let Some(new) = old.checked_add(by) else {
        return Err(Refusal::Text("ERR increment or decrement would overflow"));
    };
    // The reply is `:`, the digits and CRLF, so the new value is read off it.
    let start = out.len() + 1;
    write::integer(out, new);
    let digits = &out[start..out.len() - 2];
    db.put(at, r.key(), digits, Encoding::Int, Ttl::Keep, r.now);
    Ok(())
}

/// The sum as an 80-bit float gives it, for that is what Redis computes with.
pub fn incrbyfloat(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    const NOT_FLOAT: Refusal = Refusal::Text("ERR value is not a valid float");
    let db = e.db(r);
    let at = db.look(r.key(), r.now);
    let old = match at.place {
        Some(place) => Extended::parse(db.entry(place).value()).ok_or(NOT_FLOAT)?,
        None => Extended::ZERO,
    };
    let by = Extended::parse(r.args.at(2)).ok_or(NOT_FLOAT)?;
    let Some(sum) = old.add(by) else {
        return Err(Refusal::Text("ERR increment would produce NaN or Infinity"));
    };
    let text = sum.to_text();
    let encoding = Encoding::short(text.as_bytes());
    db.put(at, r.key(), text.as_bytes(), encoding, Ttl::Keep, r.now);
    write::bulk(out, text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn counters_stop_at_their_limits() {
        let mut shard = Shard::new();
        shard.run("SET k 9223372036854775806 EX 100");
        assert_eq!(shard.run("INCR k"), ":9223372036854775807\r\n");
        assert_eq!(shard.run("INCR k"), "-ERR increment or decrement would overflow\r\n");
        assert_eq!(shard.run("DECRBY k -9223372036854775808"), "-ERR decrement would overflow\r\n");
        assert_eq!(shard.run("TTL k"), ":100\r\n");
        shard.run("SET k 01");
        assert_eq!(shard.run("INCR k"), "-ERR value is not an integer or out of range\r\n");
    }

    #[test]
    fn a_float_is_added_as_redis_adds_it() {
        let mut shard = Shard::new();
        assert_eq!(shard.run("INCRBYFLOAT k 0.1"), "$3\r\n0.1\r\n");
        assert_eq!(shard.run("INCRBYFLOAT k 0.2"), "$3\r\n0.3\r\n");
        assert_eq!(shard.run("INCRBYFLOAT k inf"), "-ERR increment would produce NaN or Infinity\r\n");
        assert_eq!(shard.run("INCRBYFLOAT k 1x"), "-ERR value is not a valid float\r\n");
    }
}
