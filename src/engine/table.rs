//! The hash table of one database: linear hashing over pages of one cache line.
//!
//! It grows and shrinks by one page at a time, so no insert ever pays for a rehash of the whole, and memory follows
//! the number of keys down as well as up. A page's header (tags, earliest deadline, pointer to its entries) is 64
//! bytes: a lookup costs one line for the header, one for the entry, one for the key and value.
//!
//! Page of a key: the low bits of its hash, one bit more for pages that the current round has split already. SCAN
//! walks the pages in the order of the reversed bits of those hashes. A split or a merge never carries a key over
//! a position in that order, so a key that is present throughout a scan is returned at least once.
//!
//! What it never does: look at values, know the time, or hold two entries of one key (the caller looks first).

use super::entry::Entry;
use super::page::{Page, tag};
use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;
use std::hash::Hasher;

/// A page is split off when there are more keys a page than this, and merged away when fewer than `KEYS_MIN`.
const KEYS_MAX: usize = 7;
const KEYS_MIN: usize = 3;
/// Pages are allocated in chunks, so that a growing table never copies all of its pages at once.
const CHUNK_BITS: usize = 9;
const CHUNK_PAGES: usize = 1 << CHUNK_BITS;

/// Where an entry lies, until the table is next changed.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    page: usize,
    index: usize,
}

/// How far a glance goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Page,
    Entry,
    Block,
}

#[derive(Debug)]
pub struct Table {
    chunks: Vec<Vec<Page>>,
    /// Number of pages; `1 << round` ≤ pages < `2 << round`.
    pages: usize,
    round: u32,
    len: usize,
    seed: u64,
}

impl Table {
    pub fn new(seed: u64) -> Table {
        Table { chunks: vec![vec![Page::new()]], pages: 1, round: 0, len: 0, seed }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Bytes of the table itself, its entries included and what they own not.
    pub fn own_bytes(&self) -> usize {
        self.pages * size_of::<Page>() + self.len * size_of::<Entry>()
    }

    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, SharedSeed::global_fixed());
        hasher.write(key);
        hasher.finish()
    }

    #[inline]
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Place> {
        let page = self.page_of(hash);
        let index = self.page(page).find(tag(hash), key)?;
        Some(Place { page, index })
    }

    /// Reads a little of what a lookup of this hash would read.
    #[inline]
    pub fn glance(&self, hash: u64, depth: Depth) -> u8 {
        let page = self.page(self.page_of(hash));
        if depth == Depth::Page {
            return page.tags[0] as u8;
        }
        let hit = page.hits(tag(hash)).trailing_zeros() as usize;
        match page.entries.get(hit) {
            Some(entry) if depth == Depth::Entry => entry.deadline as u8,
            Some(entry) => entry.glance(),
            None => 0,
        }
    }

    #[inline]
    pub fn entry(&self, place: Place) -> &Entry {
        &self.page(place.page).entries[place.index]
    }

    #[inline]
    pub fn entry_mut(&mut self, place: Place) -> &mut Entry {
        &mut self.page_mut(place.page).entries[place.index]
    }

    pub fn set_deadline(&mut self, place: Place, deadline: i64) {
        let page = self.page_mut(place.page);
        page.entries[place.index].deadline = deadline;
        page.earliest = page.earliest.min(deadline);
    }

    /// Adds an entry whose key is not in the table.
    pub fn insert(&mut self, hash: u64, entry: Entry) {
        let page = self.page_of(hash);
        self.page_mut(page).push(tag(hash), entry);
        self.len += 1;
        if self.len > self.pages * KEYS_MAX {
            self.split();
        }
    }

    pub fn remove(&mut self, place: Place) -> Entry {
        let removed = self.take(place);
        self.shrink();
        removed
    }

    /// Removes the entries of page `number` whose deadline is not after `now_ms`, handing each to `each`.
    pub fn expire_page(&mut self, number: usize, now_ms: i64, mut each: impl FnMut(Entry)) {
        if self.page(number).earliest > now_ms {
            return;
        }
        let (mut index, before) = (0, self.len);
        while let Some(entry) = self.page(number).entries.get(index) {
            if entry.deadline <= now_ms {
                each(self.take(Place { page: number, index }));
            } else {
                index += 1;
            }
        }
        let page = self.page_mut(number);
        page.settle();
        for _ in self.len..before {
            self.shrink();
        }
    }

    /// The entries at a scan's cursor, and the cursor after them (0 at the end).
    pub fn scan(&self, cursor: u32) -> (&[Entry], u32) {
        let number = self.page_of(u64::from(cursor));
        (&self.page(number).entries, self.cursor_after(number))
    }

    /// Entries of page `number` (below [`Table::pages`]).
    pub fn page_entries(&self, number: usize) -> &[Entry] {
        &self.page(number).entries
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.chunks.iter().flatten().flat_map(|page| &page.entries)
    }

    fn cursor_after(&self, page: usize) -> u32 {
        let bits = self.bits_of(page);
        if bits == 0 {
            return 0;
        }
        let from = (page as u32).reverse_bits();
        from.checked_add(1 << (32 - bits)).map_or(0, u32::reverse_bits)
    }

    /// How many low bits of a hash lead to this page.
    fn bits_of(&self, page: usize) -> u32 {
        let base = 1 << self.round;
        if page >= base || page < self.pages - base { self.round + 1 } else { self.round }
    }

    #[inline]
    fn page_of(&self, hash: u64) -> usize {
        let base = 1usize << self.round;
        let wide = hash as u32 as usize & (2 * base - 1);
        if wide < self.pages { wide } else { wide & (base - 1) }
    }

    #[inline]
    fn page(&self, number: usize) -> &Page {
        &self.chunks[number >> CHUNK_BITS][number & (CHUNK_PAGES - 1)]
    }

    #[inline]
    fn page_mut(&mut self, number: usize) -> &mut Page {
        &mut self.chunks[number >> CHUNK_BITS][number & (CHUNK_PAGES - 1)]
    }

    fn take(&mut self, place: Place) -> Entry {
        let last = self.page(place.page).entries.len() - 1;
        let moved_tag = match self.page(place.page).tags.get(last) {
            Some(&tag) => tag,
            None => tag(self.hash(self.page(place.page).entries[last].key())),
        };
        let page = self.page_mut(place.page);
        if let Some(slot) = page.tags.get_mut(place.index) {
            *slot = moved_tag;
        }
        self.len -= 1;
        let page = self.page_mut(place.page);
        page.entries.swap_remove(place.index)
    }

    /// Adds the next page of the round and shares out the entries of the page that it parts from.
    fn split(&mut self) {
        if self.pages >= 1 << 31 {
            return;
        }
        let new = self.pages;
        let old = new - (1 << self.round);
        self.add_page();
        let entries = self.empty(old);
        for entry in entries {
            let hash = self.hash(entry.key());
            let page = self.page_of(hash);
            debug_assert!(page == old || page == new, "a split has two sides");
            self.page_mut(page).push(tag(hash), entry);
        }
    }

    fn add_page(&mut self) {
        if self.pages & (CHUNK_PAGES - 1) == 0 {
            self.chunks.push(Vec::with_capacity(CHUNK_PAGES));
        }
        self.chunks[self.pages >> CHUNK_BITS].push(Page::new());
        self.pages += 1;
        if self.pages == 2 << self.round {
            self.round += 1;
        }
    }

    /// Puts the last page back into the one that it was split from, where there are too many pages.
    fn shrink(&mut self) {
        if self.len >= self.pages * KEYS_MIN || self.pages == 1 {
            return;
        }
        let last = self.pages - 1;
        let entries = self.empty(last);
        if self.pages == 1 << self.round {
            self.round -= 1;
        }
        self.pages = last;
        let chunk = &mut self.chunks[last >> CHUNK_BITS];
        chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        for entry in entries {
            let hash = self.hash(entry.key());
            let page = self.page_of(hash);
            self.page_mut(page).push(tag(hash), entry);
        }
    }

    fn empty(&mut self, number: usize) -> Vec<Entry> {
        std::mem::replace(self.page_mut(number), Page::new()).entries
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Encoding, NEVER};
    use super::*;
    use std::collections::BTreeSet;

    fn put(table: &mut Table, key: &str) {
        let hash = table.hash(key.as_bytes());
        assert!(table.find(hash, key.as_bytes()).is_none());
        let entry = Entry::new(key.as_bytes(), b"v", Encoding::Embstr, NEVER);
        table.insert(hash, entry);
    }

    fn cut(table: &mut Table, key: &str) -> bool {
        let place = table.find(table.hash(key.as_bytes()), key.as_bytes());
        place.map(|p| table.remove(p)).is_some()
    }

    #[test]
    fn keys_come_and_go_and_pages_with_them() {
        let mut table = Table::new(7);
        for i in 0..20_000 {
            put(&mut table, &format!("key:{i}"));
        }
        assert!(table.pages() > 20_000 / 8);
        for i in 0..20_000 {
            let key = format!("key:{i}");
            let place = table.find(table.hash(key.as_bytes()), key.as_bytes());
            assert_eq!(table.entry(place.unwrap()).key(), key.as_bytes());
        }
        for i in 0..19_990 {
            assert!(cut(&mut table, &format!("key:{i}")));
            assert!(!cut(&mut table, &format!("key:{i}")));
        }
        assert_eq!((table.len(), table.iter().count()), (10, 10));
        assert!(table.pages() <= 4, "{} pages", table.pages());
    }

    /// Keys come or go while a scan is under way: what is there throughout must be seen.
    fn scan_sees_all(seed: u64, before: usize, step: impl Fn(&mut Table, usize)) {
        let mut table = Table::new(seed);
        for i in 0..before {
            put(&mut table, &format!("temporary:{i}"));
        }
        for i in 0..500 {
            put(&mut table, &format!("lasting:{i}"));
        }
        let mut seen = BTreeSet::new();
        let (mut cursor, mut turn) = (0, 0);
        loop {
            let (entries, next) = table.scan(cursor);
            seen.extend(entries.iter().map(|e| e.key().to_vec()));
            step(&mut table, turn);
            turn += 1;
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        for i in 0..500 {
            assert!(seen.contains(format!("lasting:{i}").as_bytes()), "seed {seed}");
        }
    }

    #[test]
    fn a_scan_misses_nothing_while_the_table_grows_or_shrinks() {
        for seed in 0..20 {
            scan_sees_all(seed, 0, |table, turn| {
                for i in 0..30 {
                    put(table, &format!("new:{turn}:{i}"));
                }
            });
            scan_sees_all(seed, 5_000, |table, turn| {
                for i in 0..30 {
                    cut(table, &format!("temporary:{}", turn * 30 + i));
                }
            });
        }
    }
}
