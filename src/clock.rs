//! The time of a worker's turn: read from the system at most once between two waits for events.
//!
//! A worker's runtime calls [`begin_turn`] whenever it comes back from waiting; the first who asks afterwards reads
//! the system's monotonic clock and everybody else in that turn shares the answer. A read costs about as much as
//! deciding where a command goes, which is why it is not done per command.

use crate::trip::Nanos;
use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static STALE: Cell<bool> = const { Cell::new(true) };
}

/// The worker on this thread has waited: time has passed.
pub fn begin_turn() {
    STALE.with(|stale| stale.set(true));
}

/// Nanoseconds since a worker's start.
pub struct Clock {
    epoch: Instant,
    now: Cell<Nanos>,
}

impl Clock {
    pub fn new(epoch: Instant) -> Clock {
        Clock { epoch, now: Cell::new(0) }
    }

    #[inline]
    pub fn now(&self) -> Nanos {
        if STALE.with(|stale| stale.replace(false)) {
            self.now.set(self.epoch.elapsed().as_nanos() as Nanos);
        }
        self.now.get()
    }

    /// The instant of a time of this clock, for timers.
    pub fn instant(&self, at: Nanos) -> Instant {
        self.epoch + std::time::Duration::from_nanos(at)
    }
}
