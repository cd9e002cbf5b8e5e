//! SCAN's cursor: one number that says which shard is being scanned and where that shard is.
//!
//! ```text
//!   bit 63 …                         12 11        0
//!   ┌──────────────────────────────────┬───────────┐
//!   │ the server's own cursor          │ shard     │
//!   └──────────────────────────────────┴───────────┘
//! ```
//!
//! The shard stands in the low bits, so the number stays as short as the server's cursor is. A server's cursor is
//! less than the number of buckets of its table (reversed bits, so every bit below the table's size is in use),
//! shifted by 14 where a cluster keeps a table a slot. Below 2^41, which is a table of 2^41 buckets in one or 2^27
//! for each slot in the other, ours is below 2^53 and survives clients that keep numbers as doubles. Up to 2^52 it
//! still fits into 64 bits, which is all that the protocol asks of a client. Beyond that there is no cursor to give.
//!
//! The number does not depend on how many shards there are: one that names a shard that is not there is refused.

use crate::resp::{request::parse_integer, value};
use crate::slot::ShardId;

const SHARD_BITS: u32 = 12;
/// One more than the highest shard that a cursor can name.
pub const SHARDS_MAX: u16 = 1 << SHARD_BITS;
const SERVER_MAX: u64 = u64::MAX >> SHARD_BITS;

/// What a client's cursor that is none is answered with.
pub const INVALID: &str = "ERR invalid cursor";

/// A place in the scan over all shards. The beginning and the end are both the number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub shard: ShardId,
    /// What the shard is sent.
    pub server: u64,
}

impl Cursor {
    /// The client's cursor; `None` where it is no number or names no shard.
    pub fn decode(text: &[u8], shards: u16) -> Option<Cursor> {
        let number = unsigned(text)?;
        let shard = (number & u64::from(SHARDS_MAX - 1)) as u16;
        (shard < shards).then_some(Cursor { shard: ShardId(shard), server: number >> SHARD_BITS })
    }

    pub fn encode(self) -> u64 {
        assert!(
            self.shard.0 < SHARDS_MAX && self.server <= SERVER_MAX,
            "a cursor that no client can send back"
        );
        self.server << SHARD_BITS | u64::from(self.shard.0)
    }

    /// Where the scan goes on after a shard has answered with this cursor (a string, as it was sent): there, at the
    /// beginning of the next shard, or after the last one nowhere.
    pub(super) fn of_reply(shard: ShardId, reply: &[u8], shards: u16) -> Option<Cursor> {
        let (cursor, _) = value::parse(reply).ok()??;
        let server = unsigned(cursor.text()?)?;
        if shard.0 >= SHARDS_MAX || server > SERVER_MAX {
            return None;
        }
        Some(match server {
            0 if shard.0 + 1 < shards.min(SHARDS_MAX) => Cursor { shard: ShardId(shard.0 + 1), server: 0 },
            0 => Cursor { shard: ShardId(0), server: 0 },
            _ => Cursor { shard, server },
        })
    }
}

/// Decimal digits within 64 bits. Leading zeros are let pass, as servers do.
fn unsigned(text: &[u8]) -> Option<u64> {
    let significant = text.iter().position(|&b| b != b'0').map_or(&b"0"[..], |at| &text[at..]);
    if text.is_empty() {
        return None;
    }
    match parse_integer(significant) {
        Some(n) => u64::try_from(n).ok(),
        // Above i64's range: 20 digits or the upper half of 19.
        None if significant.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(significant).ok()?.parse().ok()
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_as_they_went() {
        for (shard, server) in [(0, 0), (0, 1), (3, 0), (4095, 1 << 41), (7, SERVER_MAX)] {
            let cursor = Cursor { shard: ShardId(shard), server };
            let sent = cursor.encode().to_string();
            assert_eq!(Cursor::decode(sent.as_bytes(), 4096), Some(cursor));
        }
        assert!(Cursor { shard: ShardId(4095), server: (1 << 41) - 1 }.encode() < 1 << 53);
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "x", "-1", "1x", " 1", "18446744073709551616", "3", "4095"] {
            assert_eq!(Cursor::decode(text.as_bytes(), 3), None, "{text}");
        }
        assert_eq!(Cursor::decode(b"000", 3), Cursor::decode(b"0", 3));
        assert!(Cursor::decode(b"18446744073709551615", 4096).is_some());
    }

    #[test]
    fn a_cursor_too_long_to_carry_is_not_given() {
        let reply = format!("$20\r\n{}\r\n", u64::MAX);
        assert_eq!(Cursor::of_reply(ShardId(0), reply.as_bytes(), 2), None);
    }
}
