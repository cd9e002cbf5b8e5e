//! Turns: which tests may run side by side.
//!
//! Tests that measure waits or memory, or open thousands of sockets, take the machine for themselves; all others
//! share it. Each test takes exactly one turn, first thing. A turn outlives a panic: the lock carries no data, so a
//! poisoned one is as good as new.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

/// A turn beside other tests.
pub fn beside_others() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// A turn with nothing else running.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}
