//! What a worker's clients share: the lanes, the slot map, what is known for answers, scratch space.
//!
//! One per worker, never crossing a thread. It is what a conversation is given besides a client's bytes, so a
//! simulation builds one too and needs no socket for it.

use super::budget::Budget;
use super::local::Facts;
use crate::lane::set::LaneSet;
use crate::limits::ClientLimits;
use crate::reassembly::merge::info::Own;
use crate::resp::request::Decoder;
use crate::topology::SlotMap;
use crate::turn::Tools;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct World {
    pub tools: Rc<Tools>,
    pub lanes: LaneSet,
    pub map: Arc<SlotMap>,
    pub facts: Facts,
    /// What INFO says of this process, but for what changes.
    pub own: Own,
    /// When this process started, Unix milliseconds.
    pub started_ms: u64,
    pub limits: Rc<ClientLimits>,
    /// The memory for all clients.
    pub budget: Budget,
    /// How long a client may take to give the password.
    pub handshake: Duration,
    /// How long a client may be silent; `None`: for ever.
    pub idle: Option<Duration>,
    /// The decoder of clients that have no request cut in the middle.
    pub decoder: RefCell<Decoder>,
    /// Positions of the keys of the request at hand.
    pub positions: RefCell<Vec<u32>>,
    /// When a client that speaks another protocol was logged last, and how many have come since that were not.
    pub strangers: Cell<(Option<Instant>, u64)>,
    /// No new commands: the process is shutting down and its time is up.
    pub closing: Cell<bool>,
}

/// Time between two log lines about clients that speak another protocol.
const SAY_AGAIN: Duration = Duration::from_secs(10);

impl World {
    /// Logs that a client speaks `what` instead of RESP; a flood of them is one line now and then.
    #[cold]
    pub fn tell_of_stranger(&self, what: &str) {
        let (said, unsaid) = self.strangers.get();
        if said.is_some_and(|at| at.elapsed() < SAY_AGAIN) {
            return self.strangers.set((said, unsaid + 1));
        }
        self.strangers.set((Some(Instant::now()), 0));
        tracing::warn!(others = unsaid, "closed a connection that speaks {what}");
    }

    /// What INFO says of this process now.
    pub fn own_now(&self) -> Own {
        let now_us = self.facts.now_us.get();
        Own {
            version: self.facts.version.get().to_string(),
            now_us,
            uptime_s: (now_us / 1_000).saturating_sub(self.started_ms) / 1_000,
            connected_clients: self.facts.directory.len(),
            connections_received: self.facts.directory.entered(),
            ..self.own.clone()
        }
    }
}
