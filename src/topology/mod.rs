//! Which shard owns which slot.
//!
//! A `SlotMap` is one immutable value with an epoch: a batch reads it once and never sees half a change. How a map
//! comes to be (an even split here; a cluster's own word, a move of slots) is not its business.

use crate::slot::{SLOTS, ShardId, Slot};

/// Most shards that one map may have: a ledger entry and a SCAN cursor have room for it.
pub const SHARDS_MAX: u16 = crate::limits::SHARDS_MAX as u16;

/// Slots that are looked up together where one shard owns them all.
const BLOCK: usize = 64;
/// Stands for a block of several owners.
const MIXED: ShardId = ShardId(u16::MAX);

/// Slot → shard, whole: every slot has an owner.
///
/// Keys come in no order, so a table of all slots would be 32 KiB of the processor's first cache. Nearly every block of
/// slots has one owner, and the table of blocks is 512 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct SlotMap {
    epoch: u64,
    shards: u16,
    blocks: [ShardId; SLOTS as usize / BLOCK],
    owners: Box<[ShardId]>,
}

impl SlotMap {
    /// The slots split evenly over `shards` (1 to [`SHARDS_MAX`]) in their order; sizes differ by one at most.
    pub fn even(shards: u16) -> SlotMap {
        assert!((1..=SHARDS_MAX).contains(&shards), "a map has 1 to {SHARDS_MAX} shards");
        let owner = |slot: u32| ShardId((slot * u32::from(shards) / u32::from(SLOTS)) as u16);
        let owners: Box<[ShardId]> = (0..u32::from(SLOTS)).map(owner).collect();
        SlotMap { epoch: 1, shards, blocks: blocks(&owners), owners }
    }

    #[inline]
    pub fn owner(&self, slot: Slot) -> ShardId {
        match self.blocks[slot.index() / BLOCK] {
            MIXED => self.owners[slot.index()],
            owner => owner,
        }
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

fn blocks(owners: &[ShardId]) -> [ShardId; SLOTS as usize / BLOCK] {
    let mut blocks = [MIXED; SLOTS as usize / BLOCK];
    for (block, owners) in blocks.iter_mut().zip(owners.chunks(BLOCK)) {
        if owners.iter().all(|owner| *owner == owners[0]) {
            *block = owners[0];
        }
    }
    blocks
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
            let slots = (0..SLOTS).filter_map(Slot::new);
            assert!(slots.map(|slot| map.owner(slot)).eq(map.owners.iter().copied()));
        }
    }
}
