//! What a worker's clients share: the lanes, the slot map, what is known for answers, scratch space.
//!
//! One per worker, never crossing a thread. It is what a conversation is given besides a client's bytes, so a
//! simulation builds one too and needs no socket for it.

use super::directory::Directory;
use super::local::{self, Settings};
use crate::address::Secret;
use crate::lane::set::LaneSet;
use crate::limits::ClientLimits;
use crate::resp::request::Decoder;
use crate::topology::SlotMap;
use crate::turn::Tools;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

pub struct World {
    pub tools: Rc<Tools>,
    pub lanes: LaneSet,
    pub map: Arc<SlotMap>,
    pub facts: Facts,
    pub directory: Arc<Directory>,
    pub limits: ClientLimits,
    /// The decoder of clients that have no request cut in the middle.
    pub decoder: RefCell<Decoder>,
    /// Positions of the keys of the request at hand.
    pub positions: RefCell<Vec<u32>>,
    /// No new commands: the process is shutting down and its time is up.
    pub closing: Cell<bool>,
}

/// What is the same for all workers and was known when they started.
#[derive(Clone)]
pub struct Facts {
    /// What clients must give before anything else.
    pub password: Option<Secret>,
    pub settings: Arc<Settings>,
    /// The version that clients are told; set once the shards have told theirs.
    pub version: Arc<OnceLock<String>>,
}

/// Told until the shards have answered, and over embedded ones: the first version that today's clients trust with
/// all that they know.
pub const VERSION: &str = "7.4.0";

impl World {
    /// What the answers given here are made of.
    pub fn local_facts(&self, now_us: u64) -> local::Facts<'_> {
        local::Facts {
            version: self.facts.version.get().map_or(VERSION, String::as_str),
            now_us,
            password: self.facts.password.as_ref().map(|secret| secret.expose().as_bytes()),
            directory: &self.directory,
            settings: &self.facts.settings,
        }
    }
}
