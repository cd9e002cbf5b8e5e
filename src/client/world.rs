//! What a worker's clients share: the lanes, the slot map, the facts, scratch space.
//!
//! One per worker, never crossing a thread. It is what a conversation is given besides a client's bytes, so a
//! simulation builds one too and needs no socket for it.

use super::local::Facts;
use crate::lane::set::LaneSet;
use crate::limits::ClientLimits;
use crate::resp::request::Decoder;
use crate::topology::SlotMap;
use crate::turn::Tools;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

pub struct World {
    pub tools: Rc<Tools>,
    pub lanes: LaneSet,
    pub map: Arc<SlotMap>,
    pub facts: Facts,
    pub limits: ClientLimits,
    /// The decoder of clients that have no request cut in the middle.
    pub decoder: RefCell<Decoder>,
    /// Positions of the keys of the request at hand.
    pub positions: RefCell<Vec<u32>>,
    /// No new commands: the process is shutting down and its time is up.
    pub closing: Cell<bool>,
}
