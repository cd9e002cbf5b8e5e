//! The embedded engine beside a real redis-server: the same random stream, the same bytes.
//!
//! Unlike its neighbours this test calls the library: the engine is synchronous and is told the time, so thousands
//! of commands a second can be compared without a proxy between. Exceptions to byte for byte stand at the command:
//! replies in an order that each side chooses, and times that run on between the two.

use crate::harness::{Client, RedisServer, Seed, request, show, thorough};
use fastrand::Rng;
use onetrip::engine::Engine;
use onetrip::resp::Proto;
use onetrip::resp::request::{Decoded, Decoder};
use std::time::{SystemTime, UNIX_EPOCH};

/// How two replies are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    Bytes,
    /// Lines in any order: KEYS, SCAN.
    AnyOrder,
    /// Integers this far apart at most.
    Within(i64),
}

impl Same {
    fn holds(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            _ if a == b => true,
            Same::Bytes => false,
            Same::AnyOrder => sorted_lines(a) == sorted_lines(b),
            Same::Within(far) => match (integer(a), integer(b)) {
                (Some(a), Some(b)) => a >= 0 && b >= 0 && a.abs_diff(b) <= far.unsigned_abs(),
                _ => false,
            },
        }
    }
}

fn sorted_lines(reply: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = reply.split(|&b| b == b'\n').collect();
    lines.sort_unstable();
    lines
}

fn integer(reply: &[u8]) -> Option<i64> {
    std::str::from_utf8(reply).ok()?.strip_prefix(':')?.trim_end().parse().ok()
}

/// Requests as words, in which some words stand for something to be drawn:
/// k key · v value · i integer · f float · s seconds to come · m milliseconds to come · S M the same as absolute
/// times · r a position · b a bit · p a pattern · o an option of EXPIRE · w a word that fits nowhere.
const TEMPLATES: &[(&str, Same)] = &[
    ("GET k", Same::Bytes),
    ("GET k", Same::Bytes),
    ("SET k v", Same::Bytes),
    ("SET k i", Same::Bytes),
    ("SET k v NX", Same::Bytes),
    ("SET k v XX GET", Same::Bytes),
    ("SET k v EX s", Same::Bytes),
    ("SET k v PX m NX", Same::Bytes),
    ("SET k v GET NX EXAT S", Same::Bytes),
    ("SET k v PXAT M", Same::Bytes),
    ("SET k v KEEPTTL", Same::Bytes),
    ("SET k v KEEPTTL EX s", Same::Bytes),
    ("SET k v EX i", Same::Bytes),
    ("SET k v EX", Same::Bytes),
    ("SET k v NX XX", Same::Bytes),
    ("SET k v w", Same::Bytes),
    ("SETNX k v", Same::Bytes),
    ("SETEX k s v", Same::Bytes),
    ("SETEX k f v", Same::Bytes),
    ("PSETEX k m v", Same::Bytes),
    ("GETEX k", Same::Bytes),
    ("GETEX k EX s", Same::Bytes),
    ("GETEX k EXAT 1", Same::Bytes),
    ("GETEX k EX 0", Same::Bytes),
    ("GETEX k PERSIST", Same::Bytes),
    ("GETEX k PERSIST EX s", Same::Bytes),
    ("GETDEL k", Same::Bytes),
    ("GETSET k v", Same::Bytes),
    ("GETRANGE k r r", Same::Bytes),
    ("SUBSTR k r r", Same::Bytes),
    ("SETRANGE k r v", Same::Bytes),
    ("APPEND k v", Same::Bytes),
    ("APPEND k i", Same::Bytes),
    ("STRLEN k", Same::Bytes),
    ("MGET k k k", Same::Bytes),
    ("MSET k v k v", Same::Bytes),
    ("MSET k v k", Same::Bytes),
    ("MSETNX k v k v", Same::Bytes),
    ("INCR k", Same::Bytes),
    ("DECR k", Same::Bytes),
    ("INCRBY k i", Same::Bytes),
    ("INCRBY k v", Same::Bytes),
    ("DECRBY k i", Same::Bytes),
    ("INCRBYFLOAT k f", Same::Bytes),
    ("INCRBYFLOAT k v", Same::Bytes),
    ("LCS k k", Same::Bytes),
    ("LCS k k LEN", Same::Bytes),
    ("LCS k k IDX", Same::Bytes),
    ("LCS k k IDX MINMATCHLEN r WITHMATCHLEN", Same::Bytes),
    ("LCS k k IDX LEN", Same::Bytes),
    ("SETBIT k b 1", Same::Bytes),
    ("SETBIT k b 0", Same::Bytes),
    ("SETBIT k r i", Same::Bytes),
    ("GETBIT k b", Same::Bytes),
    ("GETBIT k r", Same::Bytes),
    ("BITCOUNT k", Same::Bytes),
    ("BITCOUNT k r r", Same::Bytes),
    ("BITCOUNT k r r BIT", Same::Bytes),
    ("BITCOUNT k r", Same::Bytes),
    ("BITCOUNT k r r w", Same::Bytes),
    ("BITPOS k 0", Same::Bytes),
    ("BITPOS k 1", Same::Bytes),
    ("BITPOS k 0 r", Same::Bytes),
    ("BITPOS k 1 r r", Same::Bytes),
    ("BITPOS k 0 r r BIT", Same::Bytes),
    ("BITPOS k 1 r r BIT", Same::Bytes),
    ("BITPOS k r r", Same::Bytes),
    ("BITOP AND k k k", Same::Bytes),
    ("BITOP OR k k k", Same::Bytes),
    ("BITOP XOR k k k k", Same::Bytes),
    ("BITOP NOT k k", Same::Bytes),
    ("BITOP NOT k k k", Same::Bytes),
    ("BITOP w k k", Same::Bytes),
    ("DEL k k", Same::Bytes),
    ("UNLINK k", Same::Bytes),
    ("EXISTS k k k", Same::Bytes),
    ("TOUCH k k", Same::Bytes),
    ("TYPE k", Same::Bytes),
    ("EXPIRE k s", Same::Bytes),
    ("EXPIRE k s o", Same::Bytes),
    ("EXPIRE k s o o", Same::Bytes),
    ("EXPIRE k -1", Same::Bytes),
    ("EXPIRE k 9223372036854775807", Same::Bytes),
    ("EXPIRE k v", Same::Bytes),
    ("PEXPIRE k m", Same::Bytes),
    ("PEXPIRE k m o", Same::Bytes),
    ("EXPIREAT k S", Same::Bytes),
    ("EXPIREAT k S o", Same::Bytes),
    ("PEXPIREAT k M o o", Same::Bytes),
    ("PEXPIREAT k 1", Same::Bytes),
    ("EXPIRETIME k", Same::Within(3)),
    ("PEXPIRETIME k", Same::Within(3_000)),
    ("TTL k", Same::Within(3)),
    ("PTTL k", Same::Within(3_000)),
    ("PERSIST k", Same::Bytes),
    ("RENAME k k", Same::Bytes),
    ("RENAMENX k k", Same::Bytes),
    ("COPY k k", Same::Bytes),
    ("COPY k k REPLACE", Same::Bytes),
    ("COPY k k DB 1", Same::Bytes),
    ("COPY k k DB 77", Same::Bytes),
    ("COPY k k DB i", Same::Bytes),
    ("COPY k k w", Same::Bytes),
    ("KEYS p", Same::AnyOrder),
    ("KEYS *", Same::AnyOrder),
    ("SCAN 0 COUNT 1000", Same::AnyOrder),
    ("SCAN 0 COUNT 1000 MATCH p", Same::AnyOrder),
    ("SCAN 0 TYPE string COUNT 1000", Same::AnyOrder),
    ("SCAN 0 TYPE hash COUNT 1000", Same::AnyOrder),
    ("SCAN w", Same::Bytes),
    ("SCAN 0 COUNT 0", Same::Bytes),
    ("SCAN 0 COUNT w", Same::Bytes),
    ("SCAN 0 w", Same::Bytes),
    ("DBSIZE", Same::Bytes),
    ("FLUSHDB w", Same::Bytes),
    ("OBJECT ENCODING k", Same::Bytes),
    ("OBJECT ENCODING k", Same::Bytes),
    ("OBJECT ENCODING", Same::Bytes),
    ("OBJECT FREQ k", Same::Bytes),
    ("OBJECT IDLETIME k", Same::Within(3)),
    ("OBJECT HELP", Same::Bytes),
    ("OBJECT w k", Same::Bytes),
    ("PING", Same::Bytes),
    ("PING v", Same::Bytes),
    ("PING v v", Same::Bytes),
    ("ECHO v", Same::Bytes),
    ("GET", Same::Bytes),
    ("STRLEN k k", Same::Bytes),
];

const KEYS: [&str; 14] =
    ["a", "b", "c", "", "user:1", "user:2", "{t}x", "{t}y", "k[1]", "n", "n2", "f", "\r\n", "*"];
const PATTERNS: [&str; 14] = [
    "*", "?", "user:?", "u*r:*", "[a-c]", "[^a]", "[c-a]", "k\\[1\\]", "**", "*1*", "{t}[x", "[", "\\",
    "a*b*c*",
];
const INTEGERS: [&str; 18] = [
    "0",
    "1",
    "-1",
    "7",
    "100",
    "9999",
    "10000",
    "-9223372036854775808",
    "9223372036854775807",
    "9223372036854775808",
    "01",
    "+1",
    " 1",
    "1 ",
    "-0",
    "2147483648",
    "4611686018427387904",
    "-5",
];
const FLOATS: [&str; 30] = [
    "0.1",
    "0.2",
    "-0.3",
    "1.5",
    "3",
    "1e3",
    "5.0e-3",
    "1e17",
    "123456789.123456789",
    "inf",
    "-inf",
    "nan",
    "0x1p3",
    "0x.8",
    "1e4000",
    "-1e4000",
    "1e5000",
    "1e-18",
    "-1e-17",
    "5e-18",
    ".5",
    "5.",
    "1e",
    " 1",
    "18446744073709551615",
    "1e-4000",
    "99999999999999999999.99",
    "0.000000000000000005",
    "+2.5",
    "-0",
];
const VALUES: [&[u8]; 14] = [
    b"",
    b"hello",
    b"12",
    b"-7",
    b"3.5",
    b"ohmytext",
    b"mynewtext",
    b"\0\xff\x80",
    b"\xff\xff",
    b"a\r\n+OK\r\n",
    b"007",
    b"12345678901234567890123456789012345678901234",
    b"123456789012345678901234567890123456789012345",
    b"                                                                 ",
];

/// The words of one request drawn from a template.
fn draw(template: &str, rng: &mut Rng, now_ms: u64) -> Vec<Vec<u8>> {
    template.split(' ').map(|word| draw_word(word, rng, now_ms)).collect()
}

fn draw_word(word: &str, rng: &mut Rng, now_ms: u64) -> Vec<u8> {
    let ahead_ms = rng.u64(100_000_000..2_000_000_000);
    let text = match word {
        "v" => return VALUES[rng.usize(..VALUES.len())].to_vec(),
        "k" => KEYS[rng.usize(..KEYS.len())].into(),
        "i" => INTEGERS[rng.usize(..INTEGERS.len())].into(),
        "f" if rng.bool() => format!("{}{}.{}", ["", "-"][rng.usize(..2)], rng.u32(..), rng.u32(..)),
        "f" => FLOATS[rng.usize(..FLOATS.len())].into(),
        "s" => (ahead_ms / 1_000).to_string(),
        "m" => ahead_ms.to_string(),
        "S" => ((now_ms + ahead_ms) / 1_000).to_string(),
        "M" => (now_ms + ahead_ms).to_string(),
        "r" => rng.i64(-70..70).to_string(),
        "b" => rng.u32(..300).to_string(),
        "p" => PATTERNS[rng.usize(..PATTERNS.len())].into(),
        "o" => ["NX", "xx", "GT", "lt", "YY"][rng.usize(..5)].into(),
        "w" => ["BOGUS", "x y", "nx2", "(["][rng.usize(..4)].into(),
        other if rng.u8(..4) == 0 => other.to_ascii_lowercase(),
        other => other.to_owned(),
    };
    text.into_bytes()
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    since.as_millis() as u64
}

/// The engine's reply to one request.
fn answer(engine: &mut Engine, proto: Proto, frame: &[u8], now_ms: u64) -> Vec<u8> {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.next(frame, true), Ok(Decoded::Request { consumed: frame.len() }));
    let mut reply = Vec::new();
    engine.execute(proto, 0, decoder.args(frame), now_ms, &mut reply);
    reply
}

fn compare(proto: Proto, rng: &mut Rng, engine: &mut Engine, server: &mut Client, commands: usize) {
    const BATCH: usize = 100;
    let mut history: Vec<String> = Vec::new();
    for _ in 0..commands / BATCH {
        let now = now_ms();
        let batch: Vec<_> = (0..BATCH)
            .map(|_| {
                let (template, same) = TEMPLATES[rng.usize(..TEMPLATES.len())];
                (request(&draw(template, rng, now)), same)
            })
            .collect();
        server.send(&batch.iter().flat_map(|(frame, _)| frame.clone()).collect::<Vec<_>>());
        for ((frame, same), theirs) in batch.iter().zip(server.raw_replies(BATCH)) {
            let ours = answer(engine, proto, frame, now);
            history.push(show(frame).to_string());
            assert!(
                same.holds(&ours, &theirs),
                "{proto:?} {}\n ours   {}\n theirs {}\nafter\n{}",
                show(frame),
                show(&ours),
                show(&theirs),
                history[history.len().saturating_sub(60)..].join("\n")
            );
        }
    }
}

#[test]
fn the_engine_answers_as_redis_server_does() {
    let seed = Seed::new("the_engine_answers_as_redis_server_does");
    let commands = if thorough() { 1_000_000 } else { 60_000 };
    for (part, proto) in Proto::ALL.into_iter().enumerate() {
        let server = RedisServer::start();
        let mut client = Client::speaking(server.address(), proto.number() as u8);
        let mut rng = seed.rng(part as u64);
        let mut engine = Engine::new(seed.number);
        compare(proto, &mut rng, &mut engine, &mut client, commands);
    }
}
