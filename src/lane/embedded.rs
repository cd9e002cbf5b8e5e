//! The task that owns one lane's port to an engine thread of this process.
//!
//! The twin of `remote`, with a hand-over in memory where that has a socket: it gives the engine a turn's requests in
//! one buffer, and takes whole buffers of replies. There is nothing to dial and nothing to probe: an engine that has
//! all its requests answered is well, and one that is gone (it panicked, or the process is ending) does not come back.

use super::timer::Timer;
use super::{Lane, Loss};
use crate::mailbox::{Port, Refused};
use crate::metrics::LaneError;
use crate::resp::Proto;
use crate::turn::Tools;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Slices of the lane's bytes that are gathered at a time.
const SLICES: usize = 16;

/// How an engine is told to read a hand-over: the RESP version of the replies, and the database.
pub type Meaning = (Proto, u16);

pub struct Embedded {
    lane: Rc<RefCell<Lane>>,
    tools: Rc<Tools>,
    port: Port<Meaning>,
    timer: Timer,
    /// Stepped back once in this turn: what is unsent now is the whole turn's.
    stepped_back: bool,
}

impl Embedded {
    pub fn new(lane: Rc<RefCell<Lane>>, tools: Rc<Tools>, port: Port<Meaning>) -> Embedded {
        Embedded { lane, tools, port, timer: Timer::default(), stepped_back: false }
    }

    /// Serves the lane for as long as the worker and the engine live.
    pub async fn run(mut self) {
        poll_fn(|cx| self.poll_wanted(cx)).await;
        self.tools.turn(|turn| self.lane.borrow_mut().connected(turn));
        let loss = poll_fn(|cx| self.poll_serve(cx)).await;
        tracing::error!(shard = %self.lane.borrow().shard, reason = %loss, "an embedded shard is gone");
        self.give_up(&loss);
        poll_fn::<(), _>(|cx| {
            self.lane.borrow_mut().set_waker(cx.waker());
            self.timer.poll(&self.lane, &self.tools, cx);
            self.lane.borrow_mut().tell(&self.tools.metrics);
            Poll::Pending
        })
        .await;
    }

    /// The engine is gone for good: what waits is failed when its time is up, what comes later at once.
    fn give_up(&mut self, loss: &Loss) {
        self.timer.reset();
        let mut lane = self.lane.borrow_mut();
        self.tools.turn(|turn| {
            lane.lost(loss, turn);
            lane.refused(turn, LaneError::Unreachable);
        });
    }

    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut lane = self.lane.borrow_mut();
        lane.set_waker(cx.waker());
        if lane.wants_connection() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_serve(&mut self, cx: &mut Context<'_>) -> Poll<Loss> {
        self.lane.borrow_mut().set_waker(cx.waker());
        if let Err(loss) = self.receive(cx).and_then(|()| self.send(cx)) {
            return Poll::Ready(loss);
        }
        self.timer.poll(&self.lane, &self.tools, cx);
        self.lane.borrow_mut().tell(&self.tools.metrics);
        Poll::Pending
    }

    fn receive(&mut self, cx: &mut Context<'_>) -> Result<(), Loss> {
        while !self.tools.turn(|turn| self.lane.borrow_mut().holds_back(turn))
            && let Poll::Ready(replies) = self.port.poll_recv(cx)
        {
            let Some(replies) = replies else { return Err(Loss::Closed) };
            self.tools.turn(|turn| self.lane.borrow_mut().received(&replies, turn))?;
            self.port.recycle(replies);
        }
        Ok(())
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Loss> {
        let mut lane = self.lane.borrow_mut();
        let mut slices = [IoSlice::new(&[]); SLICES];
        let filled = lane.unsent(&mut slices);
        // A full port is tried again with the next replies, which wake this task.
        if filled == 0 || self.port.is_full() {
            self.stepped_back = false;
            return Ok(());
        }
        if !std::mem::replace(&mut self.stepped_back, true) {
            cx.waker().wake_by_ref();
            return Ok(());
        }
        self.stepped_back = false;
        let mut requests = self.port.buffer();
        for slice in &slices[..filled] {
            requests.extend_from_slice(slice);
        }
        let sent = requests.len();
        match self.port.send(requests, (lane.proto, 0)) {
            Ok(()) => self.tools.turn(|turn| lane.sent(sent, turn)),
            Err(Refused::Full(requests)) => self.port.recycle(requests),
            Err(Refused::Gone(_)) => return Err(Loss::Closed),
        }
        if filled == SLICES {
            cx.waker().wake_by_ref();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::LaneLimits;
    use crate::limits::{ClientLimits, Timeouts};
    use crate::mailbox::{Inbox, Received, mailbox};
    use crate::metrics::{Family, WorkerMetrics};
    use crate::reassembly::{Asked, Window};
    use crate::slot::ShardId;
    use crate::trip::{Failure, Frame, Nanos, Order};
    use std::sync::Arc;
    use std::task::Waker;
    use std::time::Duration;

    const SHARD: ShardId = ShardId(0);
    const LATE: Nanos = 3_600_000_000_000;

    /// One client, one lane, and an engine that the test plays.
    struct Bench {
        task: Embedded,
        inbox: Inbox<Meaning>,
        window: Rc<RefCell<Window>>,
    }

    impl Bench {
        /// With at most `room` bytes in flight.
        fn new(room: usize) -> Bench {
            let (door, inbox) = mailbox();
            let limits = LaneLimits::new(&Timeouts::default(), 1 << 20);
            let lane = Lane::new(SHARD, Proto::Resp2, "embedded".into(), limits);
            let tools = Rc::new(Tools::new(Arc::new(WorkerMetrics::new(1, 1))));
            let task = Embedded::new(Rc::new(RefCell::new(lane)), tools, door.port(room));
            task.tools.turn(|turn| {
                let mut lane = task.lane.borrow_mut();
                lane.link = crate::lane::Link::Down { since: turn.now, failed: false };
                lane.connected(turn);
            });
            let window = Rc::new(RefCell::new(Window::new(1, Rc::new(ClientLimits::default()))));
            Bench { task, inbox, window }
        }

        fn ask(&self, frame: &[u8]) {
            let now = self.task.tools.clock.now();
            let asked = Asked { spec: 0, family: Family::Write, len: frame.len() as u32, silent: false };
            let mut window = self.window.borrow_mut();
            window.begin_batch(now, u32::MAX);
            let ticket = window.expect(asked, SHARD);
            drop(window);
            let order = Order { frame: Frame::Copied(frame), ticket, readonly: false };
            self.task.lane.borrow_mut().push(&self.window, order, now);
        }

        /// Two polls: the first steps back.
        fn flush(&mut self) -> Poll<Loss> {
            let mut cx = Context::from_waker(Waker::noop());
            match self.task.poll_serve(&mut cx) {
                Poll::Pending => self.task.poll_serve(&mut cx),
                ready => ready,
            }
        }

        /// Answers every hand-over with `reply`; what they asked.
        fn answer(&mut self, reply: &[u8]) -> Vec<Vec<u8>> {
            let mut batch = Vec::new();
            if self.inbox.receive(&mut batch, Some(Duration::ZERO)) != Received::Handovers {
                return Vec::new();
            }
            let answer = |mut handover: crate::mailbox::Handover<Meaning>| {
                let requests = handover.requests.clone();
                handover.replies.extend_from_slice(reply);
                handover.finish();
                requests
            };
            batch.into_iter().map(answer).collect()
        }

        fn output(&self) -> String {
            String::from_utf8_lossy(self.window.borrow().output()).into_owned()
        }
    }

    #[tokio::test]
    async fn a_turn_is_one_hand_over_and_a_full_port_waits_for_replies() {
        let mut bench = Bench::new(4);
        bench.ask(b"one");
        bench.ask(b"two");
        assert!(bench.flush().is_pending());
        bench.ask(b"three");
        assert!(bench.flush().is_pending());
        assert_eq!(bench.answer(b"+1\r\n+2\r\n"), [b"onetwo"]);
        assert!(bench.flush().is_pending());
        assert_eq!(bench.answer(b"+3\r\n"), [b"three"]);
        assert!(bench.flush().is_pending());
        assert_eq!(bench.output(), "+1\r\n+2\r\n+3\r\n");
    }

    #[tokio::test]
    async fn a_process_that_stood_still_holds_nothing_against_an_idle_engine() {
        let mut bench = Bench::new(100);
        bench.ask(b"one");
        let now = bench.task.tools.clock.now();
        let late = |turn: &mut crate::turn::Turn<'_>| {
            turn.now = now + LATE;
            bench.task.lane.borrow_mut().tick(turn)
        };
        bench.task.tools.turn(late);
        assert_eq!((bench.output().as_str(), bench.task.lane.borrow().refuses(now)), ("", None));
        assert!(bench.flush().is_pending());
        assert_eq!(bench.answer(b"+1\r\n"), [b"one"]);
    }

    #[tokio::test]
    async fn an_engine_that_dies_leaves_outcomes_unknown_and_refuses_at_once() {
        let mut bench = Bench::new(100);
        bench.ask(b"one");
        assert!(bench.flush().is_pending());
        let (_, unused) = mailbox();
        drop(std::mem::replace(&mut bench.inbox, unused));
        let Poll::Ready(loss) = bench.flush() else { panic!("nobody noticed") };
        bench.task.give_up(&loss);
        assert!(bench.output().starts_with("-ERR onetrip: outcome unknown (shard 0 at embedded"));
        let later = bench.task.tools.clock.now() + LATE;
        assert_eq!(bench.task.lane.borrow().refuses(later), Some(Failure::Unreachable));
    }
}
