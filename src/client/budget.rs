//! The memory that all clients together may have held for them, and who waits when it runs short.
//!
//! Each client's own bounds are generous, so that one client alone is fast; ten thousand of them at those bounds would
//! be more than any machine has. So each tells, once a turn, what it has claimed: what is held for it and what the
//! replies that it has asked for may bring. No client may claim more than a part of what is still free: the threshold by
//! which switches share their memory among ports (Choudhury and Hahne, 1998). The free memory never runs out, heavy
//! clients end up with equal shares, and the light ones go on as if nothing had happened. Who has more than that part
//! is not read from until it has less, which its own replies bring about.
//!
//! Each worker writes its own sum and reads the others' only once it has used half of its own part, so nothing is
//! shared between workers as long as there is enough. Must never wait, and never decide for one client by another's
//! name: all see the same threshold.

use crate::limits;
use crate::metrics::WorkerMetrics;
use std::sync::Arc;

/// Part of the free memory that one client may claim: 1 ÷ this. With the default total fifty clients at their own bounds
/// fit in before anybody is held back.
const PART: u64 = 8;

pub struct Budget {
    total: u64,
    /// This worker's place among `workers`.
    own: usize,
    workers: Arc<[Arc<WorkerMetrics>]>,
}

impl Budget {
    /// A total in bytes over the clients of all `workers`, of which this one is number `own`.
    pub fn new(total: usize, own: usize, workers: Arc<[Arc<WorkerMetrics>]>) -> Budget {
        assert!(own < workers.len(), "a budget is kept by one of its workers");
        Budget { total: total as u64, own, workers }
    }

    /// What one client may claim now, bytes; `u32::MAX` while there is plenty.
    #[inline]
    pub fn share(&self) -> u32 {
        // If no worker has used more than half of its part, at least half of the total is free.
        match self.workers[self.own].claimed_bytes.get() * self.workers.len() as u64 <= self.total / 2 {
            true => u32::MAX,
            false => self.part_of_free(),
        }
    }

    #[cold]
    fn part_of_free(&self) -> u32 {
        let part = self.total.saturating_sub(self.claimed()) / PART;
        u32::try_from(part.max(limits::CLIENT_SHARE_MIN as u64)).unwrap_or(u32::MAX)
    }

    /// Whether more is claimed than there is. Requests in the middle can bring that about: what their replies will free
    /// is not known yet.
    pub fn is_spent(&self) -> bool {
        self.claimed() > self.total
    }

    fn claimed(&self) -> u64 {
        self.workers.iter().map(|worker| worker.claimed_bytes.get()).sum()
    }

    /// A client of this worker claims `now` bytes, and claimed `before` until now.
    #[inline]
    pub fn claim(&self, before: usize, now: usize) {
        let claimed = &self.workers[self.own].claimed_bytes;
        claimed.add(now as u64);
        claimed.sub(before as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn workers(count: usize) -> Arc<[Arc<WorkerMetrics>]> {
        (0..count).map(|_| Arc::new(WorkerMetrics::new(1, 1))).collect()
    }

    #[test]
    fn what_is_free_is_shared_once_half_is_claimed() {
        let workers = workers(2);
        let budgets = [0, 1].map(|own| Budget::new(100 * MIB, own, Arc::clone(&workers)));
        budgets[0].claim(0, 25 * MIB);
        assert_eq!(budgets[0].share(), u32::MAX);
        budgets[0].claim(25 * MIB, 60 * MIB);
        assert_eq!(budgets[0].share(), (5 * MIB) as u32);
        assert_eq!(budgets[1].share(), u32::MAX, "a worker within its part need not know of the others");
        budgets[1].claim(0, 32 * MIB);
        assert_eq!((budgets[0].share(), budgets[1].share()), (MIB as u32, MIB as u32));
        budgets[0].claim(60 * MIB, 0);
        assert_eq!(budgets[0].share(), u32::MAX);
    }

    #[test]
    fn greedy_clients_fit_into_the_total() {
        let workers = workers(1);
        let budget = Budget::new(100 * MIB, 0, Arc::clone(&workers));
        let greedy = |_| {
            let share = (budget.share() as usize).min(16 * MIB);
            budget.claim(0, share);
            share
        };
        let claims: Vec<usize> = (0..30).map(greedy).collect();
        assert!(claims[0] == 16 * MIB && claims.is_sorted_by(|a, b| a >= b));
        assert!(!budget.is_spent());
    }

    #[test]
    fn a_share_is_never_too_small_to_go_on_with() {
        let workers = workers(1);
        let budget = Budget::new(MIB, 0, Arc::clone(&workers));
        budget.claim(0, 2 * MIB);
        assert!(budget.is_spent());
        assert_eq!(budget.share(), limits::CLIENT_SHARE_MIN as u32);
    }
}
