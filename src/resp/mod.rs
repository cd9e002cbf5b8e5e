//! The wire vocabulary of RESP2 and RESP3.
//!
//! `request` reads what clients send, `reply` finds where a shard's replies end without building them, `value`
//! builds reply trees for the control plane and the few merges, `write` is the only writer of CRLF. All of it is
//! plain functions over bytes: no socket, no clock.

pub mod reply;
pub mod request;
pub mod value;
pub mod write;

/// The protocol version that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Proto {
    #[default]
    Resp2,
    Resp3,
}

impl Proto {
    pub const ALL: [Proto; 2] = [Proto::Resp2, Proto::Resp3];

    /// As HELLO writes it: 2 or 3.
    pub fn number(self) -> i64 {
        match self {
            Proto::Resp2 => 2,
            Proto::Resp3 => 3,
        }
    }

    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}
