//! The shard side of a window: replies and failures come in, at whatever place they are for.
//!
//! A whole reply for the place at the head goes straight to the output; anything else is held in its shard's queue, in
//! its gather, or beside its place. Must never let a reply through to another place than its ticket's.

use super::{Gather, Life, Source, State, Window};
use crate::buffers::{ByteQueue, Pool};
use crate::limits;
use crate::metrics::{Closed, Outcome};
use crate::trip::Ticket;
use crate::turn::Turn;
use std::task::Waker;

impl Window {
    /// Bytes of the reply to `ticket`, its last ones if `end`.
    #[inline]
    pub fn fill(&mut self, ticket: Ticket, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        if self.life != Life::Open {
            return;
        }
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        assert!(index < self.places.len(), "a reply to a request that is not owed one");
        let place = &mut self.places[index];
        assert!(place.state != State::Done, "a second reply to one request");
        if place.state == State::Waiting && place.source != Source::GATHER {
            place.outcome = outcome_of(bytes);
            if index == 0 && end {
                place.len = bytes.len() as u32;
                if !place.silent {
                    self.output.push(bytes, turn.pool);
                }
                self.leave(turn);
                self.advance(turn);
                return;
            }
        }
        self.fill_early(index, ticket.part, bytes, end, turn);
    }

    /// Takes back what has come of the reply to `ticket`. False: some of it has already gone out.
    pub fn retract(&mut self, ticket: Ticket, turn: &mut Turn<'_>) -> bool {
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        if self.life != Life::Open {
            return true;
        }
        assert!(index < self.places.len(), "a failure of a request that is not owed a reply");
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            self.held -= self.gather(number).retract(ticket.part);
            return true;
        }
        if place.state == State::Partial {
            let len = std::mem::take(&mut place.len) as usize;
            place.state = State::Waiting;
            let early = source_index(place.source, self.shards);
            self.early[early].truncate_by(len, turn.pool);
            self.held -= len;
        }
        self.places[index].state != State::Streaming
    }

    /// An error in place of the reply to `ticket`; what had come of the reply is taken back. Where some of it has
    /// already gone out, the connection can only be closed.
    pub fn fail(&mut self, ticket: Ticket, error: &[u8], outcome: Outcome, turn: &mut Turn<'_>) {
        if !self.retract(ticket, turn) {
            return self.break_off(Closed::ShardLost, turn.pool);
        }
        if self.life != Life::Open {
            return;
        }
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            if outcome == Outcome::Unknown {
                self.gather(number).set_outcome_unknown();
            }
            return self.fill(ticket, error, true, turn);
        }
        assert!(place.state == State::Waiting, "a failure of a request that was answered");
        place.source = Source::FAILURE;
        place.outcome = outcome;
        place.state = State::Done;
        place.len = error.len() as u32;
        self.failures.push((ticket.seq, error.into()));
        self.held += error.len();
        if index == 0 {
            self.advance(turn);
        }
        self.check_bounds(turn);
    }

    /// Whether the client leaves so much unread of a reply that is being streamed to it that no more should be taken
    /// from its shard; `eased` asks whether that is so still, after it was.
    #[inline]
    pub fn is_choked(&self, eased: bool) -> bool {
        let streaming = || self.places.front().is_some_and(|place| place.state == State::Streaming);
        self.output.len() > limits::STREAM_BYTES && streaming() && {
            let bound = (self.limits.output_hard / 4 * 3).min(self.share as usize).max(limits::STREAM_BYTES);
            self.output.len() > if eased { bound / 8 * 7 } else { bound }
        }
    }

    /// Wakes `lane` when the client has read enough, or has gone.
    pub fn wake_when_read(&mut self, lane: &Waker) {
        self.streamer = Some(lane.clone());
    }

    /// Gives up a client that does not read a streamed reply.
    pub fn give_up(&mut self, pool: &mut Pool) {
        self.break_off(Closed::OutputLimit, pool);
        self.wake();
    }

    pub(super) fn release_streamer(&mut self) {
        if let Some(lane) = self.streamer.take() {
            lane.wake();
        }
    }

    /// Wakes the client side if there is something for it.
    #[inline]
    pub fn notify(&mut self) {
        if !self.woken && (!self.output.is_empty() || self.waiting || self.life != Life::Open) {
            self.wake();
        }
    }

    /// Wakes the client side.
    pub fn wake(&mut self) {
        self.woken = true;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    fn fill_early(&mut self, index: usize, part: u16, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            if self.gather(number).fill(part, bytes, end) {
                self.places[index].state = State::Done;
            }
            self.bound_gather(number, bytes.len());
        } else if place.state == State::Streaming {
            place.len = place.len.saturating_add(bytes.len() as u32);
            if !place.silent {
                self.output.push(bytes, turn.pool);
            }
            if end {
                self.leave(turn);
            }
        } else {
            self.hold(index, bytes, end, turn);
        }
        if index == 0 {
            self.advance(turn);
        }
        self.check_bounds(turn);
    }

    /// Parts can't be streamed, since where each byte belongs is not known before all are there. So what they may not be
    /// together becomes an error in their place, rather than the end of the connection.
    fn bound_gather(&mut self, number: u32, added: usize) {
        let bound = self.limits.output_hard;
        if self.gather(number).is_given_up() {
            return;
        }
        self.held += added;
        if self.waiting_bytes() > bound && self.gather(number).only_reads() {
            self.held -= self.gather(number).give_up(bound);
        }
    }

    pub(super) fn gather(&mut self, number: u32) -> &mut Gather {
        let index = number.wrapping_sub(self.gathers_left) as usize;
        let Some(gather) = self.gathers.get_mut(index) else {
            unreachable!("a gather leaves with its place")
        };
        gather
    }

    fn hold(&mut self, index: usize, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        let place = &mut self.places[index];
        let early = source_index(place.source, self.shards);
        if self.early.is_empty() {
            self.early.resize_with(self.shards as usize + 1, ByteQueue::default);
        }
        self.early[early].push(bytes, turn.pool);
        place.len += bytes.len() as u32;
        self.held += bytes.len();
        place.state = if end { State::Done } else { State::Partial };
        if index == 0 && !end && place.len as usize > limits::STREAM_BYTES {
            place.state = State::Streaming;
            let (len, silent) = (place.len as usize, place.silent);
            self.release(early, len, silent, turn);
        }
    }
}

#[inline]
pub(super) fn source_index(source: Source, shards: u16) -> usize {
    if source == Source::LOCAL { shards as usize } else { source.0 as usize }
}

#[inline]
pub(super) fn outcome_of(reply: &[u8]) -> Outcome {
    match reply.first() {
        Some(b'-' | b'!') => Outcome::Error,
        _ => Outcome::Ok,
    }
}
