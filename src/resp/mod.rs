//! The wire vocabulary of RESP2 and RESP3.
//!
//! `request` reads what clients send, `reply` finds where a shard's replies end without building them, `value`
//! builds reply trees for the control plane and the few merges, `write` is the only writer of CRLF. All of it is
//! plain functions over bytes: no socket, no clock.

pub mod reply;
pub mod request;
pub mod value;
mod words;
pub mod write;

/// The length in the header of a bulk of up to 999 bytes, and how long the header is. `None`: it is longer, cut, or
/// none. The shortest bulk has six bytes, so no bulk that is there as a whole is missed for want of bytes.
#[inline]
fn short_bulk(bytes: &[u8]) -> Option<(usize, usize)> {
    let digit = |byte: u8| usize::from(byte - b'0');
    match *bytes.first_chunk::<6>()? {
        [b'$', a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', b'\n', _] => Some((digit(a) * 10 + digit(b), 5)),
        [b'$', a @ b'0'..=b'9', b'\r', b'\n', ..] => Some((digit(a), 4)),
        [b'$', a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b'\r', b'\n'] => {
            Some((digit(a) * 100 + digit(b) * 10 + digit(c), 6))
        }
        _ => None,
    }
}

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
