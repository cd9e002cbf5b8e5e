//! OBJECT: what is known of a key beside its value.
//!
//! REFCOUNT is 1, but for the small integers that Redis shares, where it answers as Redis does: tools print it and
//! nothing more. FREQ needs a policy that embedded shards do not have; it says so in Redis's words.

use super::entry::{Encoding, Entry};
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::request::parse_integer;
use crate::resp::write;

const HELP: [&str; 15] = [
    "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "ENCODING <key>",
    "    Return the kind of internal representation used in order to store the value",
    "    associated with a <key>.",
    "FREQ <key>",
    "    Return the access frequency index of the <key>. The returned integer is",
    "    proportional to the logarithm of the recent access frequency of the key.",
    "IDLETIME <key>",
    "    Return the idle time of the <key>, that is the approximated number of",
    "    seconds elapsed since the last access to the key.",
    "REFCOUNT <key>",
    "    Return the number of references of the value associated with the specified",
    "    <key>.",
    "HELP",
    "    Prints this help.",
];

pub fn help(_: &mut Engine, _: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::array(out, HELP.len());
    for line in HELP {
        write::simple(out, line);
    }
    Ok(())
}

/// The entry of the key that is asked about; an absent one is answered with null. Does not count as a use.
fn of_key<'a>(e: &'a mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Option<&'a Entry> {
    let db = e.db(r);
    let place = db.look(r.args.at(2), r.now).place;
    if place.is_none() {
        write::null(out, r.proto);
    }
    place.map(|place| db.entry(place))
}

pub fn encoding(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if let Some(entry) = of_key(e, r, out) {
        let name = match entry.encoding() {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
        };
        write::bulk(out, name.as_bytes());
    }
    Ok(())
}

pub fn refcount(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    const SHARED: i64 = i32::MAX as i64;
    if let Some(entry) = of_key(e, r, out) {
        let small = entry.encoding() == Encoding::Int
            && parse_integer(entry.value()).is_some_and(|n| (0..10_000).contains(&n));
        write::integer(out, if small { SHARED } else { 1 });
    }
    Ok(())
}

pub fn idletime(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if let Some(entry) = of_key(e, r, out) {
        write::integer(out, entry.idle_seconds(r.now));
    }
    Ok(())
}

pub fn freq(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if of_key(e, r, out).is_none() {
        return Ok(());
    }
    Err(Refusal::Text(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn what_object_tells() {
        let mut shard = Shard::new();
        shard.run("SET n 12");
        shard.run("SET s hello");
        shard.run("APPEND s !");
        assert_eq!(shard.run("OBJECT ENCODING n"), "$3\r\nint\r\n");
        assert_eq!(shard.run("OBJECT ENCODING s"), "$3\r\nraw\r\n");
        assert_eq!(shard.run("OBJECT ENCODING absent"), "$-1\r\n");
        shard.now_ms += 5_000;
        assert_eq!(shard.run("OBJECT IDLETIME s"), ":5\r\n");
        assert!(shard.run("OBJECT FREQ s").starts_with("-ERR An LFU"));
        assert!(shard.run("OBJECT HELP").starts_with("*15\r\n+OBJECT "));
        assert_eq!(
            shard.run("OBJECT ENCODING"),
            "-ERR wrong number of arguments for 'object|encoding' command\r\n"
        );
    }
}
