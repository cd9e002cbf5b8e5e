//! Every bound in the program, with its reason, and the relations that must hold between them.
//!
//! A bound that an operator may change is here as its default; the configuration carries the value in force.

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
/// What a client's first replies are taken to be like, until it has drawn some: with the output bound of 16 MiB
/// it may have 1,024 commands in flight.
pub const REPLY_BYTES_ASSUMED: u32 = 16 * 1024;
/// One read of a socket. A worker reads into one buffer of this size, so that idle connections hold none.
pub const READ_BYTES: usize = 64 * 1024;
/// A request from this size on is shared with its lane instead of copied.
pub const SHARED_REQUEST_BYTES: usize = 32 * 1024;
const _: () = assert!(SHARED_REQUEST_BYTES < READ_BYTES);
