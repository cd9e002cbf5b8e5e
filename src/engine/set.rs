//! SET with all its options, GETEX, SETNX, SETEX and PSETEX.
//!
//! SET and GETEX share one grammar of options, with what excludes what as Redis has it. The order of checks is
//! Redis's too: a bad expire time is told before the old value is returned, and changes nothing.

use super::args::SYNTAX;
use super::db::{Looked, Ttl};
use super::entry::Encoding;
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::request::parse_integer;
use crate::resp::write;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Milliseconds,
}

/// How an option gives the deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    unit: Unit,
    absolute: bool,
}

const FORMS: [(&str, Form); 4] = [
    ("EX", Form::new(Unit::Seconds, false)),
    ("PX", Form::new(Unit::Milliseconds, false)),
    ("EXAT", Form::new(Unit::Seconds, true)),
    ("PXAT", Form::new(Unit::Milliseconds, true)),
];

impl Form {
    const fn new(unit: Unit, absolute: bool) -> Form {
        Form { unit, absolute }
    }

    /// The deadline that the argument asks for, in Unix milliseconds.
    fn deadline(self, arg: &[u8], now: i64) -> Result<i64, Refusal> {
        let n = parse_integer(arg).ok_or(super::args::NOT_INTEGER)?;
        let ms = match self.unit {
            Unit::Seconds => n.checked_mul(1000).ok_or(Refusal::ExpireTime)?,
            Unit::Milliseconds => n,
        };
        if ms <= 0 {
            return Err(Refusal::ExpireTime);
        }
        let base = if self.absolute { 0 } else { now };
        ms.checked_add(base).ok_or(Refusal::ExpireTime)
    }
}

/// Which of the two commands is read: they don't share all options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Set,
    GetEx,
}

#[derive(Default)]
struct Options {
    nx: bool,
    xx: bool,
    get: bool,
    keep_ttl: bool,
    persist: bool,
    /// The form of the deadline, and the argument that holds it.
    expiry: Option<(Form, usize)>,
}

impl Options {
    #[inline]
    fn read(r: &Request<'_>, from: usize, kind: Kind) -> Result<Options, Refusal> {
        let mut options = Options::default();
        let mut i = from;
        while i < r.args.len() {
            i += options.word(r, i, kind)?;
        }
        Ok(options)
    }

    /// Takes the option at `i`; how many arguments it was.
    fn word(&mut self, r: &Request<'_>, i: usize, kind: Kind) -> Result<usize, Refusal> {
        let (set, timeless) = (kind == Kind::Set, self.expiry.is_none());
        if set && !self.xx && r.is(i, "NX") {
            self.nx = true;
        } else if set && !self.nx && r.is(i, "XX") {
            self.xx = true;
        } else if set && r.is(i, "GET") {
            self.get = true;
        } else if set && timeless && r.is(i, "KEEPTTL") {
            self.keep_ttl = true;
        } else if !set && timeless && r.is(i, "PERSIST") {
            self.persist = true;
        } else {
            self.expiry = Some((self.form(r, i)?, i + 1));
            return Ok(2);
        }
        Ok(1)
    }

    fn form(&self, r: &Request<'_>, i: usize) -> Result<Form, Refusal> {
        let form = FORMS.iter().find(|(word, _)| r.is(i, word));
        match form {
            Some(&(_, form))
                if !self.keep_ttl
                    && !self.persist
                    && self.expiry.is_none_or(|(other, _)| other == form)
                    && i + 1 < r.args.len() =>
            {
                Ok(form)
            }
            _ => Err(SYNTAX),
        }
    }

    fn ttl(&self, r: &Request<'_>) -> Result<Ttl, Refusal> {
        match self.expiry {
            Some((form, i)) => Ok(Ttl::At(form.deadline(r.args.at(i), r.now)?)),
            None if self.keep_ttl => Ok(Ttl::Keep),
            None => Ok(Ttl::Clear),
        }
    }
}

pub fn set(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if r.args.len() > 3 {
        return set_with_options(e, r, out);
    }
    super::strings::replace(e, r, r.key(), r.args.at(2));
    out.extend_from_slice(b"+OK\r\n");
    Ok(())
}

fn set_with_options(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let options = Options::read(r, 3, Kind::Set)?;
    let ttl = options.ttl(r)?;
    if options.get {
        super::strings::reply_value(e, r, r.key(), out);
    }
    let at = e.db(r).look(r.key(), r.now);
    let run = !(options.nx && at.place.is_some() || options.xx && at.place.is_none());
    if run {
        put(e, r, at, r.args.at(2), ttl);
    }
    match (options.get, run) {
        (true, _) => {}
        (false, true) => write::simple(out, "OK"),
        (false, false) => write::null(out, r.proto),
    }
    Ok(())
}

fn put(e: &mut Engine, r: &Request<'_>, at: Looked, value: &[u8], ttl: Ttl) {
    let encoding = Encoding::of(value);
    e.db(r).put(at, r.key(), value, encoding, ttl, r.now);
}

pub fn setnx(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let at = e.db(r).look(r.key(), r.now);
    if at.place.is_none() {
        put(e, r, at, r.args.at(2), Ttl::Clear);
    }
    write::integer(out, i64::from(at.place.is_none()));
    Ok(())
}

pub fn setex(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set_for(e, r, Unit::Seconds, out)
}

pub fn psetex(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    set_for(e, r, Unit::Milliseconds, out)
}

fn set_for(e: &mut Engine, r: &Request<'_>, unit: Unit, out: &mut Vec<u8>) -> Outcome {
    let deadline = Form::new(unit, false).deadline(r.args.at(2), r.now)?;
    let at = e.db(r).look(r.key(), r.now);
    put(e, r, at, r.args.at(3), Ttl::At(deadline));
    write::simple(out, "OK");
    Ok(())
}

/// An absent key is answered before its expire time is checked, as Redis does.
pub fn getex(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let options = Options::read(r, 2, Kind::GetEx)?;
    if e.db(r).look(r.key(), r.now).place.is_some() {
        let ttl = options.ttl(r)?;
        super::strings::reply_value(e, r, r.key(), out);
        renew(e, r, &options, ttl);
    } else {
        super::strings::reply_value(e, r, r.key(), out);
    }
    Ok(())
}

fn renew(e: &mut Engine, r: &Request<'_>, options: &Options, ttl: Ttl) {
    let db = e.db(r);
    let Some(place) = db.look(r.key(), r.now).place else {
        return;
    };
    match ttl {
        Ttl::At(deadline) if deadline <= r.now => drop(db.remove(place)),
        Ttl::At(_) => db.set_ttl(place, ttl),
        _ if options.persist => db.set_ttl(place, Ttl::Clear),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn options_that_exclude_each_other() {
        let mut shard = Shard::new();
        for line in [
            "SET k v NX XX",
            "SET k v EX 10 PX 10",
            "SET k v EX",
            "SET k v KEEPTTL EX 10",
            "SET k v PERSIST",
            "GETEX k EX 10 PERSIST",
            "GETEX k NX",
        ] {
            assert_eq!(shard.run(line), "-ERR syntax error\r\n", "{line}");
        }
        assert_eq!(shard.run("SET k v EX 10 EX 20"), "+OK\r\n");
        assert_eq!(shard.run("TTL k"), ":20\r\n");
        assert_eq!(shard.run("SET k v EX 0"), "-ERR invalid expire time in 'set' command\r\n");
        assert_eq!(
            shard.run("SETEX k 9223372036854775807 v"),
            "-ERR invalid expire time in 'setex' command\r\n"
        );
    }

    #[test]
    fn getex_sets_keeps_and_removes_the_deadline() {
        let mut shard = Shard::new();
        shard.run("SET k v EX 10");
        assert_eq!(shard.run("GETEX k"), "$1\r\nv\r\n");
        assert_eq!(shard.run("TTL k"), ":10\r\n");
        shard.run("GETEX k PERSIST");
        assert_eq!(shard.run("TTL k"), ":-1\r\n");
        assert_eq!(shard.run("GETEX k EXAT 1"), "$1\r\nv\r\n");
        assert_eq!(shard.run("EXISTS k"), ":0\r\n");
        assert_eq!(shard.run("GETEX absent EX 0"), "$-1\r\n");
    }
}
