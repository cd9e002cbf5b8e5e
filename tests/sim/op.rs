//! What a simulated client may ask for.

use onetrip::slot::{ShardId, Slot};
use onetrip::topology::SlotMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Set(String, Vec<u8>),
    Get(String),
    Incr(String),
    Append(String, Vec<u8>),
    Del(Vec<String>),
    Mget(Vec<String>),
    Mset(Vec<(String, Vec<u8>)>),
    Echo(Vec<u8>),
    Ping,
    DbSize,
    Keys(String),
    Hello(i64),
    Reset,
    ReplySkip,
    ReplyOff,
    ReplyOn,
    Quit,
    Unknown,
    BadArity,
}

impl Op {
    pub fn words(&self) -> Vec<Vec<u8>> {
        let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        let named = |name: &str, keys: &[String]| {
            [name].into_iter().chain(keys.iter().map(String::as_str)).map(|word| word.into()).collect()
        };
        match self {
            Op::Set(key, value) => [words(&["SET", key]), vec![value.clone()]].concat(),
            Op::Get(key) => words(&["get", key]),
            Op::Incr(key) => words(&["INCR", key]),
            Op::Append(key, value) => [words(&["Append", key]), vec![value.clone()]].concat(),
            Op::Del(keys) => named("DEL", keys),
            Op::Mget(keys) => named("MGET", keys),
            Op::Mset(pairs) => {
                let pairs = pairs.iter().flat_map(|(key, value)| [key.clone().into_bytes(), value.clone()]);
                words(&["MSET"]).into_iter().chain(pairs).collect()
            }
            Op::Echo(text) => [words(&["ECHO"]), vec![text.clone()]].concat(),
            Op::Ping => words(&["PING"]),
            Op::DbSize => words(&["DBSIZE"]),
            Op::Keys(pattern) => words(&["KEYS", pattern]),
            Op::Hello(version) => words(&["HELLO", &version.to_string()]),
            Op::Reset => words(&["RESET"]),
            Op::ReplySkip => words(&["CLIENT", "REPLY", "SKIP"]),
            Op::ReplyOff => words(&["CLIENT", "REPLY", "OFF"]),
            Op::ReplyOn => words(&["CLIENT", "REPLY", "ON"]),
            Op::Quit => words(&["QUIT"]),
            Op::Unknown => words(&["NOSUCH", "x"]),
            Op::BadArity => words(&["GET"]),
        }
    }

    /// The shards that have a part in it, in their order.
    pub fn shards(&self, map: &SlotMap) -> Vec<ShardId> {
        let of = |key: &String| map.owner(Slot::of(key.as_bytes()));
        let mut shards: Vec<ShardId> = match self {
            Op::Set(key, _) | Op::Get(key) | Op::Incr(key) | Op::Append(key, _) => vec![of(key)],
            Op::Del(keys) | Op::Mget(keys) => keys.iter().map(of).collect(),
            Op::Mset(pairs) => pairs.iter().map(|(key, _)| of(key)).collect(),
            Op::DbSize | Op::Keys(_) => (0..map.shards()).map(ShardId).collect(),
            _ => Vec::new(),
        };
        shards.sort_by_key(|shard| shard.index());
        shards.dedup();
        shards
    }
}
