//! A page of the table: a handful of entries behind a header of one cache line.
//!
//! The header has 16 bits of hash for each of the first 16 entries, so that a lookup reads one line and then, nearly
//! always, only the entry that it wants. A page may hold more than it has tags for; those are compared key by key.
//! A page doesn't know which hashes belong to it; that is the table's.

use super::entry::{Entry, NEVER};

/// Entries that have a tag. Pages hold 3 to 14 on average.
const TAGS: usize = 16;
/// Entries are made room for in steps of this many.
const ENTRIES_STEP: usize = 4;

#[derive(Debug)]
#[repr(align(64))]
pub struct Page {
    /// Of the first entries, in their order.
    pub tags: [u16; TAGS],
    pub entries: Vec<Entry>,
    /// No entry of the page expires before this; it may be too early, never too late.
    pub earliest: i64,
}

const _: () = assert!(size_of::<Page>() == 64);

impl Page {
    pub fn new() -> Page {
        Page { tags: [0; TAGS], entries: Vec::new(), earliest: NEVER }
    }

    /// One bit for each tagged entry whose tag is `tag`.
    #[inline]
    pub fn hits(&self, tag: u16) -> u32 {
        let mut hits = 0;
        for (i, &t) in self.tags.iter().enumerate() {
            hits |= u32::from(t == tag) << i;
        }
        hits & !(u32::MAX << self.entries.len().min(TAGS))
    }

    #[inline]
    pub fn find(&self, tag: u16, key: &[u8]) -> Option<usize> {
        let mut hits = self.hits(tag);
        while hits != 0 {
            let i = hits.trailing_zeros() as usize;
            if self.entries[i].key() == key {
                return Some(i);
            }
            hits &= hits - 1;
        }
        if self.entries.len() <= TAGS {
            return None;
        }
        let beyond = self.entries[TAGS..].iter().position(|e| e.key() == key)?;
        Some(TAGS + beyond)
    }

    pub fn push(&mut self, tag: u16, entry: Entry) {
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(ENTRIES_STEP);
        }
        if let Some(slot) = self.tags.get_mut(self.entries.len()) {
            *slot = tag;
        }
        self.earliest = self.earliest.min(entry.deadline);
        self.entries.push(entry);
    }

    /// Finds the earliest deadline anew.
    pub fn settle(&mut self) {
        self.earliest = self.entries.iter().map(|e| e.deadline).min().unwrap_or(NEVER);
    }
}

/// The bits of a hash that pages tell entries apart by; the table uses the low ones.
#[inline]
pub fn tag(hash: u64) -> u16 {
    (hash >> 48) as u16
}

#[cfg(test)]
mod tests {
    use super::super::entry::Encoding;
    use super::*;

    #[test]
    fn entries_beyond_the_tags_are_found_too() {
        let mut page = Page::new();
        for i in 0..40u8 {
            page.push(u16::from(i % 3), Entry::new(&[i], b"", Encoding::Embstr, i64::from(100 - i)));
        }
        for i in 0..40u8 {
            assert_eq!(page.find(u16::from(i % 3), &[i]), Some(usize::from(i)));
        }
        assert_eq!((page.find(0, &[77]), page.earliest), (None, 61));
    }
}
