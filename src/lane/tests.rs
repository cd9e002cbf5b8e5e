//! What becomes of an order whose shard fails it: by how much of it was sent, and whether it may be asked again.

use super::*;
use crate::limits::ClientLimits;
use crate::metrics::Family;
use crate::reassembly::Asked;
use crate::turn::Tools;
use std::sync::Arc;

const MS: Nanos = 1_000_000;
const NOT_EXECUTED: &str = "-TRYAGAIN onetrip: shard 0 is unreachable, not executed\r\n";
const LOST: &str = "-ERR onetrip: outcome unknown (shard 0 at h:1: connection lost)\r\n";
const LATE: &str = "-ERR onetrip: outcome unknown (shard 0 at h:1: timed out)\r\n";

/// One client and one lane, on time of their own.
struct Bench {
    lane: Lane,
    window: Rc<RefCell<Window>>,
    tools: Tools,
    now: Nanos,
}

impl Bench {
    fn new() -> Bench {
        let limits = LaneLimits::new(&Timeouts::default(), 1 << 20);
        Bench {
            lane: Lane::new(ShardId(0), Proto::Resp2, "h:1".into(), limits),
            window: Rc::new(RefCell::new(Window::new(1, Rc::new(ClientLimits::default())))),
            tools: Tools::new(Arc::new(WorkerMetrics::new(1, 1))),
            now: 1,
        }
    }

    fn with<R>(&mut self, f: impl FnOnce(&mut Lane, &mut Turn<'_>) -> R) -> R {
        let (lane, now) = (&mut self.lane, self.now);
        self.tools.turn(|turn| {
            turn.now = now;
            f(lane, turn)
        })
    }

    fn connect(&mut self) {
        self.with(|lane, turn| lane.connected(turn));
    }

    fn ask(&mut self, frame: &[u8], readonly: bool) {
        let asked = Asked { spec: 0, family: Family::Write, len: frame.len() as u32, silent: false };
        let mut window = self.window.borrow_mut();
        window.begin_batch(self.now, u32::MAX);
        let ticket = window.expect(asked, ShardId(0));
        drop(window);
        self.lane.push(&self.window, Order { frame: Frame::Copied(frame), ticket, readonly }, self.now);
    }

    /// The socket takes `n` bytes.
    fn send(&mut self, n: usize) {
        self.with(|lane, turn| lane.sent(n, turn));
    }

    fn send_all(&mut self) {
        self.send(self.lane.ledger.rope.unsent());
    }

    fn reply(&mut self, bytes: &[u8]) {
        self.with(|lane, turn| lane.received(bytes, turn)).expect("replies that were asked for");
    }

    fn lose(&mut self) {
        self.with(|lane, turn| lane.lost(&Loss::Closed, turn));
    }

    fn wait(&mut self, ms: u64) {
        self.now += ms * MS;
        self.with(|lane, turn| lane.tick(turn));
    }

    /// What the client is told.
    fn told(&self) -> String {
        String::from_utf8_lossy(self.window.borrow().output()).into_owned()
    }
}

#[test]
fn what_was_not_sent_is_not_executed() {
    let mut bench = Bench::new();
    bench.ask(b"one", false);
    bench.wait(limits::CONNECT_MS - 1);
    assert_eq!(bench.told(), "");
    bench.wait(1);
    assert_eq!(bench.told(), NOT_EXECUTED);
}

#[test]
fn what_was_not_sent_goes_to_the_next_connection() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"one", false);
    bench.send(3);
    bench.ask(b"two", false);
    bench.lose();
    assert_eq!(bench.told(), LOST);
    bench.connect();
    assert_eq!(bench.lane.ledger.rope.unsent(), 3);
    bench.send_all();
    bench.reply(b"+2\r\n");
    assert_eq!(bench.told(), format!("{LOST}+2\r\n"));
}

#[test]
fn of_what_was_sent_in_part_nobody_knows() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"one", false);
    bench.send(1);
    bench.lose();
    assert_eq!(bench.told(), LOST);
    assert!(bench.lane.ledger.rope.is_empty(), "it would be sent again");
}

#[test]
fn a_read_is_asked_once_more_and_no_oftener() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"read", true);
    bench.send_all();
    bench.lose();
    assert_eq!(bench.told(), "");
    bench.connect();
    bench.send_all();
    bench.lose();
    assert_eq!(bench.told(), LOST);
}

#[test]
fn a_read_before_a_sent_write_of_its_client_is_not_asked_again() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"read", true);
    bench.ask(b"write", false);
    bench.send_all();
    bench.lose();
    assert_eq!(bench.told(), format!("{LOST}{LOST}"));
}

#[test]
fn a_silent_shard_is_sent_nothing_more_and_its_late_reply_reaches_nobody() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"one", false);
    bench.send_all();
    bench.wait(limits::REQUEST_MS - limits::CONNECT_MS);
    bench.ask(b"two", false);
    bench.wait(limits::CONNECT_MS);
    assert_eq!(bench.told(), format!("{LATE}{NOT_EXECUTED}"));
    assert_eq!(bench.lane.refuses(bench.now), Some(Failure::Unreachable));
    bench.reply(b"+1\r\n");
    assert_eq!(bench.told(), format!("{LATE}{NOT_EXECUTED}"));
    assert_eq!(bench.lane.refuses(bench.now), None);
}

#[test]
fn a_process_that_stood_still_holds_nothing_against_its_shard() {
    let mut bench = Bench::new();
    bench.connect();
    bench.ask(b"one", false);
    bench.wait(3_600_000);
    assert_eq!((bench.told().as_str(), bench.lane.refuses(bench.now)), ("", None));
    bench.send_all();
    bench.reply(b"+1\r\n");
    assert_eq!(bench.told(), "+1\r\n");
}
