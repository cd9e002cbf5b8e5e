//! When keys expire: the EXPIRE family sets it, the TTL family tells it, PERSIST takes it away.
//!
//! A deadline is Unix milliseconds whatever the command counted in. One that is not in the future deletes the key
//! at once and still answers 1, as Redis does.

use super::db::Ttl;
use super::entry::NEVER;
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::write;

pub fn expire(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set(e, r, 1000, r.now, out)
}

pub fn pexpire(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set(e, r, 1, r.now, out)
}

pub fn expireat(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set(e, r, 1000, 0, out)
}

pub fn pexpireat(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set(e, r, 1, 0, out)
}

/// On which condition a new deadline is set.
#[derive(Default)]
struct When {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl When {
    /// `Ok(None)` where an argument is no option; it is then named in the error.
    fn read(r: &Request<'_>, out: &mut Vec<u8>) -> Result<Option<When>, Refusal> {
        let mut when = When::default();
        for i in 3..r.args.len() {
            let flag = match () {
                () if r.is(i, "NX") => &mut when.nx,
                () if r.is(i, "XX") => &mut when.xx,
                () if r.is(i, "GT") => &mut when.gt,
                () if r.is(i, "LT") => &mut when.lt,
                () => {
                    unsupported(r.args.at(i), out);
                    return Ok(None);
                }
            };
            *flag = true;
        }
        when.consistent().map(Some)
    }

    fn consistent(self) -> Result<When, Refusal> {
        if self.nx && (self.xx || self.gt || self.lt) {
            return Err(Refusal::Text("ERR NX and XX, GT or LT options at the same time are not compatible"));
        }
        if self.gt && self.lt {
            return Err(Refusal::Text("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(self)
    }

    /// Whether a key with this deadline (or none) gets the new one. No deadline counts as an endless one.
    fn allows(&self, old: Option<i64>, new: i64) -> bool {
        !(self.nx && old.is_some()
            || self.xx && old.is_none()
            || self.gt && old.is_none_or(|old| new <= old)
            || self.lt && old.is_some_and(|old| new >= old))
    }
}

/// Redis echoes the option as a C string: up to a NUL.
fn unsupported(option: &[u8], out: &mut Vec<u8>) {
    let shown = option.split(|&b| b == 0).next().unwrap_or_default();
    let text = [b"ERR Unsupported option ", shown].concat();
    write::error_bytes(out, &text);
}

fn set(e: &mut Engine, r: &Request<'_>, unit: i64, base: i64, out: &mut Vec<u8>) -> Outcome {
    let Some(when) = When::read(r, out)? else {
        return Ok(());
    };
    let deadline =
        r.integer(2)?.checked_mul(unit).and_then(|ms| ms.checked_add(base)).ok_or(Refusal::ExpireTime)?;
    let db = e.db(r);
    let Some(place) = db.look(r.key(), r.now).place else {
        write::integer(out, 0);
        return Ok(());
    };
    let entry = db.entry(place);
    let old = entry.has_deadline().then_some(entry.deadline);
    let allowed = when.allows(old, deadline);
    if allowed && deadline <= r.now {
        db.remove(place);
    } else if allowed {
        db.set_ttl(place, Ttl::At(deadline));
    }
    write::integer(out, i64::from(allowed));
    Ok(())
}

pub fn ttl(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    tell(e, r, out, |deadline, now| seconds((deadline - now).max(0)))
}

pub fn pttl(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    tell(e, r, out, |deadline, now| (deadline - now).max(0))
}

pub fn expiretime(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    tell(e, r, out, |deadline, _| seconds(deadline))
}

pub fn pexpiretime(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    tell(e, r, out, |deadline, _| deadline)
}

/// Rounded to the nearest, as Redis does.
fn seconds(ms: i64) -> i64 {
    ms / 1000 + i64::from(ms % 1000 >= 500)
}

/// The last millisecond there is means no deadline here, so a key that has it is kept a millisecond short of it; it is
/// told as it was set.
fn told(deadline: i64) -> i64 {
    if deadline == NEVER - 1 { NEVER } else { deadline }
}

/// −2 for no key, −1 for no deadline, else what `show` makes of it.
fn tell(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>, show: fn(i64, i64) -> i64) -> Outcome {
    let db = e.db(r);
    let n = match db.look(r.key(), r.now).place {
        None => -2,
        Some(place) if db.entry(place).has_deadline() => show(told(db.entry(place).deadline), r.now),
        Some(_) => -1,
    };
    write::integer(out, n);
    Ok(())
}

pub fn persist(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let db = e.db(r);
    let place = db.look(r.key(), r.now).place;
    let had = place.filter(|&place| db.entry(place).has_deadline());
    if let Some(place) = had {
        db.set_ttl(place, Ttl::Clear);
    }
    write::integer(out, i64::from(had.is_some()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn conditions_of_expire() {
        let mut shard = Shard::new();
        shard.run("SET k v");
        assert_eq!(shard.run("EXPIRE k 100 XX"), ":0\r\n");
        assert_eq!(shard.run("EXPIRE k 100 GT"), ":0\r\n");
        assert_eq!(shard.run("EXPIRE k 100 LT"), ":1\r\n");
        assert_eq!(shard.run("EXPIRE k 200 LT"), ":0\r\n");
        assert_eq!(shard.run("EXPIRE k 200 GT XX"), ":1\r\n");
        assert_eq!(shard.run("EXPIRE k 300 NX"), ":0\r\n");
        assert_eq!(shard.run("TTL k"), ":200\r\n");
        assert_eq!(shard.run("EXPIRE k 300 QQ"), "-ERR Unsupported option QQ\r\n");
        assert_eq!(
            shard.run("EXPIRE k 9223372036854775"),
            "-ERR invalid expire time in 'expire' command\r\n"
        );
        assert_eq!(shard.run("EXPIRE k -1"), ":1\r\n");
        assert_eq!(shard.run("TTL k"), ":-2\r\n");
    }

    #[test]
    fn the_last_deadline_there_is() {
        let mut shard = Shard::new();
        shard.run("SET k v");
        assert_eq!(shard.run("PEXPIREAT k 9223372036854775807"), ":1\r\n");
        assert_eq!(shard.run("PEXPIRETIME k"), ":9223372036854775807\r\n");
        assert_eq!(shard.run("PERSIST k"), ":1\r\n");
        assert_eq!(shard.run("PEXPIRETIME k"), ":-1\r\n");
    }

    #[test]
    fn a_key_is_gone_at_its_deadline() {
        let mut shard = Shard::new();
        shard.run("SET k v PX 1500");
        shard.now_ms += 1_499;
        assert_eq!(shard.run("PTTL k"), ":1\r\n");
        assert_eq!(shard.run("GET k"), "$1\r\nv\r\n");
        shard.now_ms += 1;
        assert_eq!(shard.run("GET k"), "$-1\r\n");
        assert_eq!(shard.run("DBSIZE"), ":0\r\n");
    }
}
