//! Whether new clients are welcome: what /readyz tells a load balancer.
//!
//! One shard that is down later doesn't make onetrip unready: its other shards' keys are served, and taking the whole
//! out would turn one dead shard into an outage.

use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Not every shard has answered yet.
    Starting,
    Serving,
    /// Told to stop; only what is in flight is still served.
    Draining,
}

/// Written by the proxy, read by the admin thread.
#[derive(Debug)]
pub struct Health(AtomicU8);

impl Default for Health {
    fn default() -> Health {
        Health(AtomicU8::new(State::Starting as u8))
    }
}

impl Health {
    /// Goes on to a later state. A step back is ignored: a shard that answers at last doesn't undo a drain.
    pub fn advance(&self, state: State) {
        self.0.fetch_max(state as u8, Ordering::Relaxed);
    }

    pub fn state(&self) -> State {
        match self.0.load(Ordering::Relaxed) {
            0 => State::Starting,
            1 => State::Serving,
            _ => State::Draining,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_is_final() {
        let health = Health::default();
        assert_eq!(health.state(), State::Starting);
        health.advance(State::Serving);
        assert_eq!(health.state(), State::Serving);
        health.advance(State::Draining);
        health.advance(State::Serving);
        assert_eq!(health.state(), State::Draining);
    }
}
