//! A waker that can be asked whether it was rung.
//!
//! A task of the simulation runs only when it was woken, when its socket has something for it or when its timer goes
//! off, as under a real runtime. A wake-up that the middle forgets is then a reply that never comes, and is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Wake, Waker};

#[derive(Default)]
struct Rung(AtomicBool);

impl Wake for Rung {
    fn wake(self: Arc<Rung>) {
        self.0.store(true, Relaxed);
    }
}

pub struct Bell {
    rung: Arc<Rung>,
    waker: Waker,
}

impl Bell {
    /// Rung once already: a new task is always polled.
    pub fn new() -> Bell {
        let rung = Arc::new(Rung(AtomicBool::new(true)));
        Bell { waker: Waker::from(Arc::clone(&rung)), rung }
    }

    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    pub fn ring(&self) {
        self.rung.0.store(true, Relaxed);
    }

    /// Whether it was rung since the last time it was asked.
    pub fn take(&self) -> bool {
        self.rung.0.swap(false, Relaxed)
    }
}
