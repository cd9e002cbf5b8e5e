//! Engine threads: the embedded shards.
//!
//! Each thread owns one `Engine` and one inbox, and runs until nobody can send to it any more. A hand-over is
//! executed whole, its replies leave in one go (in parts where they are large, so that a hundred GETs of a
//! megabyte are not held at once). Between hand-overs it sweeps for expired keys; without keys that expire it
//! sleeps until it is sent something.
//!
//! The wall clock is read once a batch of hand-overs: all commands in it see one time, as within one turn of
//! Redis's own loop. Must never block on a port: a worker always takes its replies.

use crate::engine::{Engine, Group};
use crate::lane::embedded::Meaning;
use crate::mailbox::{Door, Handover, Inbox, Received, mailbox};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Replies leave the engine in parts of at least this size.
const PART_BYTES: usize = 256 * 1024;
/// Time between two sweeps for expired keys: Redis's `hz 10`.
const SWEEP_EVERY: Duration = Duration::from_millis(100);
/// Work of one sweep, in pages: about a millisecond.
const SWEEP_BUDGET: usize = 16 * 1024;

/// What an engine tells of itself; written by its thread alone, once a hand-over, read by anybody.
#[derive(Debug, Default)]
pub struct EngineGauges {
    pub keys: AtomicU64,
    pub memory_bytes: AtomicU64,
    /// Time spent executing since the start.
    pub busy_ns: AtomicU64,
    pub commands: AtomicU64,
}

/// A running engine, seen from outside.
pub struct EngineHandle {
    pub door: Door<Meaning>,
    pub gauges: Arc<EngineGauges>,
    thread: JoinHandle<()>,
}

impl EngineHandle {
    /// Gives up this door and waits until the engine has stopped, which it does when all ports are gone too.
    pub fn stop(self) {
        drop(self.door);
        // A panic there was told on stderr already; there is nothing left to clean up.
        let _ = self.thread.join();
    }
}

/// Starts `count` engines, each on a thread of its own.
pub fn start(count: u16) -> std::io::Result<Vec<EngineHandle>> {
    (0..count).map(start_one).collect()
}

fn start_one(number: u16) -> std::io::Result<EngineHandle> {
    let (door, inbox) = mailbox();
    let gauges = Arc::new(EngineGauges::default());
    let seed = RandomState::new().hash_one(number);
    let runner =
        Runner { engine: Engine::new(seed), gauges: Arc::clone(&gauges), last_sweep: Instant::now() };
    let thread =
        std::thread::Builder::new().name(format!("engine-{number}")).spawn(move || runner.run(inbox))?;
    Ok(EngineHandle { door, gauges, thread })
}

/// An engine and its thread's life.
struct Runner {
    engine: Engine,
    gauges: Arc<EngineGauges>,
    last_sweep: Instant,
}

impl Runner {
    fn run(mut self, mut inbox: Inbox<Meaning>) {
        let mut batch = Vec::new();
        let mut group = Group::default();
        loop {
            let wait = self.engine.any_volatile().then_some(SWEEP_EVERY);
            let received = inbox.receive(&mut batch, wait);
            if received == Received::Closed {
                return;
            }
            let mut begun = Instant::now();
            let now_ms = unix_ms();
            for mut handover in batch.drain(..) {
                self.execute(&mut group, &mut handover, now_ms);
                // The gauges first: who has the replies must find them counted.
                begun = self.publish(begun);
                handover.finish();
            }
            self.sweep(begun, now_ms);
            self.publish(begun);
        }
    }

    fn execute(&mut self, group: &mut Group, handover: &mut Handover<Meaning>, now_ms: u64) {
        let (proto, db) = handover.tag;
        let mut at = 0;
        while at < handover.requests.len() {
            // Taken out, so that replies can be delivered between.
            let requests = std::mem::take(&mut handover.requests);
            let rest = &requests[at..];
            let Ok(len) = group.decode(rest) else { unreachable!("a lane hands over what it has decoded") };
            self.engine.look_ahead(db, group, rest);
            for args in group.requests(rest) {
                if handover.replies.len() >= PART_BYTES {
                    handover.deliver_part();
                }
                self.engine.execute(proto, db, args, now_ms, &mut handover.replies);
            }
            at += len;
            handover.requests = requests;
        }
    }

    fn sweep(&mut self, now: Instant, now_ms: u64) {
        if now.duration_since(self.last_sweep) >= SWEEP_EVERY {
            self.last_sweep = now;
            self.engine.expire_some(now_ms, SWEEP_BUDGET);
        }
    }

    /// Brings the gauges up to date; returns the time.
    fn publish(&self, begun: Instant) -> Instant {
        let now = Instant::now();
        let busy = now.duration_since(begun).as_nanos() as u64 + self.gauges.busy_ns.load(Ordering::Relaxed);
        self.gauges.busy_ns.store(busy, Ordering::Relaxed);
        self.gauges.commands.store(self.engine.commands(), Ordering::Relaxed);
        self.gauges.keys.store(self.engine.keys() as u64, Ordering::Relaxed);
        self.gauges.memory_bytes.store(self.engine.memory_bytes() as u64, Ordering::Relaxed);
        now
    }
}

/// A clock before 1970 counts as 1970.
fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Port;
    use crate::resp::{Proto, write};

    fn requests(lines: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in lines {
            write::request(&mut bytes, &line.split(' ').collect::<Vec<_>>());
        }
        bytes
    }

    async fn ask(port: &mut Port<Meaning>, lane: Meaning, lines: &[&str], len: usize) -> Vec<u8> {
        assert_eq!(port.send(requests(lines), lane), Ok(()));
        let mut replies = Vec::new();
        while replies.len() < len {
            let part = port.recv().await.expect("the engine lives");
            replies.extend_from_slice(&part);
            port.recycle(part);
        }
        replies
    }

    #[tokio::test]
    async fn ports_of_all_kinds_share_an_engine_and_it_stops_with_the_last() {
        let engine = start(1).unwrap().pop().unwrap();
        let (mut a, mut b) = (engine.door.port(1 << 20), engine.door.port(1 << 20));
        let lines = ["SET k v", "INCR n", "GET k"];
        assert_eq!(ask(&mut a, (Proto::Resp2, 0), &lines, 16).await, b"+OK\r\n:1\r\n$1\r\nv\r\n");
        assert_eq!(ask(&mut b, (Proto::Resp3, 1), &["GET k"], 3).await, b"_\r\n");
        assert_eq!(ask(&mut b, (Proto::Resp3, 0), &["GET k"], 7).await, b"$1\r\nv\r\n");
        assert_eq!(engine.gauges.commands.load(Ordering::Relaxed), 5);
        assert_eq!(engine.gauges.keys.load(Ordering::Relaxed), 2);
        assert!(engine.gauges.busy_ns.load(Ordering::Relaxed) > 0);
        drop((a, b));
        engine.stop();
    }

    #[tokio::test]
    async fn large_replies_come_in_parts() {
        let engine = start(1).unwrap().pop().unwrap();
        let mut port = engine.door.port(1 << 24);
        let value = "x".repeat(100_000);
        ask(&mut port, (Proto::Resp2, 0), &[&format!("SET k {value}")], 5).await;
        assert_eq!(port.send(requests(&["GET k"; 20]), (Proto::Resp2, 0)), Ok(()));
        let (mut parts, mut bytes) = (0, 0);
        while port.in_flight() > 0 {
            bytes += port.recv().await.unwrap().len();
            parts += 1;
        }
        assert_eq!(bytes, 20 * (100_000 + 11));
        assert_eq!(parts, 7);
        drop(port);
        engine.stop();
    }

    #[tokio::test]
    async fn an_idle_engine_removes_what_has_expired() {
        let engine = start(1).unwrap().pop().unwrap();
        let mut port = engine.door.port(1 << 20);
        ask(&mut port, (Proto::Resp2, 0), &["SET a v PX 50", "SET b v"], 10).await;
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if engine.gauges.keys.load(Ordering::Relaxed) == 1 {
                break;
            }
        }
        assert_eq!(engine.gauges.keys.load(Ordering::Relaxed), 1);
        drop(port);
        engine.stop();
    }
}
