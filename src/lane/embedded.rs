//! The task that owns one lane's port to an engine thread of this process.
//!
//! The twin of `remote`, with a hand-over in memory where that has a socket: it gives the engine a turn's requests in
//! one buffer, and takes whole buffers of replies. There is nothing to dial and nothing to probe; an engine that is
//! gone means that the process is ending.

use super::timer::Timer;
use super::{Lane, Loss};
use crate::mailbox::{Port, Refused};
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
        self.tools.turn(|turn| self.lane.borrow_mut().lost(&loss, turn));
        // Whatever still comes for this shard is failed when its time is up.
        poll_fn::<(), _>(|cx| {
            self.lane.borrow_mut().set_waker(cx.waker());
            self.timer.poll(&self.lane, &self.tools, cx);
            Poll::Pending
        })
        .await;
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
