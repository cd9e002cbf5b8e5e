//! Key → hash slot, as Redis Cluster defines it.
//!
//! Owns the hash-tag rule, CRC16/XMODEM and the types `Slot` and `ShardId`. A `Slot` is below 16,384 by
//! construction, so nothing behind this file checks it again. Must never know which shard owns a slot: that is
//! `topology`'s.

use crc16::{State, XMODEM};

/// Number of hash slots (Redis Cluster specification).
pub const SLOTS: u16 = 16_384;

/// A hash slot, 0 … 16,383.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The slot of a key: of its hash tag where it has one, else of all its bytes.
    #[inline]
    pub fn of(key: &[u8]) -> Slot {
        Slot(State::<XMODEM>::calculate(hash_tag(key).unwrap_or(key)) & (SLOTS - 1))
    }

    /// A slot by its number; `None` from 16,384 on.
    pub fn new(number: u16) -> Option<Slot> {
        (number < SLOTS).then_some(Slot(number))
    }

    #[inline]
    pub fn number(self) -> u16 {
        self.0
    }

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What stands between the first `{` and the next `}`, where that is not empty.
#[inline]
pub fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&b| b == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|&b| b == b'}')?;
    (close > 0).then(|| &rest[..close])
}

/// Position of a shard in the configuration, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u16);

impl ShardId {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for ShardId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_the_cluster_specification() {
        assert_eq!(Slot::of(b"123456789").number(), 0x31C3);
        assert_eq!(Slot::of(b"foo").number(), 12_182);
        assert_eq!(Slot::of(b"").number(), 0);
    }

    #[test]
    fn hash_tags_follow_the_specification() {
        assert_eq!(hash_tag(b"{user1000}.following"), Some(&b"user1000"[..]));
        assert_eq!(hash_tag(b"foo{}{bar}"), None);
        assert_eq!(hash_tag(b"foo{{bar}}zap"), Some(&b"{bar"[..]));
        assert_eq!(hash_tag(b"foo{bar}{zap}"), Some(&b"bar"[..]));
        assert_eq!(hash_tag(b"no{close"), None);
        assert_eq!(Slot::of(b"{foo}bar"), Slot::of(b"foo"));
    }
}
