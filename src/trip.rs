//! The contract between the client side and the shard side.
//!
//! The client side hands a lane an [`Order`]: the bytes of one request and a [`Ticket`] for its reply. The lane
//! brings the reply back to the window that the ticket belongs to, or a [`Failure`] in its place: one or the other,
//! exactly once. What one batch of a client gives one lane in one turn is a trip.

use crate::slot::ShardId;
use bytes::Bytes;

/// Time since the process started, in nanoseconds: passed into the middle, never read by it.
pub type Nanos = u64;

pub const NANOS_PER_MS: u64 = 1_000_000;

/// Which reply of a window is meant: the request's number, and the part where a request was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub seq: u32,
    pub part: u16,
}

/// One request on its way to a shard.
pub struct Order<'a> {
    pub frame: Frame<'a>,
    pub ticket: Ticket,
    /// Flagged readonly by the table: may be sent once more when its lane is lost.
    pub readonly: bool,
}

/// The bytes of a request: small ones are copied into their lane, large ones shared with it.
pub enum Frame<'a> {
    Copied(&'a [u8]),
    Shared(Bytes),
}

impl Frame<'_> {
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Frame::Copied(bytes) => bytes.len(),
            Frame::Shared(bytes) => bytes.len(),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a request got no reply from its shard. The prefixes matter: clients send `TRYAGAIN` again and not `ERR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Not one byte was sent.
    Unreachable,
    /// Sent, and the connection was lost before the reply.
    Lost,
    /// Sent, and no reply in time.
    TimedOut,
}

impl Failure {
    /// Whether the shard may have executed the request.
    pub fn unknown_outcome(self) -> bool {
        self != Failure::Unreachable
    }

    /// The error line without its `-`; `address` is where the shard was to be found.
    pub fn text(self, shard: ShardId, address: &str) -> String {
        match self {
            Failure::Unreachable => format!("TRYAGAIN onetrip: shard {shard} is unreachable, not executed"),
            Failure::Lost => format!("ERR onetrip: outcome unknown (shard {shard} at {address}: connection lost)"),
            Failure::TimedOut => format!("ERR onetrip: outcome unknown (shard {shard} at {address}: timed out)"),
        }
    }
}
