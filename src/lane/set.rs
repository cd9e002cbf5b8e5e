//! Shard and protocol version → lane, for one worker.
//!
//! Every lane of the set exists from the start, since an unused one is a few words; its connection is opened with
//! its first order. So their number is bounded by shards × protocol versions.

use super::{Lane, LaneLimits};
use crate::resp::Proto;
use crate::slot::ShardId;
use std::cell::RefCell;
use std::rc::Rc;

pub struct LaneSet {
    lanes: Vec<Rc<RefCell<Lane>>>,
}

impl LaneSet {
    /// The lanes to shards at `addresses`, in shard order.
    pub fn new(addresses: &[Rc<str>], limits: &LaneLimits) -> LaneSet {
        let lane = |shard: usize, proto| {
            let shard_id = ShardId(shard as u16);
            Rc::new(RefCell::new(Lane::new(shard_id, proto, Rc::clone(&addresses[shard]), *limits)))
        };
        let shards = 0..addresses.len();
        LaneSet { lanes: shards.flat_map(|shard| Proto::ALL.map(|proto| lane(shard, proto))).collect() }
    }

    #[inline]
    pub fn lane(&self, shard: ShardId, proto: Proto) -> &Rc<RefCell<Lane>> {
        &self.lanes[shard.index() * Proto::ALL.len() + proto.index()]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rc<RefCell<Lane>>> {
        self.lanes.iter()
    }
}
