//! The rows: every command and subcommand of Redis 7.0 to 8.12 and Valkey 8 to 9.1, and of the modules they may load.
//!
//! Data only, in the server's groups, sorted, a container's subcommands right behind it. A row reads: name, arity,
//! flags, key specs, what onetrip does with it; then, where the server says more or onetrip does something that does
//! not follow from the row, request and reply policy, place in MULTI, ACL categories, key finder. Flags and specs are
//! those of the newest server that has the command; a test holds them against COMMAND of a real one. Rows of Redis
//! 8.4 and later and of Valkey 9 are from those servers' published command descriptions.
//!
//! A row for a command that a shard does not know is harmless: the shard says so. Module commands are rows so that
//! they are routed; a server that has no module says "unknown command" as it would alone. They check their arities
//! themselves: a row asks only for what its keys need. Their keys are told more fully here than by the modules.
//!
//! Must never hold a condition: what depends on a request's arguments is in `keys` and `options`.

use super::Handling::*;
use super::flag::*;
use super::{
    Begin, FanOut, Find, Finder, Flags, Group, Handling, InMulti, KeySpec, Local, Missing, Refusal,
    ReplyPolicy as Reply, RequestPolicy as Request, Spec, Split, keys,
};

/// All rows; a [`super::SpecId`] is a position in it.
pub static ROWS: &[Spec] = &join::<{ count() }>();

const GROUPS: &[(Group, &[Spec])] = &[
    (Group::String, STRING),
    (Group::Bitmap, BITMAP),
    (Group::List, LIST),
    (Group::Set, SET),
    (Group::Hash, HASH),
    (Group::SortedSet, SORTED_SET),
    (Group::Geo, GEO),
    (Group::HyperLogLog, HYPERLOGLOG),
    (Group::Stream, STREAM),
    (Group::Array, ARRAY),
    (Group::VectorSet, VECTOR_SET),
    (Group::Generic, GENERIC),
    (Group::Transactions, TRANSACTIONS),
    (Group::Scripting, SCRIPTING),
    (Group::PubSub, PUB_SUB),
    (Group::Connection, CONNECTION),
    (Group::Cluster, CLUSTER),
    (Group::Server, SERVER),
    (Group::Module, MODULES),
];

const fn count() -> usize {
    let mut rows = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        rows += GROUPS[group].1.len();
        group += 1;
    }
    rows
}

const fn join<const N: usize>() -> [Spec; N] {
    let mut rows = [GROUPS[0].1[0]; N];
    let (mut at, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[group].1.len() {
            rows[at] = GROUPS[group].1[i];
            rows[at].group = GROUPS[group].0;
            at += 1;
            i += 1;
        }
        group += 1;
    }
    rows
}

const fn row(
    name: &'static str,
    arity: i16,
    flags: u32,
    keys: &'static [KeySpec],
    handling: Handling,
) -> Spec {
    let lone_key = keys::lone(keys);
    // Whoever has checked the arity may read the lone key without looking again.
    assert!(arity.unsigned_abs() > lone_key as u16);
    let movable = if keys::movable(keys) { MOVABLEKEYS } else { 0 };
    Spec {
        name,
        group: Group::Generic,
        arity,
        flags: Flags(flags | movable),
        keys,
        lone_key,
        request: Request::Keyed,
        reply: Reply::Default,
        in_multi: in_multi(handling),
        handling,
        finder: Finder::Specs,
        acl: None,
    }
}

/// What a command is inside MULTI, where its row does not say otherwise.
const fn in_multi(handling: Handling) -> InMulti {
    match handling {
        Forward | Split(_) | AnyShard | Missing(Missing::Blocking | Missing::Scripts) => InMulti::Send,
        Local(_) => InMulti::Local,
        FanOut(_) | Missing(Missing::OverShards | Missing::PubSub) => InMulti::FanOut,
        Container | Missing(_) | Refuse(_) => InMulti::Refuse,
    }
}

impl Spec {
    const fn tips(mut self, request: Request, reply: Reply) -> Spec {
        self.request = request;
        self.reply = reply;
        self
    }

    const fn in_multi(mut self, in_multi: InMulti) -> Spec {
        self.in_multi = in_multi;
        self
    }

    /// ACL categories where they do not follow from group and flags.
    const fn acl(mut self, categories: &'static str) -> Spec {
        self.acl = Some(categories);
        self
    }

    const fn finder(mut self, finder: Finder) -> Spec {
        self.finder = finder;
        self
    }
}

const NONE: &[KeySpec] = &[];

const fn key_spec(begin: Begin, find: Find, access: u16) -> KeySpec {
    KeySpec { begin, find, access }
}

/// One key.
const fn at(index: i16, access: u16) -> KeySpec {
    range(index, 0, access)
}

/// All arguments from `index` on.
const fn from(index: i16, access: u16) -> KeySpec {
    range(index, -1, access)
}

/// Every `step`-th argument from `index` on.
const fn every(step: i16, index: i16, access: u16) -> KeySpec {
    let (last, limit) = (-1, 0);
    key_spec(Begin::Index(index), Find::Range { last, step, limit }, access)
}

/// From `index` to `last`: counted from `index`, or from the end where negative.
const fn range(index: i16, last: i16, access: u16) -> KeySpec {
    let (step, limit) = (1, 0);
    key_spec(Begin::Index(index), Find::Range { last, step, limit }, access)
}

/// A count at `index`, and so many keys behind it.
const fn counted(index: i16, access: u16) -> KeySpec {
    let (at, first, step) = (0, 1, 1);
    key_spec(Begin::Index(index), Find::KeyNum { at, first, step }, access)
}

/// A count at `index`, and so many pairs of key and value behind it.
const fn counted_pairs(index: i16, access: u16) -> KeySpec {
    let (at, first, step) = (0, 1, 2);
    key_spec(Begin::Index(index), Find::KeyNum { at, first, step }, access)
}

/// What stands behind a word: to `last`, or the first 1/`limit` of it.
const fn after(word: &'static str, from: i16, last: i16, limit: i16, access: u16) -> KeySpec {
    let step = 1;
    key_spec(Begin::Keyword(word, from), Find::Range { last, step, limit }, access)
}

/// Keys that no spec can tell.
const fn unknown(access: u16) -> KeySpec {
    key_spec(Begin::Unknown, Find::Unknown, access)
}

#[rustfmt::skip]
const STRING: &[Spec] = &[
    row("append", 3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("decr", 2, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("decrby", 3, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("delex", -2, WRITE | FAST, &[at(1, RM | DELETE)], Forward),
    row("delifeq", 3, WRITE, &[at(1, RM | ACCESS | DELETE)], Forward),
    row("digest", 2, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("get", 2, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("getdel", 2, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("getex", -2, WRITE | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("getrange", 4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("getset", 3, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("incr", 2, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("incrby", 3, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("incrbyfloat", 3, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("increx", -2, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("lcs", -3, READONLY, &[range(1, 1, RO | ACCESS)], Forward),
    row("mget", -2, READONLY | FAST, &[from(1, RO | ACCESS)], Split(Split::Values)).tips(Request::MultiShard, Reply::Default),
    row("mset", -3, WRITE | DENYOOM, &[every(2, 1, OW | UPDATE)], Split(Split::Pairs)).tips(Request::MultiShard, Reply::AllSucceeded),
    row("msetex", -4, WRITE | DENYOOM, &[counted_pairs(1, OW | UPDATE)], Forward).tips(Request::MultiShard, Reply::AllSucceeded),
    row("msetnx", -3, WRITE | DENYOOM, &[every(2, 1, OW | INSERT)], Forward),
    row("psetex", 4, WRITE | DENYOOM, &[at(1, OW | UPDATE)], Forward),
    row("set", -3, WRITE | DENYOOM, &[at(1, RW | ACCESS | UPDATE | VARIABLE)], Forward),
    row("setex", 4, WRITE | DENYOOM, &[at(1, OW | UPDATE)], Forward),
    row("setnx", 3, WRITE | DENYOOM | FAST, &[at(1, OW | INSERT)], Forward),
    row("setrange", 4, WRITE | DENYOOM, &[at(1, RW | UPDATE)], Forward),
    row("strlen", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("substr", 4, READONLY, &[at(1, RO | ACCESS)], Forward),
];

#[rustfmt::skip]
const BITMAP: &[Spec] = &[
    row("bitcount", -2, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("bitfield", -2, WRITE | DENYOOM, &[at(1, RW | ACCESS | UPDATE | VARIABLE)], Forward),
    row("bitfield_ro", -2, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("bitop", -4, WRITE | DENYOOM, &[at(2, OW | UPDATE), from(3, RO | ACCESS)], Forward),
    row("bitpos", -3, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("bitrangeintarray", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("getbit", 3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("setbit", 4, WRITE | DENYOOM, &[at(1, RW | ACCESS | UPDATE)], Forward),
];

#[rustfmt::skip]
const LIST: &[Spec] = &[
    row("blmove", 6, WRITE | DENYOOM | BLOCKING, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Missing(Missing::Blocking)),
    row("blmovem", -6, WRITE | DENYOOM | BLOCKING, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Missing(Missing::Blocking)),
    row("blmpop", -5, WRITE | BLOCKING, &[counted(2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("blpop", -3, WRITE | BLOCKING, &[range(1, -2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("brpop", -3, WRITE | BLOCKING, &[range(1, -2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("brpoplpush", 4, WRITE | DENYOOM | BLOCKING, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Missing(Missing::Blocking)),
    row("lindex", 3, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("linsert", 5, WRITE | DENYOOM, &[at(1, RW | INSERT)], Forward),
    row("llen", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("lmove", 5, WRITE | DENYOOM, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Forward),
    row("lmovem", -5, WRITE | DENYOOM, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Forward),
    row("lmpop", -4, WRITE, &[counted(1, RW | ACCESS | DELETE)], Forward),
    row("lpop", -2, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("lpos", -3, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("lpush", -3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("lpushx", -3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("lrange", 4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("lrem", 4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("lset", 4, WRITE | DENYOOM, &[at(1, RW | UPDATE)], Forward),
    row("ltrim", 4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("rpop", -2, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("rpoplpush", 3, WRITE | DENYOOM, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Forward),
    row("rpush", -3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("rpushx", -3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
];

#[rustfmt::skip]
const SET: &[Spec] = &[
    row("sadd", -3, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("saddex", -5, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("scard", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("sdiff", -2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[from(1, RO | ACCESS)], Forward),
    row("sdiffcard", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("sdiffstore", -3, WRITE | DENYOOM, &[at(1, OW | UPDATE), from(2, RO | ACCESS)], Forward),
    row("sexpire", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("sexpireat", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("sexpiretime", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("sinter", -2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[from(1, RO | ACCESS)], Forward),
    row("sintercard", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("sinterstore", -3, WRITE | DENYOOM, &[at(1, OW | UPDATE), from(2, RO | ACCESS)], Forward),
    row("sismember", 3, READONLY | FAST, &[at(1, RO)], Forward),
    row("smembers", 2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[at(1, RO | ACCESS)], Forward),
    row("smismember", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("smove", 4, WRITE | FAST, &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)], Forward),
    row("spersist", -5, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("spexpire", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("spexpireat", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("spexpiretime", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("spop", -2, WRITE | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("spttl", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("srandmember", -2, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("srem", -3, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("sscan", -3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("sttl", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("sunion", -2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[from(1, RO | ACCESS)], Forward),
    row("sunioncard", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("sunionstore", -3, WRITE | DENYOOM, &[at(1, OW | UPDATE), from(2, RO | ACCESS)], Forward),
];

#[rustfmt::skip]
const HASH: &[Spec] = &[
    row("hdel", -3, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("hexists", 3, READONLY | FAST, &[at(1, RO)], Forward),
    row("hexpire", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hexpireat", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hexpiretime", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("hget", 3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("hgetall", 2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[at(1, RO | ACCESS)], Forward),
    row("hgetdel", -5, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("hgetex", -5, WRITE | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("himport", -2, CONTAINER, NONE, Container),
    row("himport|discard", 3, 0, NONE, Missing(Missing::SessionState)).tips(Request::AllShards, Reply::Default),
    row("himport|discardall", 2, 0, NONE, Missing(Missing::SessionState)).tips(Request::AllShards, Reply::Default),
    row("himport|prepare", -4, DENYOOM, NONE, Missing(Missing::SessionState)).tips(Request::AllShards, Reply::Default),
    row("himport|set", -5, WRITE | DENYOOM, &[at(2, RW | UPDATE)], Missing(Missing::SessionState)),
    row("hincrby", 4, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("hincrbyfloat", 4, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("hkeys", 2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[at(1, RO | ACCESS)], Forward),
    row("hlen", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("hmget", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("hmset", -4, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hpersist", -5, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hpexpire", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hpexpireat", -6, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hpexpiretime", -5, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("hpttl", -5, READONLY | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("hrandfield", -2, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("hscan", -3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("hset", -4, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hsetex", -6, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("hsetnx", 4, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("hstrlen", 3, READONLY | FAST, &[at(1, RO)], Forward),
    row("httl", -5, READONLY | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("hvals", 2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, &[at(1, RO | ACCESS)], Forward),
];

#[rustfmt::skip]
const SORTED_SET: &[Spec] = &[
    row("bzmove", -5, WRITE | DENYOOM | BLOCKING, &[at(1, RW | ACCESS | DELETE), at(2, RW | UPDATE)], Missing(Missing::Blocking)),
    row("bzmpop", -5, WRITE | BLOCKING, &[counted(2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("bzpopmax", -3, WRITE | BLOCKING | FAST, &[range(1, -2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("bzpopmin", -3, WRITE | BLOCKING | FAST, &[range(1, -2, RW | ACCESS | DELETE)], Missing(Missing::Blocking)),
    row("zadd", -4, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("zcard", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("zcount", 4, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zdiff", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("zdiffstore", -4, WRITE | DENYOOM, &[at(1, OW | UPDATE), counted(2, RO | ACCESS)], Forward),
    row("zincrby", 4, WRITE | DENYOOM | FAST, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("zinter", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("zintercard", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("zinterstore", -4, WRITE | DENYOOM, &[at(1, OW | UPDATE), counted(2, RO | ACCESS)], Forward),
    row("zlexcount", 4, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zmove", -4, WRITE | DENYOOM, &[at(1, RW | ACCESS | DELETE), at(2, RW | UPDATE)], Forward),
    row("zmovemember", -6, WRITE | DENYOOM, &[at(1, RW | ACCESS | DELETE), at(2, RW | UPDATE)], Forward),
    row("zmpop", -4, WRITE, &[counted(1, RW | ACCESS | DELETE)], Forward),
    row("zmscore", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zpopmax", -2, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("zpopmin", -2, WRITE | FAST, &[at(1, RW | ACCESS | DELETE)], Forward),
    row("zrandmember", -2, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("zrange", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrangebylex", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrangebyscore", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrangestore", -5, WRITE | DENYOOM, &[at(1, OW | UPDATE), at(2, RO | ACCESS)], Forward),
    row("zrank", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zrem", -3, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("zremrangebylex", 4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("zremrangebyrank", 4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("zremrangebyscore", 4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("zrevrange", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrevrangebylex", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrevrangebyscore", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("zrevrank", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zscan", -3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("zscore", 3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("zunion", -3, READONLY, &[counted(1, RO | ACCESS)], Forward),
    row("zunionstore", -4, WRITE | DENYOOM, &[at(1, OW | UPDATE), counted(2, RO | ACCESS)], Forward),
];

#[rustfmt::skip]
const GEO: &[Spec] = &[
    row("geoadd", -5, WRITE | DENYOOM, &[at(1, RW | UPDATE)], Forward),
    row("geodist", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("geohash", -2, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("geopos", -2, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("georadius", -6, WRITE | DENYOOM, &[at(1, RO | ACCESS), after("STORE", 6, 0, 0, OW | UPDATE), after("STOREDIST", 6, 0, 0, OW | UPDATE)], Forward),
    row("georadius_ro", -6, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("georadiusbymember", -5, WRITE | DENYOOM, &[at(1, RO | ACCESS), after("STORE", 5, 0, 0, OW | UPDATE), after("STOREDIST", 5, 0, 0, OW | UPDATE)], Forward),
    row("georadiusbymember_ro", -5, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("geosearch", -7, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("geosearchstore", -8, WRITE | DENYOOM, &[at(1, OW | UPDATE), at(2, RO | ACCESS)], Forward),
];

#[rustfmt::skip]
const HYPERLOGLOG: &[Spec] = &[
    row("pfadd", -2, WRITE | DENYOOM | FAST, &[at(1, RW | INSERT)], Forward),
    row("pfcount", -2, READONLY, &[from(1, RW | ACCESS)], Forward),
    row("pfdebug", 3, WRITE | DENYOOM | ADMIN, &[at(2, RW | ACCESS)], Forward),
    row("pfmerge", -2, WRITE | DENYOOM, &[at(1, RW | ACCESS | INSERT), from(2, RO | ACCESS)], Forward),
    row("pfselftest", 1, ADMIN, NONE, Refuse(Refusal::Debugging)),
];

#[rustfmt::skip]
const STREAM: &[Spec] = &[
    row("xack", -4, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("xackdel", -6, WRITE | FAST, &[at(1, RW | UPDATE | DELETE)], Forward),
    row("xadd", -5, WRITE | DENYOOM | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RW | UPDATE)], Forward),
    row("xautoclaim", -6, WRITE | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RW | DELETE)], Forward),
    row("xcfgset", -2, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("xclaim", -6, WRITE | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RW | UPDATE)], Forward),
    row("xdel", -3, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("xdelex", -5, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("xgroup", -2, CONTAINER, NONE, Container),
    row("xgroup|create", -5, WRITE | DENYOOM, &[at(2, RW | INSERT)], Forward),
    row("xgroup|createconsumer", 5, WRITE | DENYOOM, &[at(2, RW | INSERT)], Forward),
    row("xgroup|delconsumer", 5, WRITE, &[at(2, RW | DELETE)], Forward),
    row("xgroup|destroy", 4, WRITE, &[at(2, RW | DELETE)], Forward),
    row("xgroup|help", 2, LOADING | STALE, NONE, AnyShard),
    row("xgroup|setid", -5, WRITE, &[at(2, RW | UPDATE)], Forward),
    row("xidmprecord", 5, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("xinfo", -2, CONTAINER, NONE, Container),
    row("xinfo|consumers", 4, READONLY | NONDETERMINISTIC_OUTPUT, &[at(2, RO | ACCESS)], Forward),
    row("xinfo|groups", 3, READONLY, &[at(2, RO | ACCESS)], Forward),
    row("xinfo|help", 2, LOADING | STALE, NONE, AnyShard),
    row("xinfo|stream", -3, READONLY, &[at(2, RO | ACCESS)], Forward),
    row("xlen", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("xnack", -7, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("xpending", -3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("xrange", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("xread", -4, READONLY | BLOCKING, &[after("STREAMS", 1, -1, 2, RO | ACCESS)], Forward),
    row("xreadgroup", -7, WRITE | BLOCKING, &[after("STREAMS", 4, -1, 2, RO | ACCESS)], Forward),
    row("xrevrange", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("xsetid", -3, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("xtrim", -4, WRITE | NONDETERMINISTIC_OUTPUT, &[at(1, RW | DELETE)], Forward),
];

#[rustfmt::skip]
const ARRAY: &[Spec] = &[
    row("arcount", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("ardel", -3, WRITE | FAST, &[at(1, RW | DELETE)], Forward),
    row("ardelrange", -4, WRITE, &[at(1, RW | DELETE)], Forward),
    row("arget", 3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("argetrange", 4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("argrep", -6, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("arinfo", -2, READONLY, &[at(1, RO)], Forward),
    row("arinsert", -3, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("arlastitems", -3, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("arlen", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("armget", -3, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("armset", -4, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
    row("arnext", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("arop", -5, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("arring", -4, WRITE | DENYOOM, &[at(1, RW | UPDATE)], Forward),
    row("arscan", -4, READONLY, &[at(1, RO | ACCESS)], Forward),
    row("arseek", 3, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("arset", -4, WRITE | DENYOOM | FAST, &[at(1, RW | UPDATE)], Forward),
];

#[rustfmt::skip]
const VECTOR_SET: &[Spec] = &[
    row("vadd", -5, WRITE | DENYOOM | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vcard", 2, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vdim", 2, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vemb", -3, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vgetattr", 3, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vinfo", 2, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vismember", 3, READONLY | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vlinks", -3, READONLY | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vrandmember", -2, READONLY | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vrange", -4, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("vrem", 3, WRITE | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vsetattr", 4, WRITE | FAST | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
    row("vsim", -4, READONLY | MODULE, &[at(1, RW | ACCESS | UPDATE)], Forward),
];

// MOVE, and COPY with DB, write the key's own shard in another database: right only where that database is sharded as
// this one is.
#[rustfmt::skip]
const GENERIC: &[Spec] = &[
    row("bless", -2, CONTAINER, NONE, Container),
    row("bless|clear", 4, WRITE | FAST, &[at(2, RW | UPDATE)], Forward),
    row("bless|get", 3, FAST, &[at(2, RO)], Forward),
    row("bless|help", 2, LOADING | STALE, NONE, AnyShard),
    row("bless|scan", -4, 0, NONE, Missing(Missing::OverShards)).tips(Request::Special, Reply::Special),
    row("bless|set", 4, WRITE | DENYOOM | FAST, &[at(2, RW | UPDATE)], Forward),
    row("copy", -3, WRITE | DENYOOM, &[at(1, RO | ACCESS), at(2, OW | UPDATE)], Forward).finder(Finder::Copy),
    row("del", -2, WRITE, &[from(1, RM | DELETE)], Split(Split::Sum)).tips(Request::MultiShard, Reply::Sum),
    row("dump", 2, READONLY | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("exists", -2, READONLY | FAST, &[from(1, RO)], Split(Split::Sum)).tips(Request::MultiShard, Reply::Sum),
    row("expire", -3, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("expireat", -3, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("expiretime", 2, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("keys", 2, READONLY | NONDETERMINISTIC_OUTPUT_ORDER, NONE, FanOut(FanOut::Concat)).tips(Request::AllShards, Reply::Default).acl("keyspace read slow dangerous"),
    row("migrate", -6, WRITE | NONDETERMINISTIC_OUTPUT, &[at(3, RW | ACCESS | DELETE), after("KEYS", -2, -1, 0, RW | ACCESS | DELETE | INCOMPLETE)], Refuse(Refusal::MovesKeys)).acl("keyspace write slow dangerous").finder(Finder::Migrate),
    row("move", 3, WRITE | FAST, &[at(1, RW | ACCESS | UPDATE)], Missing(Missing::Databases)),
    row("object", -2, CONTAINER, NONE, Container),
    row("object|encoding", 3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(2, RO)], Forward),
    row("object|freq", 3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(2, RO)], Forward),
    row("object|help", 2, LOADING | STALE, NONE, AnyShard),
    row("object|idletime", 3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(2, RO)], Forward),
    row("object|refcount", 3, READONLY | NONDETERMINISTIC_OUTPUT, &[at(2, RO)], Forward),
    row("persist", 2, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("pexpire", -3, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("pexpireat", -3, WRITE | FAST, &[at(1, RW | UPDATE)], Forward),
    row("pexpiretime", 2, READONLY | FAST, &[at(1, RO | ACCESS)], Forward),
    row("pttl", 2, READONLY | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("randomkey", 1, READONLY | NONDETERMINISTIC_OUTPUT, NONE, FanOut(FanOut::RandomKey)).tips(Request::AllShards, Reply::Special),
    row("rename", 3, WRITE, &[at(1, RW | ACCESS | DELETE), at(2, OW | UPDATE)], Forward),
    row("renamenx", 3, WRITE | FAST, &[at(1, RW | ACCESS | DELETE), at(2, OW | INSERT)], Forward),
    row("restore", -4, WRITE | DENYOOM, &[at(1, OW | UPDATE)], Forward).acl("keyspace write slow dangerous"),
    row("scan", -2, READONLY | NONDETERMINISTIC_OUTPUT, NONE, FanOut(FanOut::Scan)).tips(Request::Special, Reply::Special),
    row("sort", -2, WRITE | DENYOOM, &[at(1, RO | ACCESS), unknown(RO | ACCESS), unknown(OW | UPDATE)], Forward).acl("write set sortedset list slow dangerous").finder(Finder::Sort),
    row("sort_ro", -2, READONLY, &[at(1, RO | ACCESS), unknown(RO | ACCESS)], Forward).acl("read set sortedset list slow dangerous").finder(Finder::SortRo),
    row("touch", -2, READONLY | FAST, &[from(1, RO)], Split(Split::Sum)).tips(Request::MultiShard, Reply::Sum),
    row("ttl", 2, READONLY | FAST | NONDETERMINISTIC_OUTPUT, &[at(1, RO | ACCESS)], Forward),
    row("type", 2, READONLY | FAST, &[at(1, RO)], Forward),
    row("unlink", -2, WRITE | FAST, &[from(1, RM | DELETE)], Split(Split::Sum)).tips(Request::MultiShard, Reply::Sum),
    row("wait", 3, BLOCKING, NONE, Missing(Missing::Blocking)).tips(Request::AllShards, Reply::Min).in_multi(InMulti::FanOut).acl("slow blocking connection"),
    row("waitaof", 4, BLOCKING, NONE, Missing(Missing::Blocking)).tips(Request::AllShards, Reply::Min).in_multi(InMulti::FanOut).acl("slow blocking connection"),
];

#[rustfmt::skip]
const TRANSACTIONS: &[Spec] = &[
    row("discard", 1, NOSCRIPT | LOADING | STALE | ALLOW_BUSY | FAST, NONE, Missing(Missing::Transactions)).in_multi(InMulti::AtOnce),
    row("exec", 1, NOSCRIPT | LOADING | STALE | SKIP_SLOWLOG, NONE, Missing(Missing::Transactions)).in_multi(InMulti::AtOnce),
    row("multi", 1, NOSCRIPT | LOADING | STALE | ALLOW_BUSY | FAST, NONE, Missing(Missing::Transactions)).in_multi(InMulti::AtOnce),
    row("unwatch", 1, NOSCRIPT | LOADING | STALE | ALLOW_BUSY | FAST, NONE, Local(Local::Unwatch)),
    row("watch", -2, NOSCRIPT | LOADING | STALE | ALLOW_BUSY | FAST, &[from(1, RO)], Missing(Missing::Transactions)).in_multi(InMulti::AtOnce),
];

#[rustfmt::skip]
const SCRIPTING: &[Spec] = &[
    row("eval", -3, NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RW | ACCESS | UPDATE)], Missing(Missing::Scripts)),
    row("eval_ro", -3, READONLY | NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RO | ACCESS)], Missing(Missing::Scripts)),
    row("evalsha", -3, NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RW | ACCESS | UPDATE)], Missing(Missing::Scripts)),
    row("evalsha_ro", -3, READONLY | NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RO | ACCESS)], Missing(Missing::Scripts)),
    row("fcall", -3, NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RW | ACCESS | UPDATE)], Missing(Missing::Scripts)),
    row("fcall_ro", -3, READONLY | NOSCRIPT | STALE | NO_MANDATORY_KEYS | SKIP_MONITOR, &[counted(2, RO | ACCESS)], Missing(Missing::Scripts)),
    row("function", -2, CONTAINER, NONE, Container),
    row("function|delete", 3, WRITE | NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("function|dump", 2, NOSCRIPT, NONE, Missing(Missing::Scripts)).in_multi(InMulti::FanOut),
    row("function|flush", -2, WRITE | NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("function|help", 2, LOADING | STALE, NONE, AnyShard),
    row("function|kill", 2, NOSCRIPT | ALLOW_BUSY, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::OneSucceeded).in_multi(InMulti::FanOut),
    row("function|list", -2, NOSCRIPT | NONDETERMINISTIC_OUTPUT_ORDER, NONE, Missing(Missing::Scripts)).in_multi(InMulti::FanOut),
    row("function|load", -3, WRITE | DENYOOM | NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("function|restore", -3, WRITE | DENYOOM | NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("function|stats", 2, NOSCRIPT | ALLOW_BUSY | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::Special).in_multi(InMulti::FanOut),
    row("script", -2, CONTAINER, NONE, Container),
    row("script|debug", 3, NOSCRIPT, NONE, Missing(Missing::Scripts)).in_multi(InMulti::FanOut),
    row("script|exists", -3, NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::LogicalAnd).in_multi(InMulti::FanOut),
    row("script|flush", -2, NOSCRIPT, NONE, Missing(Missing::Scripts)).tips(Request::AllNodes, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("script|help", 2, LOADING | STALE, NONE, AnyShard),
    row("script|kill", 2, NOSCRIPT | ALLOW_BUSY, NONE, Missing(Missing::Scripts)).tips(Request::AllShards, Reply::OneSucceeded).in_multi(InMulti::FanOut),
    row("script|load", 3, NOSCRIPT | STALE, NONE, Missing(Missing::Scripts)).tips(Request::AllNodes, Reply::AllSucceeded).in_multi(InMulti::FanOut),
    row("script|show", 3, NOSCRIPT, NONE, Missing(Missing::Scripts)).in_multi(InMulti::FanOut),
];

#[rustfmt::skip]
const PUB_SUB: &[Spec] = &[
    row("psubscribe", -2, PUBSUB | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
    row("publish", 3, PUBSUB | LOADING | STALE | FAST, NONE, Missing(Missing::PubSub)).in_multi(InMulti::Send),
    row("pubsub", -2, CONTAINER, NONE, Container),
    row("pubsub|channels", -2, PUBSUB | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::FanOut),
    row("pubsub|help", 2, LOADING | STALE, NONE, AnyShard),
    row("pubsub|numpat", 2, PUBSUB | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::FanOut),
    row("pubsub|numsub", -2, PUBSUB | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::FanOut),
    row("pubsub|shardchannels", -2, PUBSUB | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::FanOut),
    row("pubsub|shardnumsub", -2, PUBSUB | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::FanOut),
    row("punsubscribe", -1, PUBSUB | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
    row("spublish", 3, PUBSUB | LOADING | STALE | FAST, &[at(1, NOT_KEY)], Missing(Missing::PubSub)).in_multi(InMulti::Send),
    row("ssubscribe", -2, PUBSUB | NOSCRIPT | LOADING | STALE, &[from(1, NOT_KEY)], Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
    row("subscribe", -2, PUBSUB | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
    row("sunsubscribe", -1, PUBSUB | NOSCRIPT | LOADING | STALE, &[from(1, NOT_KEY)], Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
    row("unsubscribe", -1, PUBSUB | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::PubSub)).in_multi(InMulti::Refuse),
];

#[rustfmt::skip]
const CONNECTION: &[Spec] = &[
    row("auth", -2, NOSCRIPT | LOADING | STALE | NO_AUTH | ALLOW_BUSY | FAST, NONE, Local(Local::Auth)),
    row("client", -2, CONTAINER, NONE, Container),
    row("client|caching", 3, NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::Tracking)),
    row("client|capa", -3, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientCapa)),
    row("client|getname", 2, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientGetName)),
    row("client|getredir", 2, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientGetRedir)),
    row("client|help", 2, LOADING | STALE, NONE, Local(Local::ClientHelp)),
    row("client|id", 2, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientId)),
    row("client|import-source", 3, NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("client|info", 2, NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::ClientInfo)),
    row("client|kill", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientKill)),
    row("client|list", -2, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::ClientList)),
    row("client|no-evict", 3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientNoEvict)),
    row("client|no-touch", 3, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientNoTouch)),
    row("client|pause", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::ClientControl)),
    row("client|reply", 3, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientReply)),
    row("client|setinfo", 4, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientSetInfo)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("client|setname", 3, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientSetName)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("client|tracking", -3, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientTracking)).in_multi(InMulti::Refuse),
    row("client|trackinginfo", 2, NOSCRIPT | LOADING | STALE, NONE, Local(Local::ClientTrackingInfo)),
    row("client|unblock", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::Blocking)).in_multi(InMulti::Refuse),
    row("client|unpause", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::ClientControl)),
    row("echo", 2, LOADING | STALE | FAST, NONE, Local(Local::Echo)),
    row("hello", -1, NOSCRIPT | LOADING | STALE | NO_AUTH | ALLOW_BUSY | FAST, NONE, Local(Local::Hello)),
    row("ping", -1, FAST, NONE, Local(Local::Ping)).tips(Request::AllShards, Reply::AllSucceeded),
    row("quit", -1, NOSCRIPT | LOADING | STALE | NO_AUTH | ALLOW_BUSY | FAST, NONE, Local(Local::Quit)).in_multi(InMulti::AtOnce),
    row("reset", 1, NOSCRIPT | LOADING | STALE | NO_AUTH | ALLOW_BUSY | FAST, NONE, Local(Local::Reset)).in_multi(InMulti::AtOnce),
    row("select", 2, LOADING | STALE | FAST, NONE, Local(Local::Select)),
];

#[rustfmt::skip]
const CLUSTER: &[Spec] = &[
    row("asking", 1, FAST, NONE, Local(Local::Asking)).acl("fast connection"),
    row("cluster", -2, CONTAINER, NONE, Container),
    row("cluster|addslots", -3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|addslotsrange", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|bumpepoch", 2, ADMIN | STALE | NO_ASYNC_LOADING | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|cancelslotmigrations", -2, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|count-failure-reports", 3, ADMIN | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|countkeysinslot", 3, STALE, NONE, Local(Local::Cluster)),
    row("cluster|delslots", -3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|delslotsrange", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|failover", -2, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|flushslot", -3, WRITE | ADMIN | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|flushslots", 2, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|forget", 3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|getkeysinslot", 4, STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|getslotmigrations", 2, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|help", 2, LOADING | STALE, NONE, Local(Local::Cluster)),
    row("cluster|info", 2, STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|keyslot", 3, STALE, NONE, Local(Local::Cluster)),
    row("cluster|links", 2, STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|meet", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|migrateslots", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|migration", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|myid", 2, STALE, NONE, Local(Local::Cluster)),
    row("cluster|myshardid", 2, STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|nodes", 2, STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|replicas", 3, ADMIN | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|replicate", 3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|reset", -2, ADMIN | NOSCRIPT | STALE, NONE, Local(Local::Cluster)),
    row("cluster|saveconfig", 2, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|set-config-epoch", 3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|setslot", -4, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("cluster|shards", 2, LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|slaves", 3, ADMIN | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|slot-stats", -4, LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)).tips(Request::AllShards, Reply::Default),
    row("cluster|slots", 2, LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Cluster)),
    row("cluster|syncslots", -3, ADMIN | STALE | NO_ASYNC_LOADING, NONE, Local(Local::Cluster)),
    row("clusterscan", -2, READONLY, &[at(1, NOT_KEY)], Local(Local::Cluster)).tips(Request::Special, Reply::Special),
    row("readonly", 1, LOADING | STALE | FAST, NONE, Local(Local::ReadOnly)).acl("fast connection"),
    row("readwrite", 1, LOADING | STALE | FAST, NONE, Local(Local::ReadWrite)).acl("fast connection"),
];

#[rustfmt::skip]
const SERVER: &[Spec] = &[
    row("acl", -2, CONTAINER, NONE, Container),
    row("acl|cat", -2, NOSCRIPT | LOADING | STALE, NONE, AnyShard),
    row("acl|deluser", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("acl|dryrun", -4, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|genpass", -2, NOSCRIPT | LOADING | STALE, NONE, AnyShard),
    row("acl|getuser", 3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|help", 2, LOADING | STALE, NONE, AnyShard),
    row("acl|list", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|load", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|log", -2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|save", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("acl|setuser", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("acl|users", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Administration)),
    row("acl|whoami", 2, NOSCRIPT | LOADING | STALE, NONE, Local(Local::AclWhoAmI)),
    row("backup", 2, CONTAINER, NONE, Container),
    row("backup|abort", 2, ADMIN | NOSCRIPT, NONE, Refuse(Refusal::Administration)),
    row("backup|cleanup", 2, ADMIN | NOSCRIPT, NONE, Refuse(Refusal::Administration)),
    row("backup|help", 2, LOADING | STALE, NONE, AnyShard),
    row("backup|list", 2, ADMIN | STALE, NONE, Refuse(Refusal::Administration)),
    row("backup|seal", 2, ADMIN | NOSCRIPT, NONE, Refuse(Refusal::Administration)),
    row("backup|start", 2, ADMIN | NOSCRIPT, NONE, Refuse(Refusal::Administration)),
    row("backup|status", 2, ADMIN | STALE, NONE, Refuse(Refusal::Administration)),
    row("bgrewriteaof", 1, ADMIN | NOSCRIPT | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Administration)),
    row("bgsave", -1, ADMIN | NOSCRIPT | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Administration)),
    row("command", -1, LOADING | STALE | NONDETERMINISTIC_OUTPUT_ORDER | CONTAINER, NONE, Local(Local::Command)).acl("slow connection"),
    row("command|count", 2, LOADING | STALE, NONE, Local(Local::CommandCount)).acl("slow connection"),
    row("command|docs", -2, LOADING | STALE | NONDETERMINISTIC_OUTPUT_ORDER, NONE, Local(Local::CommandDocs)).acl("slow connection"),
    row("command|getkeys", -3, LOADING | STALE, NONE, Local(Local::CommandGetKeys)).acl("slow connection"),
    row("command|getkeysandflags", -3, LOADING | STALE, NONE, Local(Local::CommandGetKeysAndFlags)).acl("slow connection"),
    row("command|help", 2, LOADING | STALE, NONE, Local(Local::CommandHelp)).acl("slow connection"),
    row("command|info", -2, LOADING | STALE | NONDETERMINISTIC_OUTPUT_ORDER, NONE, Local(Local::CommandInfo)).acl("slow connection"),
    row("command|list", -2, LOADING | STALE | NONDETERMINISTIC_OUTPUT_ORDER, NONE, Local(Local::CommandList)).acl("slow connection"),
    row("commandlog", -2, CONTAINER, NONE, Container),
    row("commandlog|get", 4, ADMIN | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Default),
    row("commandlog|help", 2, LOADING | STALE, NONE, AnyShard),
    row("commandlog|len", 3, ADMIN | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Sum),
    row("commandlog|reset", 3, ADMIN | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("config", -2, CONTAINER, NONE, Container),
    row("config|get", -3, ADMIN | NOSCRIPT | LOADING | STALE, NONE, FanOut(FanOut::Config)),
    row("config|help", 2, LOADING | STALE, NONE, Local(Local::ConfigHelp)),
    row("config|resetstat", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("config|rewrite", 2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("config|set", -4, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("dbsize", 1, READONLY | FAST, NONE, FanOut(FanOut::Sum)).tips(Request::AllShards, Reply::Sum).acl("keyspace read fast"),
    row("debug", -2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Debugging)),
    row("failover", -1, ADMIN | NOSCRIPT | STALE, NONE, Refuse(Refusal::Administration)),
    row("flushall", -1, WRITE, NONE, FanOut(FanOut::AllSucceeded)).tips(Request::AllShards, Reply::AllSucceeded).acl("keyspace write slow dangerous"),
    row("flushdb", -1, WRITE, NONE, FanOut(FanOut::AllSucceeded)).tips(Request::AllShards, Reply::AllSucceeded).acl("keyspace write slow dangerous"),
    row("hotkeys", -2, CONTAINER, NONE, Container),
    row("hotkeys|get", 2, ADMIN | NOSCRIPT, NONE, Missing(Missing::OverShards)).tips(Request::Special, Reply::Special),
    row("hotkeys|help", 2, LOADING | STALE, NONE, AnyShard),
    row("hotkeys|reset", 2, ADMIN | NOSCRIPT, NONE, Missing(Missing::OverShards)).tips(Request::Special, Reply::Default),
    row("hotkeys|start", -2, ADMIN | NOSCRIPT, NONE, Missing(Missing::OverShards)).tips(Request::Special, Reply::Default),
    row("hotkeys|stop", 2, ADMIN | NOSCRIPT, NONE, Missing(Missing::OverShards)).tips(Request::Special, Reply::Default),
    row("info", -1, LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, FanOut(FanOut::Info)).tips(Request::AllShards, Reply::Special).acl("slow dangerous"),
    row("lastsave", 1, LOADING | STALE | FAST | NONDETERMINISTIC_OUTPUT, NONE, Refuse(Refusal::Administration)).acl("admin fast dangerous"),
    row("latency", -2, CONTAINER, NONE, Container),
    row("latency|doctor", 2, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Special),
    row("latency|graph", 3, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Special),
    row("latency|help", 2, LOADING | STALE, NONE, AnyShard),
    row("latency|histogram", -2, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Special),
    row("latency|history", 3, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Special),
    row("latency|latest", 2, ADMIN | NOSCRIPT | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Special),
    row("latency|reset", -2, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Sum),
    row("lolwut", -1, READONLY | FAST, NONE, Local(Local::Lolwut)),
    row("memory", -2, CONTAINER, NONE, Container),
    row("memory|doctor", 2, NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllShards, Reply::Special),
    row("memory|help", 2, LOADING | STALE, NONE, AnyShard),
    row("memory|malloc-stats", 2, NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllShards, Reply::Special),
    row("memory|purge", 2, 0, NONE, Missing(Missing::OverShards)).tips(Request::AllShards, Reply::AllSucceeded),
    row("memory|stats", 2, NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllShards, Reply::Special),
    row("memory|usage", -3, READONLY, &[at(2, RO)], Forward),
    row("module", -2, CONTAINER, NONE, Container),
    row("module|help", 2, LOADING | STALE, NONE, AnyShard),
    row("module|list", 2, ADMIN | NOSCRIPT | NONDETERMINISTIC_OUTPUT_ORDER, NONE, Refuse(Refusal::Administration)),
    row("module|load", -3, ADMIN | NOSCRIPT | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Administration)),
    row("module|loadex", -3, ADMIN | NOSCRIPT | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Administration)),
    row("module|unload", 3, ADMIN | NOSCRIPT | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Administration)),
    row("monitor", 1, ADMIN | NOSCRIPT | LOADING | STALE, NONE, Refuse(Refusal::Debugging)),
    row("psync", -3, ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI, NONE, Refuse(Refusal::Replication)),
    row("replconf", -1, ADMIN | NOSCRIPT | LOADING | STALE | ALLOW_BUSY, NONE, Refuse(Refusal::Replication)),
    row("replicaof", 3, ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Replication)),
    row("restore-asking", -4, WRITE | DENYOOM | ASKING, &[at(1, OW | UPDATE)], Refuse(Refusal::MovesKeys)).acl("keyspace write slow dangerous"),
    row("role", 1, NOSCRIPT | LOADING | STALE | FAST, NONE, Local(Local::Role)).acl("admin fast dangerous"),
    row("save", 1, ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI, NONE, Refuse(Refusal::Administration)),
    row("shutdown", -1, ADMIN | NOSCRIPT | LOADING | STALE | NO_MULTI | ALLOW_BUSY, NONE, Refuse(Refusal::Administration)),
    row("slaveof", 3, ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING, NONE, Refuse(Refusal::Replication)),
    row("slowlog", -2, CONTAINER, NONE, Container),
    row("slowlog|get", -2, ADMIN | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Default),
    row("slowlog|help", 2, LOADING | STALE, NONE, AnyShard),
    row("slowlog|len", 2, ADMIN | LOADING | STALE | NONDETERMINISTIC_OUTPUT, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::Sum),
    row("slowlog|reset", 2, ADMIN | LOADING | STALE, NONE, Missing(Missing::OverShards)).tips(Request::AllNodes, Reply::AllSucceeded),
    row("swapdb", 3, WRITE | FAST, NONE, Refuse(Refusal::MovesKeys)).acl("keyspace write fast dangerous"),
    row("sync", 1, ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI, NONE, Refuse(Refusal::Replication)),
    row("time", 1, LOADING | STALE | FAST | NONDETERMINISTIC_OUTPUT, NONE, Local(Local::Time)),
    row("trimslots", -5, WRITE, NONE, Refuse(Refusal::Replication)),
];

#[rustfmt::skip]
const MODULES: &[Spec] = &[
    row("bf.add", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("bf.card", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("bf.debug", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("bf.exists", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("bf.info", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("bf.insert", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("bf.loadchunk", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("bf.madd", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("bf.mexists", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("bf.reserve", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("bf.scandump", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.add", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.addnx", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.compact", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.count", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.debug", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.del", -2, WRITE | FAST | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.exists", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.info", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.insert", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.insertnx", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.loadchunk", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.mexists", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cf.reserve", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cf.scandump", -2, READONLY | FAST | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cms.incrby", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cms.info", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("cms.initbydim", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cms.initbyprob", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("cms.merge", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE), counted(2, RO | ACCESS)], Forward),
    row("cms.query", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ft._list", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.add", -1, WRITE | DENYOOM | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.aggregate", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.aliasadd", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.aliasdel", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.aliaslist", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.aliasupdate", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.alter", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.config", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.create", -1, WRITE | DENYOOM | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.cursor", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.del", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.dictadd", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.dictdel", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.dictdump", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.drop", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.dropindex", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.explain", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.explaincli", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.get", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.hybrid", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.info", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.mget", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.profile", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.safeadd", -1, WRITE | DENYOOM | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.search", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.spellcheck", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.sugadd", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ft.sugdel", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ft.sugget", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ft.suglen", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ft.synadd", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.syndump", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.synupdate", -1, WRITE | MODULE, NONE, Missing(Missing::OverShards)),
    row("ft.tagvals", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("json.arrappend", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.arrindex", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.arrinsert", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.arrlen", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.arrpop", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.arrtrim", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.clear", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.debug", -2, READONLY | MODULE | CONTAINER, NONE, Container),
    row("json.debug|help", -2, READONLY | MODULE, NONE, AnyShard),
    row("json.debug|memory", -3, READONLY | MODULE, &[at(2, RO | ACCESS)], Forward),
    row("json.del", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.forget", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.get", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.merge", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.mget", -2, READONLY | MODULE, &[range(1, -2, RO | ACCESS)], Forward),
    row("json.mset", -2, WRITE | DENYOOM | MODULE, &[every(3, 1, RW | UPDATE)], Forward),
    row("json.numincrby", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.nummultby", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.numpowby", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.objkeys", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.objlen", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.resp", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.set", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.strappend", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.strlen", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("json.toggle", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("json.type", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.add", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("tdigest.byrank", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.byrevrank", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.cdf", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.create", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("tdigest.info", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.max", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.merge", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE), counted(2, RO | ACCESS)], Forward),
    row("tdigest.min", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.quantile", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.rank", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.reset", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("tdigest.revrank", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("tdigest.trimmed_mean", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("topk.add", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("topk.count", -2, WRITE | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("topk.incrby", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("topk.info", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("topk.list", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("topk.query", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("topk.reserve", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.add", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.alter", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.create", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.createrule", -2, WRITE | DENYOOM | MODULE, &[range(1, 2, RW | UPDATE)], Forward),
    row("ts.decrby", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.del", -2, WRITE | MODULE, &[at(1, RW | DELETE)], Forward),
    row("ts.deleterule", -2, WRITE | MODULE, &[range(1, 2, RW | UPDATE)], Forward),
    row("ts.get", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ts.incrby", -2, WRITE | DENYOOM | MODULE, &[at(1, RW | UPDATE)], Forward),
    row("ts.info", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ts.madd", -2, WRITE | DENYOOM | MODULE, &[every(3, 1, RW | UPDATE)], Forward),
    row("ts.mget", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.mrange", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.mrevrange", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.nrange", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.nrevrange", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.queryindex", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.querylabels", -1, READONLY | MODULE, NONE, Missing(Missing::OverShards)),
    row("ts.range", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
    row("ts.read", -1, READONLY | MODULE, NONE, Missing(Missing::Blocking)),
    row("ts.revrange", -2, READONLY | MODULE, &[at(1, RO | ACCESS)], Forward),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_together() {
        for spec in ROWS {
            assert_eq!(spec.name, spec.name.to_ascii_lowercase());
            let handled = matches!(spec.handling, Forward | Split(_));
            assert!(!handled || spec.has_keys(), "{}: forwarded by no key", spec.name);
            assert!(!(spec.is_write() && spec.is_readonly()), "{}", spec.name);
            let split = spec.request == Request::MultiShard && spec.name != "msetex";
            assert_eq!(split, matches!(spec.handling, Split(_)), "{}", spec.name);
        }
    }
}
