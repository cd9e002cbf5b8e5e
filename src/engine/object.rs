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

type Tell = fn(&Entry, &Request<'_>, &mut Vec<u8>) -> Outcome;

/// The subcommands that take a key.
const TELLS: [(&str, Tell); 4] =
    [("encoding", encoding), ("freq", freq), ("idletime", idletime), ("refcount", refcount)];

pub fn object(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if r.is(1, "help") {
        return help(r, out);
    }
    let Some(&(name, tell)) = TELLS.iter().find(|(name, _)| r.is(1, name)) else {
        unknown(r.args.at(1), out);
        return Ok(());
    };
    if r.args.len() != 3 {
        wrong_arity(name, out);
        return Ok(());
    }
    let db = e.db(r);
    match db.look(r.args.at(2), r.now).place {
        Some(place) => tell(db.entry(place), r, out),
        None => {
            write::null(out, r.proto);
            Ok(())
        }
    }
}

fn help(r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    if r.args.len() != 2 {
        wrong_arity("help", out);
        return Ok(());
    }
    write::array(out, HELP.len());
    for line in HELP {
        write::simple(out, line);
    }
    Ok(())
}

fn unknown(name: &[u8], out: &mut Vec<u8>) {
    let shown = &name[..name.len().min(128)];
    let text = [b"ERR unknown subcommand '", shown, b"'. Try OBJECT HELP."].concat();
    write::error_bytes(out, &text);
}

fn wrong_arity(name: &str, out: &mut Vec<u8>) {
    let text = format!("ERR wrong number of arguments for 'object|{name}' command");
    write::error(out, &text);
}

fn encoding(entry: &Entry, _: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let name = match entry.encoding() {
        Encoding::Int => "int",
        Encoding::Embstr => "embstr",
        Encoding::Raw => "raw",
    };
    write::bulk(out, name.as_bytes());
    Ok(())
}

fn refcount(entry: &Entry, _: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    const SHARED: i64 = i32::MAX as i64;
    let small = entry.encoding() == Encoding::Int
        && parse_integer(entry.value()).is_some_and(|n| (0..10_000).contains(&n));
    write::integer(out, if small { SHARED } else { 1 });
    Ok(())
}

fn idletime(entry: &Entry, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    write::integer(out, entry.idle_seconds(r.now));
    Ok(())
}

fn freq(_: &Entry, _: &Request<'_>, _: &mut Vec<u8>) -> Outcome {
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
