//! What a row of the command table says.
//!
//! Commands are rows: nothing else in the program matches on a command's name. A row carries what the server's own
//! COMMAND says (arity, flags, key specs, request and response policy) and what onetrip does with it (`Handling`,
//! `InMulti`). `table` is the rows, data only; `lookup` goes from a name to its row without allocation; `keys` goes
//! from a row and a request to the request's keys.

/// Position of a row in the table: small enough to travel with every reply that is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecId(pub u16);

/// One command or subcommand.
#[derive(Debug)]
pub struct Spec {
    /// Lower case; a subcommand as `container|sub`.
    pub name: &'static str,
    /// Arguments with the name (for a subcommand with both names); negative: at least as many.
    pub arity: i16,
    pub flags: Flags,
    pub keys: &'static [KeySpec],
    /// Index of the key where the command has exactly one, always at the same place; 0 where it is not so.
    pub lone_key: u8,
    pub request: RequestPolicy,
    pub reply: ReplyPolicy,
    pub in_multi: InMulti,
    pub handling: Handling,
}

/// The server's command flags that onetrip acts on or reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

/// How a server tells where keys are: begin_search and find_keys of COMMAND's key specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    pub begin: Begin,
    pub find: Find,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    Index(i16),
    /// The first argument equal to the word, from `from` on (negative: searched backwards from the end).
    Keyword(&'static str, i16),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// From the beginning to `last` (relative; negative: from the end of the arguments), every `step`-th;
    /// `limit` 2 or more: only the first 1/limit of what remains (XREAD), where `last` is −1.
    Range {
        last: i16,
        step: i16,
        limit: i16,
    },
    /// A count of keys at `at`, the first key at `first`, every `step`-th (both relative to the beginning).
    KeyNum {
        at: i16,
        first: i16,
        step: i16,
    },
    Unknown,
}

/// Which shards a request goes to (COMMAND's request_policy tip).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPolicy {
    /// By its keys: one slot.
    Keyed,
    /// Cut by its keys, a part to each shard concerned.
    MultiShard,
    AllShards,
    AllNodes,
    Special,
}

/// How the parts of a reply become one (COMMAND's response_policy tip).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyPolicy {
    /// One shard's reply passes as it is; parts of several are put in the order asked.
    Default,
    Sum,
    Min,
    LogicalAnd,
    AllSucceeded,
    OneSucceeded,
    Concat,
    Special,
}

/// What the command is inside MULTI … EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InMulti {
    /// Queued and sent to the shard with the block.
    Send,
    /// Answered by onetrip; its reply is spliced into EXEC's array.
    Local,
    Refuse,
    /// Over all shards: sent with one shard, refused with several.
    FanOut,
}

/// What onetrip does with it outside MULTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// To the shard of its keys; several slots: CROSSSLOT.
    Forward,
    /// Cut per shard by its keys and put together again.
    Split(Split),
    /// To every shard, replies merged.
    FanOut(FanOut),
    /// Answered here.
    Local(Local),
    /// A feature that this version has not; answered at once with an error that says so.
    Missing(Missing),
    /// Never to be had through a proxy; answered with the reason.
    Refuse(Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// DEL EXISTS TOUCH UNLINK: keys, sum of integers.
    Sum,
    /// MGET: keys, values in the order asked.
    Values,
    /// MSET: key-value pairs, all OK.
    Pairs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanOut {
    Sum,
    AllSucceeded,
    /// KEYS: arrays one after the other.
    Concat,
    /// One shard after the other behind one cursor.
    Scan,
    RandomKey,
    Info,
}

/// What onetrip answers itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    Ping,
    Echo,
    Hello,
    Auth,
    Select,
    Quit,
    Reset,
    ReadOnly,
    ReadWrite,
    Asking,
    Time,
    Role,
    Lolwut,
    Unwatch,
    Command,
    CommandCount,
    CommandDocs,
    CommandInfo,
    CommandList,
    CommandGetKeys,
    CommandGetKeysAndFlags,
    CommandHelp,
    ClientId,
    ClientInfo,
    ClientList,
    ClientGetName,
    ClientSetName,
    ClientSetInfo,
    ClientReply,
    ClientNoEvict,
    ClientNoTouch,
    ClientTracking,
    ClientTrackingInfo,
    ClientGetRedir,
    ClientKill,
    ClientHelp,
    ConfigGet,
    ConfigHelp,
    /// CLUSTER …: cluster support disabled.
    Cluster,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Transactions,
    Blocking,
    PubSub,
    Scripts,
    Tracking,
    /// Over all shards, but not merged yet (SLOWLOG, LATENCY, CONFIG SET …).
    OverShards,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// SHUTDOWN, REPLICAOF, MODULE …: an operator's, on the shard itself.
    Administration,
    /// SYNC, PSYNC, REPLCONF …: between servers.
    Replication,
    /// MIGRATE, SWAPDB …: would move keys to where onetrip would not find them.
    MovesKeys,
    Debugging,
}
