//! Which shard owns which slot.
//!
//! A `SlotMap` is one immutable value with an epoch: a batch reads it once and never sees half a change. How a map
//! comes to be (an even split here; a cluster's own word, a move of slots) is not its business.

use crate::slot::{SLOTS, ShardId, Slot};

/// Most shards that one map may have: a ledger entry and a SCAN cursor have room for it.
pub const SHARDS_MAX: u16 = crate::limits::SHARDS_MAX as u16;

/// Slot → shard, whole: every slot has an owner.
#[derive(Clone, PartialEq, Eq)]
pub struct SlotMap {
    epoch: u64,
    shards: u16,
    owners: Box<[ShardId]>,
}

impl SlotMap {
    /// The slots split evenly over `shards` (1 to [`SHARDS_MAX`]) in their order; sizes differ by one at most.
    pub fn even(shards: u16) -> SlotMap {
        assert!((1..=SHARDS_MAX).contains(&shards), "a map has 1 to {SHARDS_MAX} shards");
        let owner = |slot: u32| ShardId((slot * u32::from(shards) / u32::from(SLOTS)) as u16);
        SlotMap { epoch: 1, shards, owners: (0..u32::from(SLOTS)).map(owner).collect() }
    }

    #[inline]
    pub fn owner(&self, slot: Slot) -> ShardId {
        self.owners[slot.index()]
    }

    #[inline]
    pub fn shards(&self) -> u16 {
        self.shards
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How many slots a shard owns.
    pub fn slots_of(&self, shard: ShardId) -> usize {
        self.owners.iter().filter(|&&owner| owner == shard).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_split_evenly_and_in_order() {
        for shards in [1, 2, 3, 5, 7, 64, SHARDS_MAX] {
            let map = SlotMap::even(shards);
            let sizes: Vec<usize> = (0..shards).map(|s| map.slots_of(ShardId(s))).collect();
            assert_eq!(sizes.iter().sum::<usize>(), SLOTS as usize);
            assert!(sizes.iter().max().expect("shards") - sizes.iter().min().expect("shards") <= 1);
            assert!(map.owners.is_sorted());
        }
    }
}
