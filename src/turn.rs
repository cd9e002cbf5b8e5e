//! What everything that runs in one turn of a worker shares: the time, the counters, spare buffers.
//!
//! Time is read once a turn, not once a command; the middle is told it through a `Turn` and reads no clock, which is
//! what lets a simulation run it on time of its own. `Tools` is where a worker keeps these things between turns.

use crate::buffers::Pool;
use crate::clock::Clock;
use crate::limits;
use crate::metrics::{WorkerMetrics, duration_bucket};
use crate::trip::Nanos;
use bytes::BytesMut;
use std::cell::RefCell;
use std::sync::Arc;

pub struct Turn<'a> {
    pub now: Nanos,
    pub metrics: &'a WorkerMetrics,
    pub pool: &'a mut Pool,
    /// Unix time at zero of `now`, microseconds.
    pub unix_base_us: u64,
    /// The age last asked for and its bucket: the commands of a batch share one.
    aged: (Nanos, usize),
}

impl<'a> Turn<'a> {
    pub fn new(now: Nanos, metrics: &'a WorkerMetrics, pool: &'a mut Pool) -> Turn<'a> {
        Turn { now, metrics, pool, unix_base_us: 0, aged: (now, duration_bucket(0)) }
    }

    /// Unix time, microseconds.
    pub fn unix_us(&self) -> u64 {
        self.unix_base_us + self.now / 1_000
    }

    /// How long ago `since` was, and the histogram bucket of that.
    #[inline]
    pub fn age(&mut self, since: Nanos) -> (Nanos, usize) {
        let age = self.now.saturating_sub(since);
        if self.aged.0 != since {
            self.aged = (since, duration_bucket(age));
        }
        (age, self.aged.1)
    }
}

/// One worker's clock, counters, spare buffers, and the one buffer that all its sockets are read into.
pub struct Tools {
    pub clock: Clock,
    pub metrics: Arc<WorkerMetrics>,
    pool: RefCell<Pool>,
    pub scratch: RefCell<BytesMut>,
    unix_base_us: u64,
}

impl Tools {
    pub fn new(metrics: Arc<WorkerMetrics>) -> Tools {
        let since_epoch_us = metrics.epoch.elapsed().as_micros() as u64;
        Tools {
            clock: Clock::new(metrics.epoch),
            metrics,
            pool: RefCell::new(Pool::default()),
            scratch: RefCell::new(BytesMut::with_capacity(limits::READ_BYTES)),
            unix_base_us: unix_us().saturating_sub(since_epoch_us),
        }
    }

    /// Unix time, microseconds, as the system tells it now.
    pub fn unix_us(&self) -> u64 {
        unix_us()
    }

    /// Runs `f` with this turn's time and the worker's tools.
    #[inline]
    pub fn turn<R>(&self, f: impl FnOnce(&mut Turn<'_>) -> R) -> R {
        let mut pool = self.pool.borrow_mut();
        let mut turn = Turn::new(self.clock.now(), &self.metrics, &mut pool);
        turn.unix_base_us = self.unix_base_us;
        f(&mut turn)
    }
}

fn unix_us() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_micros() as u64)
}
