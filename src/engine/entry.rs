//! One key with its value: what the table's pages hold.
//!
//! Key and value share one heap block (the key first), because a lookup that has compared the key has then already
//! fetched the value's first bytes, and because overwriting a value of the same size touches no allocator. Numbers
//! are kept as their digits: INCR pays for reading and writing a few digits, and every reader gets plain bytes.
//!
//! The encoding is a name that OBJECT ENCODING reports, nothing that the engine branches on; it follows Redis's
//! rules for when a string counts as int, embstr or raw.

use crate::resp::request::parse_integer;

/// The deadline of a key that does not expire.
pub const NEVER: i64 = i64::MAX;

/// Longest value that Redis keeps beside its header, and so calls embstr.
const EMBEDDED_BYTES_MAX: usize = 44;
/// Longest text that Redis tries to read as an integer.
const INTEGER_BYTES_MAX: usize = 20;
/// A block is given back in part when it is this many times too large and above `SLACK_BYTES`.
const SLACK_FACTOR: usize = 4;
const SLACK_BYTES: usize = 1024;
/// What the system's allocator spends on a block beside its bytes.
const BLOCK_OVERHEAD: usize = 16;

/// What OBJECT ENCODING calls the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Int,
    Embstr,
    Raw,
}

impl Encoding {
    /// What a value that arrives whole is called.
    #[inline]
    pub fn of(value: &[u8]) -> Encoding {
        if value.len() <= INTEGER_BYTES_MAX && parse_integer(value).is_some() {
            Encoding::Int
        } else {
            Encoding::short(value)
        }
    }

    /// As [`Encoding::of`], for text that is not an integer even where it looks like one.
    pub fn short(value: &[u8]) -> Encoding {
        if value.len() <= EMBEDDED_BYTES_MAX { Encoding::Embstr } else { Encoding::Raw }
    }
}

/// A key, its value, when it expires and when it was last used.
#[derive(Debug)]
pub struct Entry {
    /// `key_len` bytes of key, then the value.
    block: Vec<u8>,
    /// Unix milliseconds; [`NEVER`] without a TTL.
    pub deadline: i64,
    key_len: u32,
    /// Unix seconds of the last use, in 30 bits, and the encoding in the two above them.
    used: u32,
}

const USED_BITS: u32 = 30;
const USED_MASK: u32 = (1 << USED_BITS) - 1;

impl Entry {
    pub fn new(key: &[u8], value: &[u8], encoding: Encoding, deadline: i64) -> Entry {
        assert!(key.len() <= u32::MAX as usize, "a request is smaller");
        let mut block = Vec::with_capacity(key.len() + value.len());
        block.extend_from_slice(key);
        block.extend_from_slice(value);
        Entry { block, deadline, key_len: key.len() as u32, used: (encoding as u32) << USED_BITS }
    }

    #[inline]
    pub fn key(&self) -> &[u8] {
        &self.block[..self.key_len as usize]
    }

    #[inline]
    pub fn value(&self) -> &[u8] {
        &self.block[self.key_len as usize..]
    }

    /// Reads the ends of the key and value, to have their memory near.
    #[inline]
    pub fn glance(&self) -> u8 {
        self.block.first().unwrap_or(&0) ^ self.block.last().unwrap_or(&0)
    }

    #[inline]
    pub fn value_len(&self) -> usize {
        self.block.len() - self.key_len as usize
    }

    #[inline]
    pub fn set_value(&mut self, value: &[u8], encoding: Encoding) {
        self.block.truncate(self.key_len as usize);
        self.block.extend_from_slice(value);
        if self.block.capacity() > SLACK_BYTES + SLACK_FACTOR * self.block.len() {
            self.block.shrink_to_fit();
        }
        self.set_encoding(encoding);
    }

    pub fn append(&mut self, tail: &[u8]) {
        self.block.extend_from_slice(tail);
        self.set_encoding(Encoding::Raw);
    }

    /// The value's bytes, at least `len` of them, for writing in place.
    pub fn value_mut(&mut self, len: usize) -> &mut [u8] {
        let key_len = self.key_len as usize;
        if self.block.len() < key_len + len {
            self.block.resize(key_len + len, 0);
        }
        self.set_encoding(Encoding::Raw);
        &mut self.block[key_len..]
    }

    pub fn encoding(&self) -> Encoding {
        match self.used >> USED_BITS {
            0 => Encoding::Int,
            1 => Encoding::Embstr,
            _ => Encoding::Raw,
        }
    }

    #[inline]
    fn set_encoding(&mut self, encoding: Encoding) {
        self.used = (self.used & USED_MASK) | (encoding as u32) << USED_BITS;
    }

    /// Written only where it changes: a read should not make a cache line dirty.
    #[inline]
    pub fn touch(&mut self, now_ms: i64) {
        let used = (self.used & !USED_MASK) | ((now_ms / 1000) as u32 & USED_MASK);
        if used != self.used {
            self.used = used;
        }
    }

    pub fn idle_seconds(&self, now_ms: i64) -> i64 {
        let now = (now_ms / 1000) as u32 & USED_MASK;
        i64::from(now.saturating_sub(self.used & USED_MASK))
    }

    #[inline]
    pub fn has_deadline(&self) -> bool {
        self.deadline != NEVER
    }

    /// Heap bytes behind this entry.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        self.block.capacity() + BLOCK_OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_survives_a_touch_and_a_value_its_key() {
        let mut entry = Entry::new(b"key", b"12", Encoding::of(b"12"), NEVER);
        entry.touch(1_700_000_000_000);
        assert_eq!(entry.encoding(), Encoding::Int);
        entry.append(b"3");
        assert_eq!(entry.encoding(), Encoding::Raw);
        entry.touch(1_700_000_001_000);
        assert_eq!((entry.key(), entry.value()), (&b"key"[..], &b"123"[..]));
        assert_eq!(entry.idle_seconds(1_700_000_005_000), 4);
    }

    #[test]
    fn a_large_block_is_given_back() {
        let mut entry = Entry::new(b"k", &[1; 100_000], Encoding::Raw, NEVER);
        entry.set_value(b"small", Encoding::Embstr);
        assert!(entry.heap_bytes() < 200);
    }
}
