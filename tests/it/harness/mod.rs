//! What every integration test stands on: processes, a client, replies, metrics, turns and seeds.
//!
//! Owns the life of each process that a test starts: all end with the handle that started them, also when the test
//! panics. Never hides a failure: a helper that doesn't get what it asked for panics and says what it saw. There
//! are no retries; waiting is always for a state, with a deadline.

mod client;
mod metrics;
mod process;
mod proxy;
mod redis_server;
mod reply;
mod seed;
mod shards;
mod turn;

pub use client::{Client, request, requests};
pub use metrics::Metrics;
pub use process::free_port;
pub use proxy::{Proxy, ProxyOptions, addresses, onetrip, redis_servers};
pub use redis_server::{RedisOptions, RedisServer};
pub use reply::{Reply, show};
pub use seed::Seed;
pub use shards::tags_by_shard;
pub use turn::{alone, beside_others};

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Sets a flag when dropped, so that the threads of a scope end also when the test panics inside it.
pub struct StopAtEnd<'a>(pub &'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether the longer variants are asked for.
pub fn thorough() -> bool {
    std::env::var_os("ONETRIP_TEST_ALL").is_some_and(|v| v == "1")
}

/// Waits until `ready` holds; panics with `what` after `limit`.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !ready() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
