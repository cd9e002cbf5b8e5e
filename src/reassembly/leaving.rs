//! Replies leave a window: in the order asked, each counted as it goes, until the first that is not complete.

use super::filling::{outcome_of, source_index};
use super::{Life, Source, State, Window};
use crate::buffers::Pool;
use crate::metrics::{Closed, Outcome};
use crate::turn::Turn;

impl Window {
    /// Moves the front `len` bytes of an early queue to the output.
    pub(super) fn release(&mut self, early: usize, len: usize, silent: bool, turn: &mut Turn<'_>) {
        let queue = &mut self.early[early];
        if !silent {
            self.output.push(&queue.bytes()[..len], turn.pool);
        }
        queue.consume(len, turn.pool);
        self.held -= len;
    }

    /// Lets complete replies at the head leave.
    #[inline]
    pub(super) fn advance(&mut self, turn: &mut Turn<'_>) {
        while let Some(place) = self.places.front()
            && place.state == State::Done
        {
            match place.source {
                Source::GATHER => {
                    self.leave_gather(turn);
                    continue;
                }
                Source::FAILURE => {
                    self.leave_failure(turn);
                    continue;
                }
                _ => {}
            }
            let (early, len, silent) =
                (source_index(place.source, self.shards), place.len as usize, place.silent);
            self.release(early, len, silent, turn);
            self.leave(turn);
        }
    }

    #[cold]
    fn leave_failure(&mut self, turn: &mut Turn<'_>) {
        let at = self.failures.iter().position(|(seq, _)| *seq == self.head);
        let (Some(at), Some(place)) = (at, self.places.front()) else { unreachable!("a failure has a text") };
        let (_, error) = self.failures.swap_remove(at);
        self.held -= error.len();
        if !place.silent {
            self.output.push(&error, turn.pool);
        }
        self.leave(turn);
    }

    fn leave_gather(&mut self, turn: &mut Turn<'_>) {
        let (Some(gather), Some(place)) = (self.gathers.pop_front(), self.places.front_mut()) else {
            unreachable!("a gather leaves with its place")
        };
        self.gathers_left = self.gathers_left.wrapping_add(1);
        self.held -= gather.held();
        let unknown = gather.outcome_unknown();
        let reply = gather.merged();
        place.outcome = if unknown { Outcome::Unknown } else { outcome_of(&reply) };
        place.len = reply.len() as u32;
        if !place.silent {
            self.output.push(&reply, turn.pool);
        }
        self.leave(turn);
    }

    /// The head's reply is in the output: counts it and goes on to the next.
    #[inline]
    pub(super) fn leave(&mut self, turn: &mut Turn<'_>) {
        let Some(place) = self.places.pop_front() else { unreachable!("nothing at the head") };
        let seq = self.head;
        self.head = self.head.wrapping_add(1);
        self.owed -= place.request as usize;
        // Falls by a 512th a reply: a window of small replies grows back within a few thousand of them.
        self.typical = if place.len > self.typical { place.len } else { self.typical - (self.typical >> 9) };
        while self.batches.get(1).is_some_and(|next| next.first.wrapping_sub(seq) as i32 <= 0) {
            self.batches.pop_front();
        }
        let Some(batch) = self.batches.front() else { unreachable!("a reply outside every batch") };
        let (age, bucket) = turn.age(batch.at);
        turn.metrics.command(place.spec, place.outcome);
        turn.metrics.command_duration(place.family).observe_bucket(bucket, age, 1);
    }

    #[inline]
    pub(super) fn end_trip(&mut self, turn: &mut Turn<'_>) {
        if self.trip > 0 {
            turn.metrics.client_trip(u64::from(std::mem::take(&mut self.trip)));
        }
    }

    pub(super) fn check_bounds(&mut self, turn: &mut Turn<'_>) {
        if self.life == Life::Open && self.waiting_bytes() > self.limits.output_hard {
            self.break_off(Closed::OutputLimit, turn.pool);
        }
    }

    pub(super) fn break_off(&mut self, reason: Closed, pool: &mut Pool) {
        self.drop_everything(pool);
        self.life = Life::Broken(reason);
    }

    pub(super) fn drop_everything(&mut self, pool: &mut Pool) {
        self.places.clear();
        self.gathers.clear();
        self.failures = Vec::new();
        self.batches.clear();
        self.early = Vec::new();
        self.output.clear(pool);
        self.held = 0;
        self.owed = 0;
        self.release_streamer();
    }
}
