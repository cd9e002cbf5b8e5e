//! Key → hash slot, as Redis Cluster defines it.
//!
//! Owns the hash-tag rule, CRC16/XMODEM and the types `Slot` and `ShardId`. A `Slot` is below 16,384 by
//! construction, so nothing behind this file checks it again. Must never know which shard owns a slot: that is
//! `topology`'s.
//!
//! The checksum is the `crc16` crate's. For short keys, which nearly all are, the same sum is taken another way: it is
//! linear, so it is the exclusive or of what each byte adds at its distance from the end, and those look-ups don't
//! wait for each other as a byte-by-byte checksum's do. A test holds the two against each other at every length.

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
        if key.len() <= SHORT {
            let (sum, brace) = short_checksum(key);
            if !brace {
                return Slot(sum & (SLOTS - 1));
            }
        }
        Slot::of_tagged(key)
    }

    fn of_tagged(key: &[u8]) -> Slot {
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

/// Longest key whose checksum is taken by table.
const SHORT: usize = 32;

/// What a byte adds to the checksum when so many bytes follow it.
static ADDED: [[u16; 256]; SHORT] = added();

const fn added() -> [[u16; 256]; SHORT] {
    let mut table = [[0u16; 256]; SHORT];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = 0;
        let mut after = 0;
        while after < SHORT {
            sum = shifted(if after == 0 { (byte as u16) << 8 } else { sum });
            table[after][byte] = sum;
            after += 1;
        }
        byte += 1;
    }
    table
}

/// A checksum eight bits further on, by XMODEM's polynomial.
const fn shifted(mut sum: u16) -> u16 {
    let mut bit = 0;
    while bit < 8 {
        sum = if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 };
        bit += 1;
    }
    sum
}

/// The checksum of a key of at most [`SHORT`] bytes, and whether there is a `{` in it.
#[inline]
fn short_checksum(key: &[u8]) -> (u16, bool) {
    let (mut sum, mut brace, mut after) = (0, false, ADDED.as_slice());
    let mut rest = key;
    while let (Some((front, &last)), Some((added, others))) =
        (rest.split_last_chunk(), after.split_first_chunk())
    {
        sum ^= added_by(last, added);
        brace |= has_brace(last);
        (rest, after) = (front, others);
    }
    for (&byte, added) in rest.iter().rev().zip(after) {
        sum ^= added[byte as usize];
        brace |= byte == b'{';
    }
    (sum, brace)
}

/// What eight bytes add, of which the last has `added[0]`.
#[inline]
fn added_by(bytes: [u8; 8], added: &[[u16; 256]; 8]) -> u16 {
    let mut sum = 0;
    for i in 0..8 {
        sum ^= added[7 - i][bytes[i] as usize];
    }
    sum
}

/// Whether one of eight bytes is a `{`.
#[inline]
fn has_brace(bytes: [u8; 8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let zero_where_brace = u64::from_le_bytes(bytes) ^ (ONES * b'{' as u64);
    zero_where_brace.wrapping_sub(ONES) & !zero_where_brace & (ONES << 7) != 0
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
    fn short_keys_have_the_same_slot_either_way() {
        let bytes: Vec<u8> = (0..=255u8).cycle().step_by(7).take(4096).collect();
        for len in 0..=SHORT + 2 {
            for key in bytes.windows(len.max(1)).map(|window| &window[..len]) {
                assert_eq!(Slot::of(key), Slot::of_tagged(key), "{key:?}");
            }
        }
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
