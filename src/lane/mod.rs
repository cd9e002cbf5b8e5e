//! The only door to a shard: the ordered way for one worker, one shard, one protocol version.
//!
//! A lane takes orders, keeps them in its ledger until they are answered, and hands every reply to the window that
//! waits for it. It does no I/O and reads no clock: `remote` owns a socket and `embedded` a mailbox, and they tell
//! the lane what was sent, what came and what time it is. One contract holds for all orders: a reply or a failure,
//! exactly once.
//!
//! ```text
//!   client side                    lane                          remote (one task, one socket)
//!   push(order) ──────────► ledger + rope ──── unsent ─────────► write, once a turn
//!                                                                 │
//!   window.fill ◄────────── scanner ◄───────── received ◄──────── read
//!   window.fail ◄────────── lost, refused, tick ◄──────────────── errors, time
//! ```
//!
//! What may have been executed is never sent again, except requests flagged readonly, once.

pub mod dial;
pub mod embedded;
mod ledger;
pub mod remote;
mod rope;
pub mod set;
mod timer;

use crate::limits::{self, Timeouts};
use crate::metrics::{Buffer, LaneError, Outcome, Side, WorkerMetrics};
use crate::reassembly::Window;
use crate::resp::Proto;
use crate::resp::reply::{Fault, Scanner};
use crate::resp::write;
use crate::slot::ShardId;
use crate::trip::{Failure, Frame, Nanos, Order, Ticket};
use crate::turn::Turn;
use ledger::{Entry, Ledger};
use std::cell::RefCell;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::Waker;

/// The times and bounds that a lane keeps to; see `limits` for the defaults and their reasons.
#[derive(Clone, Copy, Debug)]
pub struct LaneLimits {
    connect: Nanos,
    request: Nanos,
    dead: Nanos,
    bytes: usize,
}

impl LaneLimits {
    pub fn new(timeouts: &Timeouts, bytes: usize) -> LaneLimits {
        let nanos = |time: std::time::Duration| time.as_nanos() as Nanos;
        LaneLimits {
            connect: nanos(timeouts.connect),
            request: nanos(timeouts.request),
            dead: nanos(timeouts.lane_dead),
            bytes,
        }
    }
}

/// The state of the way to the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// Nothing was ever asked of it.
    Idle,
    /// No connection. `failed`: an attempt to connect has failed since.
    Down {
        since: Nanos,
        failed: bool,
    },
    Up,
}

/// Why the connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    Closed,
    Io(String),
    /// The shard's bytes are no replies.
    Protocol(Fault),
    /// More replies than requests.
    Unasked,
    /// Silent for too long, and a probe failed.
    Dead,
    /// onetrip is shutting down.
    Shutdown,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Loss::Closed => f.write_str("closed by the shard"),
            Loss::Io(error) => f.write_str(error),
            Loss::Protocol(fault) => write!(f, "protocol error: {fault}"),
            Loss::Unasked => f.write_str("protocol error: a reply that nobody asked for"),
            Loss::Dead => f.write_str("no byte for too long, and a probe failed"),
            Loss::Shutdown => f.write_str("shutting down"),
        }
    }
}

/// A client that a large reply is streamed to, and that has too much of it unread.
struct Choked {
    window: Rc<RefCell<Window>>,
    since: Nanos,
}

impl Choked {
    fn patience_ends(&self) -> Nanos {
        self.since + limits::STREAM_PATIENCE.as_nanos() as Nanos
    }
}

pub struct Lane {
    pub shard: ShardId,
    pub proto: Proto,
    /// Where the shard is, for people.
    address: Rc<str>,
    limits: LaneLimits,
    ledger: Ledger,
    scanner: Scanner,
    link: Link,
    /// Trips at the front whose time is up: their late replies are swallowed.
    expired: usize,
    /// A request timed out and not a byte has come since: send nothing more, fail fast.
    stalled: bool,
    last_byte: Nanos,
    /// Requests pushed since the last flush began, and the bytes of them.
    fresh: u32,
    fresh_bytes: usize,
    waker: Option<Waker>,
    woken: bool,
    choked: Option<Choked>,
    /// What the gauges were told: requests in flight, bytes held, time of the oldest request (0: none).
    told: (u64, u64, Nanos),
    /// Clients that wait until the lane has room.
    waiters: Vec<Rc<RefCell<Window>>>,
}

impl Lane {
    pub fn new(shard: ShardId, proto: Proto, address: Rc<str>, limits: LaneLimits) -> Lane {
        Lane {
            shard,
            proto,
            address,
            limits,
            ledger: Ledger::default(),
            scanner: Scanner::default(),
            link: Link::Idle,
            expired: 0,
            stalled: false,
            last_byte: 0,
            fresh: 0,
            fresh_bytes: 0,
            waker: None,
            woken: false,
            choked: None,
            told: (0, 0, 0),
            waiters: Vec::new(),
        }
    }

    // --- The client side --------------------------------------------------------------------------------------

    /// Why an order would be refused now: the shard has been out of reach for longer than an order may wait.
    #[inline]
    pub fn refuses(&self, now: Nanos) -> Option<Failure> {
        match self.link {
            Link::Up if !self.stalled => None,
            Link::Down { since, failed } if !failed || now < since + self.limits.connect => None,
            Link::Idle => None,
            _ => Some(Failure::Unreachable),
        }
    }

    /// Whether an order may be pushed now: there is room, and it would not be refused.
    #[inline]
    pub fn takes_orders(&self, now: Nanos) -> bool {
        !self.is_full() && self.refuses(now).is_none()
    }

    /// Whether the lane holds as much as it may.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.ledger.rope.len() >= self.limits.bytes
    }

    /// Wakes `window`'s client when the lane has room again.
    pub fn wait_for_room(&mut self, window: &Rc<RefCell<Window>>) {
        if !self.waiters.iter().any(|waiter| Rc::ptr_eq(waiter, window)) {
            self.waiters.push(Rc::clone(window));
        }
    }

    /// Takes an order. The reply, or a failure, will come to its ticket in `window`.
    #[inline(always)]
    pub fn push(&mut self, window: &Rc<RefCell<Window>>, order: Order<'_>, now: Nanos) {
        let len = order.frame.len();
        let entry = Entry { ticket: order.ticket, len: len as u32, readonly: order.readonly, resent: false };
        match order.frame {
            Frame::Copied(bytes) => self.ledger.rope.push(bytes),
            Frame::Shared(bytes) => self.ledger.rope.push_shared(bytes),
        }
        self.ledger.push(window, entry, now);
        self.fresh += 1;
        self.fresh_bytes += len;
        if self.link == Link::Idle {
            self.link = Link::Down { since: now, failed: false };
        }
        self.wake();
    }

    #[inline]
    fn wake(&mut self) {
        if !self.woken {
            self.woken = true;
            if let Some(waker) = &self.waker {
                waker.wake_by_ref();
            }
        }
    }

    // --- The shard side ---------------------------------------------------------------------------------------

    /// The task to wake when there is something to send.
    pub fn set_waker(&mut self, waker: &Waker) {
        self.woken = false;
        if self.waker.as_ref().is_none_or(|old| !old.will_wake(waker)) {
            self.waker = Some(waker.clone());
        }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether a connection is wanted: from the first order on, for good.
    pub fn wants_connection(&self) -> bool {
        matches!(self.link, Link::Down { .. })
    }

    /// Whether the connection has been silent for so long, with requests unanswered, that it should be probed.
    pub fn wants_probe(&self, now: Nanos) -> bool {
        self.stalled && now >= self.last_byte + self.limits.dead
    }

    /// A probe got through: the shard is slow, not gone. What was held back is sent again, first of all the rest of
    /// a request that was cut by the stall: without it the shard would wait for us as we for it.
    pub fn probed(&mut self, now: Nanos) {
        self.last_byte = now;
        self.stalled = false;
        self.wake();
    }

    pub fn connected(&mut self, turn: &Turn<'_>) {
        assert!(self.link != Link::Up && self.ledger.rope.sent() == 0, "connected with requests on the way");
        self.link = Link::Up;
        self.stalled = false;
        self.last_byte = turn.now;
        self.scanner = Scanner::default();
        turn.metrics.shards[self.shard.index()].set_up(true);
    }

    /// An attempt to connect failed.
    pub fn refused(&mut self, turn: &mut Turn<'_>, error: LaneError) {
        if let Link::Down { failed, .. } = &mut self.link {
            *failed = true;
        }
        let counters = &turn.metrics.shards[self.shard.index()];
        counters.set_up(false);
        counters.errors[error].add(1);
        self.tick(turn);
    }

    /// What to write now, as slices of one vectored write; none while there is nothing or nothing may be sent.
    #[inline]
    pub fn unsent<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        if self.stalled || self.link != Link::Up || self.ledger.rope.unsent() == 0 {
            return 0;
        }
        self.ledger.rope.unsent_slices(slices)
    }

    /// The socket took `n` bytes. One flush is one trip to the shard, however many writes it takes.
    #[inline]
    pub fn sent(&mut self, n: usize, turn: &Turn<'_>) {
        self.ledger.rope.mark_sent(n);
        if self.fresh > 0 {
            let counters = &turn.metrics.shards[self.shard.index()];
            counters.trip(u64::from(self.fresh), self.fresh_bytes as u64);
            self.fresh = 0;
            self.fresh_bytes = 0;
        }
    }

    /// Bytes came from the shard: every reply goes to its window. An error means that the connection can't be
    /// trusted any more; `lost` must follow.
    #[inline]
    pub fn received(&mut self, bytes: &[u8], turn: &mut Turn<'_>) -> Result<(), Loss> {
        self.last_byte = turn.now;
        if std::mem::take(&mut self.stalled) {
            self.wake();
        }
        turn.metrics.shards[self.shard.index()].bytes_received.add(bytes.len() as u64);
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.receive_trip(rest, turn)?;
        }
        if !self.waiters.is_empty() && self.ledger.rope.len() < self.limits.bytes / 2 {
            self.wake_waiters();
        }
        Ok(())
    }

    /// Whether nothing should be read from the shard now, because a client has too much of a large reply unread. One
    /// that reads too slowly is given up, so that the others on this lane wait for a bounded time.
    pub fn holds_back(&mut self, turn: &mut Turn<'_>) -> bool {
        let Some(choked) = &self.choked else { return false };
        let over = turn.now >= choked.patience_ends();
        let mut window = choked.window.borrow_mut();
        let still = window.is_choked(true);
        if still && !over {
            return true;
        }
        if still {
            window.give_up(turn.pool);
        }
        drop(window);
        self.choked = None;
        false
    }

    /// Hands on what `bytes` bring for the trip at the front; returns what is left of them.
    #[inline]
    fn receive_trip<'b>(&mut self, mut bytes: &'b [u8], turn: &mut Turn<'_>) -> Result<&'b [u8], Loss> {
        let Some(trip) = self.ledger.trips.front_mut() else { return Err(Loss::Unasked) };
        let mut window = trip.to.as_ref().map(|window| window.borrow_mut());
        let mut answered = 0;
        let mut loss = None;
        while trip.left > 0 && !bytes.is_empty() {
            let Some(entry) = self.ledger.entries.front() else { unreachable!("a trip has entries") };
            if self.ledger.rope.sent() < answered + entry.len as usize {
                loss = Some(Loss::Unasked);
                break;
            }
            let end = match self.scanner.scan(bytes) {
                Ok(end) => end,
                Err(fault) => {
                    loss = Some(Loss::Protocol(fault));
                    break;
                }
            };
            let (reply, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if let Some(window) = &mut window {
                window.fill(entry.ticket, reply, end.is_some(), turn);
            }
            bytes = rest;
            if end.is_some() {
                answered += entry.len as usize;
                self.ledger.entries.pop_front();
                trip.left -= 1;
            }
        }
        self.ledger.rope.release(answered);
        if let Some(window) = &mut window {
            window.notify();
            if window.is_choked(false)
                && let (Some(waker), Some(to)) = (&self.waker, &trip.to)
            {
                window.wake_when_read(waker);
                self.choked = Some(Choked { window: Rc::clone(to), since: turn.now });
            }
        }
        if let Some(loss) = loss {
            return Err(loss);
        }
        if trip.left == 0 {
            drop(window);
            let (age, bucket) = turn.age(trip.at);
            turn.metrics.shards[self.shard.index()].request_duration.observe_bucket(bucket, age, 1);
            self.ledger.trips.pop_front();
            self.expired = self.expired.saturating_sub(1);
        }
        Ok(bytes)
    }

    /// The connection is gone. Requests of which nothing was sent wait for the next one; readonly ones go along,
    /// once; of the others the outcome is unknown.
    pub fn lost(&mut self, loss: &Loss, turn: &mut Turn<'_>) {
        assert!(self.link == Link::Up, "a connection is lost once");
        self.link = Link::Down { since: turn.now, failed: false };
        self.stalled = false;
        self.choked = None;
        self.expired = 0;
        let counters = &turn.metrics.shards[self.shard.index()];
        counters.set_up(false);
        counters.errors[loss.kind()].add(1);
        if loss.kind() == LaneError::Protocol {
            turn.metrics.protocol_errors[Side::Backend].add(1);
        }
        let mut ledger = std::mem::take(&mut self.ledger);
        let last_writes = ledger.last_sent_writes();
        let mut at = 0;
        ledger.rebuild(|trip, entry, sent| {
            at += 1;
            let to = trip.to.as_ref()?;
            if sent == 0 {
                return Some(entry);
            }
            let before_a_write = last_writes.get(&Rc::as_ptr(to)).is_some_and(|&write| at - 1 < write);
            let again = entry.readonly && !entry.resent && !before_a_write;
            if again && to.borrow_mut().retract(entry.ticket, turn) {
                return Some(Entry { resent: true, ..entry });
            }
            self.fail(to, entry.ticket, Failure::Lost, turn);
            None
        });
        self.ledger = ledger;
        self.refresh_counts();
        self.wake();
        self.wake_waiters();
    }

    /// What time alone brings about: orders that have waited too long are failed. Returns when to ask again.
    pub fn tick(&mut self, turn: &mut Turn<'_>) -> Option<Nanos> {
        let overdue = self.oldest_live().is_some_and(|at| turn.now >= at + self.limits.request);
        // Where nothing was sent it was this process that stood still (stopped, or its container paused).
        if self.link == Link::Up && overdue && self.ledger.rope.sent() > 0 {
            // Not a byte since, or a socket that takes nothing: whatever the shard does, it is not serving us.
            self.stalled |= self.oldest_live() >= Some(self.last_byte) || self.ledger.rope.unsent() > 0;
        }
        if self.link != Link::Up || self.stalled {
            self.fail_unsent(turn);
        }
        if self.link == Link::Up {
            self.expire_sent(turn);
        }
        self.next_tick()
    }

    fn oldest_live(&self) -> Option<Nanos> {
        let at = self.ledger.trips.get(self.expired)?.at;
        // A reply that is arriving is late only once it has stopped to arrive.
        let arriving = self.expired == 0 && !self.scanner.between_replies();
        Some(if arriving { at.max(self.last_byte) } else { at })
    }

    /// When `tick` should be asked next.
    pub fn next_tick(&self) -> Option<Nanos> {
        let probe = self.stalled.then(|| self.last_byte + self.limits.dead);
        let wait =
            if self.link == Link::Up && !self.stalled { self.limits.request } else { self.limits.connect };
        self.oldest_live().map(|at| at + wait).into_iter().chain(probe).chain(self.patience_ends()).min()
    }

    /// When a client that a reply is streamed to must have read some of it.
    pub fn patience_ends(&self) -> Option<Nanos> {
        self.choked.as_ref().map(Choked::patience_ends)
    }

    /// Fails the trips whose time is up; their replies, should they come, will be swallowed.
    fn expire_sent(&mut self, turn: &mut Turn<'_>) {
        let mut entry =
            self.ledger.trips.iter().take(self.expired).map(|trip| trip.left as usize).sum::<usize>();
        let settled: usize = self.ledger.entries.iter().take(entry).map(|e| e.len as usize).sum();
        let mut sent = self.ledger.rope.sent().saturating_sub(settled);
        while self.oldest_live().is_some_and(|at| turn.now >= at + self.limits.request) && sent > 0 {
            let Some(trip) = self.ledger.trips.get_mut(self.expired) else { break };
            let to = trip.to.take();
            let last = entry + trip.left as usize;
            for i in entry..last {
                let Entry { ticket, len, .. } = self.ledger.entries[i];
                sent = sent.saturating_sub(len as usize);
                if let Some(to) = &to {
                    self.fail(to, ticket, Failure::TimedOut, turn);
                }
            }
            turn.metrics.shards[self.shard.index()].errors[LaneError::TimedOut].add(1);
            self.expired += 1;
            entry = last;
        }
    }

    /// Fails what has waited for a connection (or for a stopped shard) longer than it may.
    fn fail_unsent(&mut self, turn: &mut Turn<'_>) {
        let connect = self.limits.connect;
        let overdue = |at: Nanos, now: Nanos| now >= at + connect;
        let unsent_overdue =
            self.ledger.trips.iter().skip(self.expired).any(|trip| overdue(trip.at, turn.now));
        if !unsent_overdue || self.ledger.rope.unsent() == 0 {
            return;
        }
        let sent_bytes = self.ledger.rope.sent();
        let mut ledger = std::mem::take(&mut self.ledger);
        ledger.rebuild(|trip, entry, sent| {
            let Some(to) = trip.to.as_ref() else { return Some(entry) };
            if sent > 0 || !overdue(trip.at, turn.now) {
                return Some(entry);
            }
            let failure = if entry.resent { Failure::Lost } else { Failure::Unreachable };
            self.fail(to, entry.ticket, failure, turn);
            None
        });
        // Only unsent entries have gone, all behind the sent bytes.
        ledger.rope.mark_sent(sent_bytes);
        self.ledger = ledger;
        self.refresh_counts();
        self.wake_waiters();
    }

    fn fail(&self, to: &Rc<RefCell<Window>>, ticket: Ticket, failure: Failure, turn: &mut Turn<'_>) {
        let counters = &turn.metrics.shards[self.shard.index()];
        let outcome = if failure.unknown_outcome() {
            counters.outcome_unknown.add(1);
            Outcome::Unknown
        } else {
            Outcome::Error
        };
        let mut line = Vec::new();
        write::error(&mut line, &failure.text(self.shard, &self.address));
        let mut window = to.borrow_mut();
        window.fail(ticket, &line, outcome, turn);
        window.notify();
    }

    fn refresh_counts(&mut self) {
        let unsent = self.ledger.rope.unsent();
        self.fresh_bytes = unsent;
        let mut sent = self.ledger.rope.sent();
        self.fresh = 0;
        for entry in &self.ledger.entries {
            self.fresh += u32::from(sent == 0);
            sent = sent.saturating_sub(entry.len as usize);
        }
    }

    fn wake_waiters(&mut self) {
        for waiter in self.waiters.drain(..) {
            waiter.borrow_mut().wake();
        }
    }

    /// Requests in flight and the time of the oldest, for the gauges.
    pub fn load(&self) -> (usize, Option<Nanos>) {
        (self.ledger.entries.len(), self.ledger.trips.front().map(|trip| trip.at))
    }

    /// Keeps the gauges up to date, once a turn. The lanes of a worker to one shard share them, so each adds its own
    /// share, and takes back the oldest request only where it was its own.
    pub fn tell(&mut self, metrics: &WorkerMetrics) {
        let (in_flight, oldest) = self.load();
        let now = (in_flight as u64, self.bytes() as u64, oldest.map_or(0, |at| at.max(1)));
        let before = std::mem::replace(&mut self.told, now);
        if now == before {
            return;
        }
        let shard = &metrics.shards[self.shard.index()];
        shard.in_flight.add(now.0);
        shard.in_flight.sub(before.0);
        let held = &metrics.buffer_bytes[Buffer::Lane];
        held.add(now.1);
        held.sub(before.1);
        let shown = shard.oldest_in_flight_since.get();
        if shown == 0 || shown == before.2 || (now.2 != 0 && now.2 < shown) {
            shard.oldest_in_flight_since.set(now.2);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.ledger.rope.len()
    }
}

impl Loss {
    fn kind(&self) -> LaneError {
        match self {
            Loss::Protocol(_) | Loss::Unasked => LaneError::Protocol,
            Loss::Dead => LaneError::TimedOut,
            Loss::Closed | Loss::Io(_) | Loss::Shutdown => LaneError::Lost,
        }
    }
}

#[cfg(test)]
mod tests;
