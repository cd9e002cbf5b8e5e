//! A lane's one timer: armed while anything is in the ledger, for the oldest of it, and never per command.

use super::Lane;
use crate::clock;
use crate::trip::Nanos;
use crate::turn::Tools;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use tokio::time::{Sleep, sleep_until};

/// Shortest time between two looks at a lane's overdue orders.
const TICK_MIN: Nanos = 1_000_000;

#[derive(Default)]
pub struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    /// What it is armed for.
    at: Nanos,
}

impl Timer {
    /// Lets the lane fail what has waited too long, and sees to it that the task is woken for the next.
    #[inline]
    pub fn poll(&mut self, lane: &RefCell<Lane>, tools: &Tools, cx: &mut Context<'_>) {
        // The one thing that can come up earlier than what it is armed for.
        if lane.borrow().patience_ends().is_some_and(|at| at < self.at) {
            self.sleep = None;
        }
        loop {
            if self.sleep.is_none() {
                let Some(at) = lane.borrow().next_tick() else { return };
                self.arm(at, tools);
            }
            let Some(sleep) = &mut self.sleep else { return };
            if sleep.as_mut().poll(cx).is_pending() {
                return;
            }
            self.sleep = None;
            clock::begin_turn();
            if let Some(at) = tools.turn(|turn| lane.borrow_mut().tick(turn)) {
                self.arm(at.max(tools.clock.now() + TICK_MIN), tools);
            }
        }
    }

    /// Forgets what it was armed for: the lane's state has changed.
    pub fn reset(&mut self) {
        self.sleep = None;
    }

    fn arm(&mut self, at: Nanos, tools: &Tools) {
        self.at = at;
        self.sleep = Some(Box::pin(sleep_until(tools.clock.instant(at).into())));
    }
}
