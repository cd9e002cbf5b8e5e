//! The task that owns one socket to one shard.
//!
//! It connects when its lane first has something to send, then moves bytes: reads until the socket is empty, writes
//! once a turn. A turn is one pass of the runtime's queue: the task that finds something to send steps back behind
//! every client that is ready in this turn, and writes what all of them have left with the lane. It decides nothing
//! about requests or replies; that is the lane's.

use super::dial::{Backoff, DialError, dial};
use super::timer::Timer;
use super::{Lane, Loss};
use crate::address::Target;
use crate::limits::Timeouts;
use crate::metrics::LaneError;
use crate::resp::Proto;
use crate::socket::Socket;
use crate::turn::Tools;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio_util::io::poll_read_buf;

/// Reads of one socket before others get their turn: a megabyte.
const READS_A_TURN: usize = 16;
/// Slices of one vectored write.
const SLICES: usize = 16;

type Probe = Pin<Box<dyn Future<Output = bool>>>;

pub struct Remote {
    lane: Rc<RefCell<Lane>>,
    tools: Rc<Tools>,
    target: Rc<Target>,
    timeouts: Timeouts,
    /// Fires when the lane's oldest order has waited long enough.
    timer: Timer,
    probe: Option<Probe>,
    /// Stepped back once in this turn: what is unsent now is the whole turn's.
    stepped_back: bool,
}

impl Remote {
    pub fn new(lane: Rc<RefCell<Lane>>, tools: Rc<Tools>, target: Rc<Target>, timeouts: Timeouts) -> Remote {
        Remote { lane, tools, target, timeouts, timer: Timer::default(), probe: None, stepped_back: false }
    }

    /// Serves the lane for as long as the worker lives.
    pub async fn run(mut self) {
        let mut backoff = Backoff::new(self.timeouts);
        let mut complaint = None;
        poll_fn(|cx| self.poll_wanted(cx)).await;
        loop {
            let proto = self.lane.borrow().proto;
            let (target, limits) = (Rc::clone(&self.target), self.timeouts);
            match self.ticking(dial(&target, proto, &limits)).await {
                Ok(socket) => {
                    backoff.reset();
                    complaint = None;
                    self.serve(socket).await;
                }
                Err(error) => {
                    if complaint.as_ref() != Some(&error) {
                        let lane = self.lane.borrow();
                        tracing::warn!(shard = %lane.shard, address = lane.address(), error = error.advice(), "cannot reach the shard, trying on");
                    }
                    self.tools.turn(|turn| self.lane.borrow_mut().refused(turn, error.kind));
                    complaint = Some(error);
                }
            }
            self.ticking(tokio::time::sleep(backoff.wait())).await;
        }
    }

    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut lane = self.lane.borrow_mut();
        lane.set_waker(cx.waker());
        if lane.wants_connection() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Runs a future while the lane's time goes on: orders that wait too long meanwhile are failed.
    async fn ticking<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            self.lane.borrow_mut().set_waker(cx.waker());
            self.timer.poll(&self.lane, &self.tools, cx);
            self.lane.borrow_mut().tell(&self.tools.metrics);
            Poll::Pending
        })
        .await
    }

    async fn serve(&mut self, mut socket: Socket) {
        {
            let mut lane = self.lane.borrow_mut();
            self.tools.turn(|turn| lane.connected(turn));
            tracing::info!(shard = %lane.shard, address = lane.address(), resp = lane.proto.number(), "connected");
        }
        let loss = poll_fn(|cx| self.poll_serve(&mut socket, cx)).await;
        drop(socket);
        self.probe = None;
        self.timer.reset();
        let mut lane = self.lane.borrow_mut();
        tracing::warn!(shard = %lane.shard, address = lane.address(), reason = %loss, "connection lost");
        self.tools.turn(|turn| {
            lane.lost(&loss, turn);
            turn.metrics.shards[lane.shard.index()].reconnects.add(1);
        });
    }

    fn poll_serve(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Loss> {
        self.lane.borrow_mut().set_waker(cx.waker());
        if let Err(loss) = self.poll_receive(socket, cx) {
            return Poll::Ready(loss);
        }
        if let Err(loss) = self.poll_send(socket, cx) {
            return Poll::Ready(loss);
        }
        self.timer.poll(&self.lane, &self.tools, cx);
        self.lane.borrow_mut().tell(&self.tools.metrics);
        if self.poll_probe(cx) {
            return Poll::Ready(Loss::Dead);
        }
        Poll::Pending
    }

    fn poll_receive(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Result<(), Loss> {
        let mut scratch = self.tools.scratch.borrow_mut();
        for _ in 0..READS_A_TURN {
            if self.tools.turn(|turn| self.lane.borrow_mut().holds_back(turn)) {
                return Ok(());
            }
            scratch.clear();
            match poll_read_buf(Pin::new(&mut *socket), cx, &mut *scratch) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(Loss::Closed),
                Poll::Ready(Ok(_)) => {
                    self.tools.turn(|turn| self.lane.borrow_mut().received(&scratch, turn))?;
                }
                Poll::Ready(Err(error)) => return Err(Loss::Io(error.to_string())),
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    fn poll_send(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Result<(), Loss> {
        let mut lane = self.lane.borrow_mut();
        loop {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let filled = lane.unsent(&mut slices);
            if filled == 0 {
                self.stepped_back = false;
                return Ok(());
            }
            if !self.stepped_back {
                self.stepped_back = true;
                cx.waker().wake_by_ref();
                return Ok(());
            }
            match write(socket, cx, &slices[..filled]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(Loss::Closed),
                Poll::Ready(Ok(n)) => self.tools.turn(|turn| lane.sent(n, turn)),
                Poll::Ready(Err(error)) => return Err(Loss::Io(error.to_string())),
            }
        }
    }

    /// While the shard is silent for too long, asks it on a connection of its own whether it lives. True: it does not.
    fn poll_probe(&mut self, cx: &mut Context<'_>) -> bool {
        if self.probe.is_none() {
            if !self.lane.borrow().wants_probe(self.tools.clock.now()) {
                return false;
            }
            let (target, limits) = (Rc::clone(&self.target), self.timeouts);
            // Whatever it answers (busy with a script, another password), it lives.
            let lives = |error: DialError| error.kind != LaneError::Unreachable;
            self.probe = Some(Box::pin(async move {
                dial(&target, Proto::Resp2, &limits).await.map_or_else(lives, |_| true)
            }));
        }
        let Some(probe) = &mut self.probe else { return false };
        let Poll::Ready(lives) = probe.as_mut().poll(cx) else { return false };
        self.probe = None;
        if lives {
            self.lane.borrow_mut().probed(self.tools.clock.now());
        }
        !lives
    }
}

#[inline]
fn write(socket: &mut Socket, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<std::io::Result<usize>> {
    let n = match slices {
        [only] => ready!(Pin::new(socket).poll_write(cx, only))?,
        many => ready!(Pin::new(socket).poll_write_vectored(cx, many))?,
    };
    Poll::Ready(Ok(n))
}
