//! Every bound in the program, with its reason, and the relations that must hold between them.
//!
//! A bound that an operator may change is here as its default; the configuration carries the value in force.

use std::time::Duration;

/// Longest inline request and longest `*` or `$` line: Redis's PROTO_INLINE_MAX_SIZE.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;
/// Longest bulk string: Redis's default proto-max-bulk-len.
pub const BULK_BYTES_MAX: i64 = 512 * 1024 * 1024;
/// Longest request. Spans are 32 bits wide, and a request has to fit into memory whole before it is sent on.
pub const REQUEST_BYTES_MAX: usize = BULK_BYTES_MAX as usize + 64 * 1024 * 1024;
/// What a client may send before it has given the password (Redis, after CVE-2021-32675).
pub const UNAUTHENTICATED_ARGS: i64 = 10;
pub const UNAUTHENTICATED_BULK_BYTES: i64 = 16_384;

const _: () = assert!(REQUEST_BYTES_MAX < u32::MAX as usize);
const _: () = assert!(REQUEST_BYTES_MAX > BULK_BYTES_MAX as usize);

/// Longest bulk string that a shard may send: twice what it accepts, since scripts can build longer ones.
pub const REPLY_BULK_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Most elements of one reply: 2^31, as many as a server's own counters allow.
pub const REPLY_ELEMENTS_MAX: u64 = 1 << 31;

/// Replies up to this size are held until they are complete, so that a lost shard never leaves a client half a
/// frame; longer ones are streamed to the client at the head of its window.
pub const STREAM_BYTES: usize = 1024 * 1024;
/// A shard's socket is not read while a client that is being streamed a large reply has more than three quarters of the
/// hard output bound unread. An eighth of that must be read within this time, or the client is closed. Others on the
/// lane wait for as long, which is the price of a reply that nobody could hold.
pub const STREAM_PATIENCE: Duration = Duration::from_secs(2);
/// What a client's first replies are taken to be like, until it has drawn some: with the output bound of 16 MiB
/// it may have 1,024 commands in flight.
pub const REPLY_BYTES_ASSUMED: u32 = 16 * 1024;
/// One read of a socket. A worker reads into one buffer of this size, so that idle connections hold none.
pub const READ_BYTES: usize = 64 * 1024;
/// A request from this size on is shared with its lane instead of copied.
pub const SHARED_REQUEST_BYTES: usize = 32 * 1024;
const _: () = assert!(SHARED_REQUEST_BYTES < READ_BYTES);

/// How long a command waits for a shard that can't be reached, reconnects included: shorter than what the common
/// clients wait for a reply (2 s and up), so that they are told and don't hang up.
pub const CONNECT_MS: u64 = 1_000;
/// How long a command that was sent waits for its reply. Redis calls a script slow after the same time
/// (busy-reply-threshold).
pub const REQUEST_MS: u64 = 5_000;
/// Silence after which a lane that owes replies is probed, and closed if the probe fails too.
pub const LANE_DEAD_MS: u64 = 10_000;
/// How long after a refused MULTI the commands of its block may still be on their way: what comes later was sent by a
/// client that has read the refusal.
pub const REFUSED_BLOCK_MS: u64 = 1_000;
/// How long a client may take to give the password.
pub const HANDSHAKE_MS: u64 = 10_000;
/// How long what is in flight may take after SIGTERM. Below the 30 s that supervisors commonly give.
pub const DRAIN_MS: u64 = 10_000;
/// Pause before a lane is opened again: doubled from the first to the last, with jitter.
pub const RECONNECT_MIN_MS: u64 = 50;
pub const RECONNECT_MAX_MS: u64 = 2_000;
/// TCP keep-alive of clients: Redis's tcp-keepalive.
pub const TCP_KEEPALIVE_S: u64 = 300;
/// Idle clients are kept for ever, as with Redis's `timeout 0`.
pub const IDLE_TIMEOUT_S: u64 = 0;

/// Clients at a time: Redis's maxclients.
pub const CLIENTS_MAX: usize = 10_000;
/// Commands in flight of one client: the least that its window shrinks to, and the most that it grows to. More than
/// the most saves nothing: 4,096 in one trip make a trip's cost vanish.
pub const WINDOW_MIN: usize = 16;
pub const WINDOW_MAX: usize = 4_096;
/// Bytes of one client's requests in flight.
pub const CLIENT_BYTES_IN_FLIGHT: usize = 8 * 1024 * 1024;
/// Output that one client has not read: from the soft bound on it is not read from, over the hard one it is closed.
pub const OUTPUT_SOFT_BYTES: usize = 16 * 1024 * 1024;
pub const OUTPUT_HARD_BYTES: usize = 64 * 1024 * 1024;
/// What all clients together may have held for them and be about to draw. When it runs short the heaviest wait: each may
/// have a part of what is free, though never less than the least share, which a pipeline of ordinary commands fits in.
pub const MEMORY_TOTAL_BYTES: usize = 1024 * 1024 * 1024;
pub const CLIENT_SHARE_MIN: usize = 64 * 1024;
/// A request that is only half there can't be made room for by its own replies: the client waits for others to give
/// back memory, for so long, and is then told that there is none.
pub const MEMORY_PATIENCE: Duration = Duration::from_secs(10);
/// Requests that wait in one lane. Over it the clients that want this shard are not read from, nobody else.
pub const LANE_BYTES: usize = 16 * 1024 * 1024;
/// Most shards and workers of one onetrip: above any machine today; each worker has a lane to each shard.
pub const SHARDS_MAX: usize = 1_024;
pub const WORKERS_MAX: usize = 256;
/// Shards that one worker feeds (ARCHITECTURE.md, decision 1).
pub const SHARDS_PER_WORKER: usize = 4;

// A second attempt fits into the wait for a shard.
const _: () = assert!(RECONNECT_MIN_MS * 2 < CONNECT_MS && RECONNECT_MIN_MS <= RECONNECT_MAX_MS);
// A slow command is not taken for a dead lane.
const _: () = assert!(LANE_DEAD_MS > REQUEST_MS);
// What may be waited for while draining has its time.
const _: () = assert!(DRAIN_MS > REQUEST_MS);
const _: () = assert!(WINDOW_MIN <= WINDOW_MAX && OUTPUT_SOFT_BYTES < OUTPUT_HARD_BYTES);
// One client at its bounds leaves room for others.
const _: () = assert!(MEMORY_TOTAL_BYTES > 2 * (OUTPUT_HARD_BYTES + CLIENT_BYTES_IN_FLIGHT));
// The longest request fits in.
const _: () = assert!(MEMORY_TOTAL_BYTES > REQUEST_BYTES_MAX);
// One client alone can't stop a lane.
const _: () = assert!(LANE_BYTES > CLIENT_BYTES_IN_FLIGHT);
// A shard's position is 16 bits wide.
const _: () = assert!(SHARDS_MAX <= u16::MAX as usize);

/// The timeouts in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    pub request: Duration,
    pub lane_dead: Duration,
    pub handshake: Duration,
    pub drain: Duration,
    pub reconnect_min: Duration,
    pub reconnect_max: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_millis(CONNECT_MS),
            request: Duration::from_millis(REQUEST_MS),
            lane_dead: Duration::from_millis(LANE_DEAD_MS),
            handshake: Duration::from_millis(HANDSHAKE_MS),
            drain: Duration::from_millis(DRAIN_MS),
            reconnect_min: Duration::from_millis(RECONNECT_MIN_MS),
            reconnect_max: Duration::from_millis(RECONNECT_MAX_MS),
        }
    }
}

/// What one client may have in flight, in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    pub window_min: usize,
    pub window_max: usize,
    /// Bytes of requests in flight.
    pub request_bytes: usize,
    pub output_soft: usize,
    pub output_hard: usize,
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            window_min: WINDOW_MIN,
            window_max: WINDOW_MAX,
            request_bytes: CLIENT_BYTES_IN_FLIGHT,
            output_soft: OUTPUT_SOFT_BYTES,
            output_hard: OUTPUT_HARD_BYTES,
        }
    }
}

/// The bounds in force that an operator may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub clients: usize,
    pub client: ClientLimits,
    pub lane_bytes: usize,
    pub memory_total: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            clients: CLIENTS_MAX,
            client: ClientLimits::default(),
            lane_bytes: LANE_BYTES,
            memory_total: MEMORY_TOTAL_BYTES,
        }
    }
}

/// A lane keeps its write buffer between turns up to this size.
pub const LANE_BUFFER_KEPT: usize = 1024 * 1024;
