//! What onetrip does with a command: the vocabulary of the rows' last columns.
//!
//! The policies are the server's own tips (COMMAND's request_policy and response_policy); `Handling` and `InMulti`
//! are onetrip's decision, made once, in the table. Whoever acts on a request matches on these and never on a name.
//! A feature that comes later changes rows from `Missing` to what it brings.

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
    /// Never queued: MULTI EXEC DISCARD WATCH QUIT RESET act at once, as on a server.
    AtOnce,
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
    /// Names no key and asks what every shard knows alike (help texts): to any one of them.
    AnyShard,
    /// A container called by a name that is none of its subcommands' (its arity refuses it alone).
    Container,
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
    /// CONFIG GET: settings that are the shards', and those that are onetrip's own.
    Config,
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
    /// Valkey's CLIENT CAPA: what the client can do with redirects; always OK.
    ClientCapa,
    AclWhoAmI,
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
    /// CLIENT PAUSE and UNPAUSE.
    ClientControl,
    /// MOVE: into a database that nobody can select.
    Databases,
    /// HIMPORT: what it prepares lives in one connection to the server.
    SessionState,
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
