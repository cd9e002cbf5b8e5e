//! One numbered database: its keys, those of them that expire, and the bytes they take.
//!
//! Every read and write of a key goes through here, because here a key whose time is over is taken out before
//! anybody sees it, and here the gauges (keys with a deadline, bytes, mean TTL) are kept in step. The sweep for
//! expired keys that nobody asks for walks the pages a few at a time: a page's header alone says whether there is
//! anything to do, so 100,000 keys cost it some microseconds.
//!
//! What it never does: read a clock, or reply.

use super::entry::{Encoding, Entry, NEVER};
use super::table::{Place, Table};

/// A key that was looked for: its hash, and its place where it is there.
#[derive(Clone, Copy, Debug)]
pub struct Looked {
    hash: u64,
    pub place: Option<Place>,
}

/// What a write does to the key's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    Keep,
    Clear,
    At(i64),
}

/// Work that the sweep may still do in this turn; looking at a page costs one, removing a key `REMOVAL_COST`.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub usize);

const REMOVAL_COST: usize = 8;

pub struct Db {
    table: Table,
    /// Keys with a deadline, and the sum of those deadlines.
    volatile: usize,
    deadlines: i128,
    heap_bytes: usize,
    expired: u64,
    /// The page that the sweep looks at next.
    sweep_at: usize,
}

impl Db {
    pub fn new(seed: u64) -> Db {
        Db { table: Table::new(seed), volatile: 0, deadlines: 0, heap_bytes: 0, expired: 0, sweep_at: 0 }
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn volatile(&self) -> usize {
        self.volatile
    }

    /// Keys removed so far because their time was over.
    pub fn expired(&self) -> u64 {
        self.expired
    }

    pub fn memory_bytes(&self) -> usize {
        self.table.own_bytes() + self.heap_bytes
    }

    /// Mean time to live in milliseconds of the keys that have one.
    pub fn mean_ttl(&self, now_ms: i64) -> i64 {
        if self.volatile == 0 {
            return 0;
        }
        let mean = self.deadlines / self.volatile as i128 - i128::from(now_ms);
        mean.clamp(0, i128::from(i64::MAX)) as i64
    }

    /// Looks for a live key; one whose time is over is removed.
    #[inline]
    pub fn look(&mut self, key: &[u8], now_ms: i64) -> Looked {
        let hash = self.table.hash(key);
        let mut place = self.table.find(hash, key);
        if let Some(found) = place
            && self.table.entry(found).deadline <= now_ms
        {
            self.remove(found);
            self.expired += 1;
            place = None;
        }
        Looked { hash, place }
    }

    /// A live key's entry, for reading.
    #[inline]
    pub fn read(&mut self, key: &[u8], now_ms: i64) -> Option<&Entry> {
        let place = self.look(key, now_ms).place?;
        let entry = self.table.entry_mut(place);
        entry.touch(now_ms);
        Some(entry)
    }

    #[inline]
    pub fn entry(&self, place: Place) -> &Entry {
        self.table.entry(place)
    }

    /// Gives the key a value, whether it was there or not.
    #[inline]
    pub fn put(&mut self, at: Looked, key: &[u8], value: &[u8], encoding: Encoding, ttl: Ttl, now_ms: i64) {
        let Some(place) = at.place else {
            return self.add(at, key, value, encoding, ttl, now_ms);
        };
        self.change(place, now_ms, |entry| entry.set_value(value, encoding));
        self.set_ttl(place, ttl);
    }

    fn add(&mut self, at: Looked, key: &[u8], value: &[u8], encoding: Encoding, ttl: Ttl, now_ms: i64) {
        let deadline = match ttl {
            Ttl::At(deadline) => deadline.min(NEVER - 1),
            Ttl::Keep | Ttl::Clear => NEVER,
        };
        let mut entry = Entry::new(key, value, encoding, deadline);
        entry.touch(now_ms);
        self.count_deadline(deadline, 1);
        self.heap_bytes += entry.heap_bytes();
        self.table.insert(at.hash, entry);
    }

    /// Changes a value in place, keeping count of its bytes.
    #[inline]
    pub fn change<R>(&mut self, place: Place, now_ms: i64, f: impl FnOnce(&mut Entry) -> R) -> R {
        let entry = self.table.entry_mut(place);
        let before = entry.heap_bytes();
        let result = f(entry);
        entry.touch(now_ms);
        let after = entry.heap_bytes();
        self.heap_bytes = self.heap_bytes + after - before;
        result
    }

    #[inline]
    pub fn set_ttl(&mut self, place: Place, ttl: Ttl) {
        let old = self.table.entry(place).deadline;
        let deadline = match ttl {
            Ttl::Keep => old,
            Ttl::Clear => NEVER,
            Ttl::At(deadline) => deadline.min(NEVER - 1),
        };
        if old == deadline {
            return;
        }
        self.count_deadline(old, -1);
        self.count_deadline(deadline, 1);
        self.table.set_deadline(place, deadline);
    }

    pub fn remove(&mut self, place: Place) -> Entry {
        let entry = self.table.remove(place);
        self.uncount(&entry);
        entry
    }

    /// Removes a live key; whether it was there.
    pub fn remove_key(&mut self, key: &[u8], now_ms: i64) -> bool {
        let place = self.look(key, now_ms).place;
        place.map(|place| self.remove(place)).is_some()
    }

    /// Empties the database; the old table is handed back, for it may be large and slow to drop.
    pub fn clear(&mut self, seed: u64) -> Table {
        let expired = self.expired;
        let old = std::mem::replace(self, Db::new(seed));
        self.expired = expired;
        old.table
    }

    /// Removes expired keys page by page until the budget is spent or every page was looked at once; how many.
    pub fn expire_some(&mut self, now_ms: i64, budget: &mut Budget) -> usize {
        let mut removed = 0;
        for _ in 0..self.table.pages() {
            if self.volatile == 0 || budget.0 == 0 {
                break;
            }
            let gone = self.sweep_page(now_ms);
            budget.0 = budget.0.saturating_sub(1 + gone * REMOVAL_COST);
            removed += gone;
        }
        removed
    }

    fn sweep_page(&mut self, now_ms: i64) -> usize {
        if self.sweep_at >= self.table.pages() {
            self.sweep_at = 0;
        }
        let mut gone = Vec::new();
        self.table.expire_page(self.sweep_at, now_ms, |entry| gone.push(entry));
        self.sweep_at += 1;
        for entry in &gone {
            self.uncount(entry);
        }
        self.expired += gone.len() as u64;
        gone.len()
    }

    fn uncount(&mut self, entry: &Entry) {
        self.count_deadline(entry.deadline, -1);
        self.heap_bytes -= entry.heap_bytes();
    }

    #[inline]
    fn count_deadline(&mut self, deadline: i64, sign: i8) {
        if deadline == NEVER {
            return;
        }
        self.volatile = self.volatile.wrapping_add_signed(isize::from(sign));
        self.deadlines += i128::from(deadline) * i128::from(sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(db: &mut Db, key: &str, ttl: Ttl) {
        let at = db.look(key.as_bytes(), 0);
        db.put(at, key.as_bytes(), b"value", Encoding::Embstr, ttl, 0);
    }

    #[test]
    fn the_sweep_removes_what_is_over_within_its_budget_and_nothing_else() {
        let mut db = Db::new(1);
        for i in 0..1_000 {
            put(&mut db, &format!("lasting:{i}"), Ttl::Clear);
            put(&mut db, &format!("short:{i}"), Ttl::At(100));
            put(&mut db, &format!("long:{i}"), Ttl::At(1_000));
        }
        assert_eq!(db.expire_some(50, &mut Budget(usize::MAX)), 0);
        assert_eq!((db.len(), db.volatile()), (3_000, 2_000));
        let first = db.expire_some(100, &mut Budget(200));
        assert!((1..100).contains(&first), "a small budget is kept: {first}");
        db.expire_some(100, &mut Budget(usize::MAX));
        assert_eq!((db.len(), db.volatile(), db.expired()), (2_000, 1_000, 1_000));
        assert_eq!(db.mean_ttl(100), 900);
    }

    #[test]
    fn bytes_and_deadlines_return_to_zero() {
        let mut db = Db::new(1);
        put(&mut db, "a", Ttl::At(100));
        put(&mut db, "a", Ttl::Keep);
        put(&mut db, "b", Ttl::Clear);
        put(&mut db, "b", Ttl::At(200));
        assert_eq!(db.volatile(), 2);
        put(&mut db, "b", Ttl::Clear);
        assert_eq!(db.volatile(), 1);
        assert!(db.look(b"a", 100).place.is_none());
        assert!(db.remove_key(b"b", 100));
        assert_eq!((db.len(), db.volatile(), db.heap_bytes), (0, 0, 0));
    }
}
