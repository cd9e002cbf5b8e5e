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
