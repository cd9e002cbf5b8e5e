//! What is in flight on one lane: trips in the order sent, and in each the requests that still lack a reply.
//!
//! The ledger is what makes reply k answer request k: a shard's replies carry no name, only their order. So an entry
//! leaves the front with its reply and in no other way while a connection lives; a request whose client has gone or
//! whose time is up stays, and its reply is swallowed here.

use super::rope::Rope;
use crate::reassembly::Window;
use crate::trip::{Nanos, Ticket};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// One request in flight.
#[derive(Clone, Copy)]
pub struct Entry {
    pub ticket: Ticket,
    /// Bytes of the request in the rope.
    pub len: u32,
    pub readonly: bool,
    /// It was sent before, on a connection that was lost.
    pub resent: bool,
}

/// What one client gave this lane in one turn.
pub struct Trip {
    /// Where the replies go; `None` once its time is up and the replies are only to be swallowed.
    pub to: Option<Rc<RefCell<Window>>>,
    /// Requests that still lack a reply.
    pub left: u32,
    pub at: Nanos,
}

#[derive(Default)]
pub struct Ledger {
    pub trips: VecDeque<Trip>,
    pub entries: VecDeque<Entry>,
    pub rope: Rope,
}

impl Ledger {
    // Always inlined: an entry handed over in memory is stored in parts and loaded whole, which the processor waits for.
    #[inline(always)]
    pub fn push(&mut self, to: &Rc<RefCell<Window>>, entry: Entry, now: Nanos) {
        self.entries.push_back(entry);
        if let Some(last) = self.trips.back_mut()
            && last.at == now
            && last.to.as_ref().is_some_and(|window| Rc::ptr_eq(window, to))
        {
            last.left += 1;
            return;
        }
        self.trips.push_back(Trip { to: Some(Rc::clone(to)), left: 1, at: now });
    }

    /// For each client, the place in the ledger of the last request that was sent, if only in part, and may have
    /// changed something. A read before it must not be asked again: it would see what its own client wrote later.
    pub fn last_sent_writes(&self) -> HashMap<*const RefCell<Window>, usize> {
        let (mut last, mut at, mut bytes) = (HashMap::new(), 0, 0);
        for trip in &self.trips {
            for entry in self.entries.range(at..at + trip.left as usize) {
                if let Some(to) = &trip.to
                    && bytes < self.rope.sent()
                    && !entry.readonly
                {
                    last.insert(Rc::as_ptr(to), at);
                }
                bytes += entry.len as usize;
                at += 1;
            }
        }
        last
    }

    /// Takes everything apart, front to back: `verdict` says of each entry, given its trip and how many of its bytes
    /// were sent, whether it stays (`Some`, perhaps changed). What stays keeps its order and counts as unsent.
    pub fn rebuild(&mut self, mut verdict: impl FnMut(&Trip, Entry, usize) -> Option<Entry>) {
        let mut old = std::mem::take(self);
        let mut sent = old.rope.sent();
        for mut trip in old.trips {
            let all = std::mem::take(&mut trip.left);
            for entry in old.entries.drain(..all as usize) {
                let len = entry.len as usize;
                let stays = verdict(&trip, entry, sent.min(len));
                sent = sent.saturating_sub(len);
                old.rope.move_front(len, stays.is_some().then_some(&mut self.rope));
                if let Some(entry) = stays {
                    self.entries.push_back(entry);
                    trip.left += 1;
                }
            }
            if trip.left > 0 {
                self.trips.push_back(trip);
            }
        }
        assert!(old.rope.is_empty() && old.entries.is_empty(), "entries and bytes agree");
        self.rope.mark_unsent();
    }
}
