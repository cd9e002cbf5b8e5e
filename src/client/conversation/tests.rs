//! What a conversation does when nobody wakes it by a reply, and how it ends.

use super::*;
use crate::client::budget::Budget;
use crate::client::local::{Facts, Settings};
use crate::lane::{LaneLimits, set::LaneSet};
use crate::limits::{ClientLimits, Timeouts};
use crate::metrics::WorkerMetrics;
use crate::resp::Proto;
use crate::slot::ShardId;
use crate::topology::SlotMap;
use crate::turn::Tools;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Wake, Waker};
use std::time::Duration;

#[derive(Default)]
struct Rung(AtomicBool);

impl Wake for Rung {
    fn wake(self: Arc<Rung>) {
        self.0.store(true, Relaxed);
    }
}

fn world(limits: ClientLimits) -> World {
    let metrics = Arc::new(WorkerMetrics::new(1, table::ROWS.len() + 1));
    World {
        tools: Rc::new(Tools::new(Arc::clone(&metrics))),
        lanes: LaneSet::new(&["shard".into()], &LaneLimits::new(&Timeouts::default(), 1_000)),
        map: Arc::new(SlotMap::even(1)),
        facts: Facts {
            version: "7.4.0".into(),
            now_us: Cell::new(0),
            password: None,
            directory: Arc::default(),
            settings: Arc::new(Settings::default()),
        },
        own: Default::default(),
        started_ms: 0,
        limits: Rc::new(limits),
        budget: Budget::new(limits::MEMORY_TOTAL_BYTES, 0, Arc::new([Arc::clone(&metrics)])),
        handshake: Duration::from_secs(1),
        idle: None,
        decoder: RefCell::default(),
        positions: RefCell::default(),
        strangers: Cell::default(),
        closing: Cell::new(false),
    }
}

fn client(world: &World) -> (Conversation, Arc<Rung>) {
    let conversation = Conversation::new(Session::new(1, true, 0), world);
    let rung = Arc::<Rung>::default();
    conversation.window().set_waker(&Waker::from(Arc::clone(&rung)));
    (conversation, rung)
}

#[test]
fn who_leaves_without_hearing_the_last_reply_is_let_go() {
    let world = world(ClientLimits::default());
    let (mut conversation, rung) = client(&world);
    let tools = Rc::clone(&world.tools);
    tools.turn(|turn| {
        conversation.feed(b"CLIENT REPLY OFF\r\nSET key value\r\nQUIT\r\n", &world, turn);
        assert_eq!((conversation.ending(), conversation.window().in_flight()), (Some(Closed::Client), 2));
        let mut lane = world.lanes.lane(ShardId(0), Proto::Resp2).borrow_mut();
        lane.connected(turn);
        let sent = lane.bytes();
        lane.sent(sent, turn);
        lane.received(b"+OK\r\n", turn).expect("the reply");
    });
    assert_eq!(conversation.window().in_flight(), 0);
    assert!(conversation.window().output().is_empty());
    assert!(rung.0.load(Relaxed), "nobody tells the connection that it may close");
}

#[test]
fn clients_may_leave_while_a_shutdown_refuses_commands() {
    let world = world(ClientLimits::default());
    let (mut conversation, _) = client(&world);
    world.closing.set(true);
    let tools = Rc::clone(&world.tools);
    tools.turn(|turn| conversation.feed(b"GET key\r\nQUIT\r\nGET key\r\n", &world, turn));
    assert_eq!(conversation.ending(), Some(Closed::Client));
    let told = [b"-", SHUTTING_DOWN, b"\r\n+OK\r\n"].concat();
    assert_eq!(conversation.window().output(), told);
}

#[test]
fn a_window_filled_by_local_answers_alone_waits_for_nothing_once_they_are_written() {
    let world = world(ClientLimits { output_soft: 20, ..ClientLimits::default() });
    let (mut conversation, _) = client(&world);
    let tools = Rc::clone(&world.tools);
    tools.turn(|turn| {
        conversation.feed(&b"PING\r\n".repeat(10), &world, turn);
        assert!(!conversation.wants_bytes() && !conversation.waits_for_nothing());
        let written = conversation.window().output().len();
        conversation.window().written(written, turn);
        assert!(conversation.waits_for_nothing());
        assert!(written < 70 && !conversation.resume(&world, turn), "the rest fills it again");
    });
}
