//! The window: a client's FIFO of replies owed, filled in any order, left in the order asked.
//!
//! Every request that a client sends takes the next place here, whoever answers it. Shards answer in any order among
//! themselves but each in its own, so what arrives too early from one shard waits in that shard's one queue; nothing
//! is stored per reply but a place of 20 bytes. A reply for the place at the head goes straight into the output.
//!
//! ```text
//!   place      0      1      2      3          early replies     output
//!   from     shard0 shard1 shard0 local       shard0: [r2]        (sent)
//!   state     Wait   Done   Done   Done  ──►   shard1: [r1]   ──►  r0 r1 r2 r3, once r0 is here
//!                                              local:  [r3]
//! ```
//!
//! What must never happen here: a reply at another place than its ticket's, a byte after a client's half-sent
//! frame that is not the frame's, memory beyond the bounds. A reply is held until it is complete (a lost shard must
//! not leave half a frame), unless it is larger than `limits::STREAM_BYTES`: then it is streamed at the head.

mod gather;
pub mod merge;

pub use gather::Gather;

use crate::buffers::{ByteQueue, Pool};
use crate::limits::{self, ClientLimits};
use crate::metrics::{Backpressure, Closed, Family, Outcome};
use crate::slot::ShardId;
use crate::trip::{Nanos, Ticket};
use crate::turn::Turn;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

/// What a request is, as far as its reply's place has to know.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Row of the command table.
    pub spec: u16,
    pub family: Family,
    /// Length of the request, bytes.
    pub len: u32,
    /// The client has asked for no reply to this one (CLIENT REPLY OFF or SKIP).
    pub silent: bool,
}

/// Where a place's reply comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Source(u16);

impl Source {
    const LOCAL: Source = Source(u16::MAX);
    const GATHER: Source = Source(u16::MAX - 1);
    /// An error that its lane said in place of a reply.
    const FAILURE: Source = Source(u16::MAX - 2);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has arrived.
    Waiting,
    /// Some bytes are held, and more are due.
    Partial,
    /// Some bytes have gone out: the rest must follow, or the connection ends.
    Streaming,
    /// Complete and held.
    Done,
}

struct Place {
    spec: u16,
    source: Source,
    family: Family,
    state: State,
    outcome: Outcome,
    silent: bool,
    /// Bytes of the reply so far; for a gather its running number.
    len: u32,
    request: u32,
}

/// Whether replies still have a client to go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Open,
    /// The client has left; what still comes for it is dropped.
    Gone,
    /// The connection has to be closed, for this reason.
    Broken(Closed),
}

/// Requests read at one time: the clock of their durations.
struct Batch {
    first: u32,
    at: Nanos,
}

pub struct Window {
    /// Number of the place at the head.
    head: u32,
    places: VecDeque<Place>,
    /// What came before its turn, by shard and last the local replies; empty until something does.
    early: Vec<ByteQueue>,
    /// Errors by place. They keep no order with the replies of their shard: of two requests the later may fail at once
    /// while the earlier is sent again, so they must not stand in its queue.
    failures: Vec<(u32, Box<[u8]>)>,
    gathers: VecDeque<Gather>,
    gathers_left: u32,
    batches: VecDeque<Batch>,
    output: ByteQueue,
    /// Bytes in `early` and `gathers`.
    held: usize,
    /// Bytes of the requests in flight.
    owed: usize,
    /// A slowly falling maximum of reply sizes: what a command in flight may bring.
    typical: u32,
    /// Commands since the client's trip began; 0 between trips.
    trip: u32,
    life: Life,
    waker: Option<Waker>,
    /// The lane that has stopped reading until more of a streamed reply is read.
    streamer: Option<Waker>,
    woken: bool,
    /// The client side waits for room: wake it even when nothing has come out.
    pub waiting: bool,
    shards: u16,
    /// What this client may claim of the memory for all, as of its last batch.
    share: u32,
    limits: Rc<ClientLimits>,
}

impl Window {
    pub fn new(shards: u16, limits: Rc<ClientLimits>) -> Window {
        Window {
            head: 0,
            places: VecDeque::new(),
            early: Vec::new(),
            failures: Vec::new(),
            gathers: VecDeque::new(),
            gathers_left: 0,
            batches: VecDeque::new(),
            output: ByteQueue::default(),
            held: 0,
            owed: 0,
            typical: limits::REPLY_BYTES_ASSUMED,
            trip: 0,
            life: Life::Open,
            waker: None,
            streamer: None,
            woken: false,
            waiting: false,
            shards,
            share: u32::MAX,
            limits,
        }
    }

    // --- What the client side asks and does -------------------------------------------------------------------

    /// Replies owed: places that have not left.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.places.len()
    }

    /// Whether one more request may be taken: within the commands, the request bytes and the reply bytes that this
    /// client may have on their way. A client that leaves its replies unread has less and less room.
    #[inline]
    pub fn has_room(&self) -> bool {
        let commands = self.places.len();
        let waiting = self.waiting_bytes();
        let share = self.share as usize;
        let soft = self.limits.output_soft.min(share);
        commands < self.limits.window_max
            && (self.owed < self.limits.request_bytes.min(share) || commands == 0)
            && (waiting + self.expected() < soft || (commands < self.least_window() && waiting < soft))
    }

    /// Commands that may be in flight whatever their replies may be like.
    #[inline]
    fn least_window(&self) -> usize {
        if self.share == u32::MAX { self.limits.window_min } else { 1 }
    }

    /// What the commands in flight may bring.
    #[inline]
    fn expected(&self) -> usize {
        self.places.len().saturating_mul(self.typical as usize)
    }

    /// Which bound it is that leaves no room.
    #[cold]
    pub fn bound_met(&self) -> Backpressure {
        let limits = &self.limits;
        let waiting = self.waiting_bytes();
        let within =
            |soft: usize, request_bytes: usize| self.owed < request_bytes && waiting + self.expected() < soft;
        match () {
            _ if self.places.len() >= limits.window_max => Backpressure::Window,
            _ if within(limits.output_soft, limits.request_bytes) => Backpressure::Memory,
            _ if waiting >= limits.output_soft => Backpressure::Output,
            _ if self.owed >= limits.request_bytes => Backpressure::Requests,
            _ => Backpressure::Window,
        }
    }

    /// What this client has claimed of the memory for all: what is held for it, and what it may draw.
    #[inline]
    pub fn claim(&self) -> usize {
        self.waiting_bytes() + self.expected() + self.owed
    }

    /// Marks the beginning of a batch: what is pushed from now on was read at `now`, by a client that may claim `share`
    /// bytes.
    #[inline]
    pub fn begin_batch(&mut self, now: Nanos, share: u32) {
        self.share = share;
        let first = self.next();
        match self.batches.back_mut() {
            Some(last) if last.first == first => last.at = now,
            Some(last) if last.at == now => {}
            _ => self.batches.push_back(Batch { first, at: now }),
        }
    }

    /// A place for a reply that a shard owes.
    #[inline]
    pub fn expect(&mut self, asked: Asked, shard: ShardId) -> Ticket {
        self.place(asked, Source(shard.0), State::Waiting, 0)
    }

    /// A place for a reply that several requests to shards make together.
    pub fn expect_gather(&mut self, asked: Asked, gather: Gather) -> Ticket {
        let number = self.gathers_left.wrapping_add(self.gathers.len() as u32);
        self.gathers.push_back(gather);
        self.place(asked, Source::GATHER, State::Waiting, number)
    }

    /// A reply that is known at once; it leaves when everything asked before it has.
    pub fn answer(&mut self, asked: Asked, reply: &[u8], turn: &mut Turn<'_>) {
        assert!(!reply.is_empty(), "an answer has bytes");
        let ticket = self.place(asked, Source::LOCAL, State::Waiting, 0);
        self.fill(ticket, reply, true, turn);
    }

    /// What may be written to the client now.
    #[inline]
    pub fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    /// The client's socket took `n` bytes of the output.
    #[inline]
    pub fn written(&mut self, n: usize, turn: &mut Turn<'_>) {
        self.output.consume(n, turn.pool);
        self.end_trip(turn);
        if self.streamer.is_some() && !self.is_choked(2) {
            self.release_streamer();
        }
    }

    /// The reason to close the connection, once there is one.
    pub fn broken(&self) -> Option<Closed> {
        match self.life {
            Life::Broken(reason) => Some(reason),
            _ => None,
        }
    }

    /// The client has left: everything held is dropped, and what still comes will be.
    pub fn abandon(&mut self, pool: &mut Pool) {
        self.drop_everything(pool);
        self.life = Life::Gone;
        self.waker = None;
    }

    /// Bytes waiting for the client: the output and what is held for its turn.
    pub fn waiting_bytes(&self) -> usize {
        self.output.len() + self.held
    }

    /// The task to wake when there is output, room or an end.
    pub fn set_waker(&mut self, waker: &Waker) {
        self.woken = false;
        if self.waker.as_ref().is_none_or(|old| !old.will_wake(waker)) {
            self.waker = Some(waker.clone());
        }
    }

    // --- What the shard side does -----------------------------------------------------------------------------

    /// Bytes of the reply to `ticket`, its last ones if `end`.
    #[inline]
    pub fn fill(&mut self, ticket: Ticket, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        if self.life != Life::Open {
            return;
        }
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        assert!(index < self.places.len(), "a reply to a request that is not owed one");
        let place = &mut self.places[index];
        assert!(place.state != State::Done, "a second reply to one request");
        if place.state == State::Waiting && place.source != Source::GATHER {
            place.outcome = outcome_of(bytes);
            if index == 0 && end {
                place.len = bytes.len() as u32;
                if !place.silent {
                    self.output.push(bytes, turn.pool);
                }
                self.leave(turn);
                self.advance(turn);
                return;
            }
        }
        self.fill_early(index, ticket.part, bytes, end, turn);
    }

    /// Takes back what has come of the reply to `ticket`. False: some of it has already gone out.
    pub fn retract(&mut self, ticket: Ticket, turn: &mut Turn<'_>) -> bool {
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        if self.life != Life::Open {
            return true;
        }
        assert!(index < self.places.len(), "a failure of a request that is not owed a reply");
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            self.held -= self.gather(number).retract(ticket.part);
            return true;
        }
        if place.state == State::Partial {
            let len = std::mem::take(&mut place.len) as usize;
            place.state = State::Waiting;
            let early = source_index(place.source, self.shards);
            self.early[early].truncate_by(len, turn.pool);
            self.held -= len;
        }
        self.places[index].state != State::Streaming
    }

    /// An error in place of the reply to `ticket`; what had come of the reply is taken back. Where some of it has
    /// already gone out, the connection can only be closed.
    pub fn fail(&mut self, ticket: Ticket, error: &[u8], outcome: Outcome, turn: &mut Turn<'_>) {
        if !self.retract(ticket, turn) {
            return self.break_off(Closed::ShardLost, turn.pool);
        }
        if self.life != Life::Open {
            return;
        }
        let index = ticket.seq.wrapping_sub(self.head) as usize;
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            if outcome == Outcome::Unknown {
                self.gather(number).set_outcome_unknown();
            }
            return self.fill(ticket, error, true, turn);
        }
        assert!(place.state == State::Waiting, "a failure of a request that was answered");
        place.source = Source::FAILURE;
        place.outcome = outcome;
        place.state = State::Done;
        place.len = error.len() as u32;
        self.failures.push((ticket.seq, error.into()));
        self.held += error.len();
        if index == 0 {
            self.advance(turn);
        }
        self.check_bounds(turn);
    }

    /// Whether the client leaves unread more than its soft output bound, divided by `part`, of a reply that is being
    /// streamed to it.
    #[inline]
    pub fn is_choked(&self, part: usize) -> bool {
        self.output.len() > self.limits.output_soft / part
            && self.places.front().is_some_and(|place| place.state == State::Streaming)
    }

    /// Wakes `lane` when the client has read enough, or has gone.
    pub fn wake_when_read(&mut self, lane: &Waker) {
        self.streamer = Some(lane.clone());
    }

    /// Gives up a client that does not read a streamed reply.
    pub fn give_up(&mut self, pool: &mut Pool) {
        self.break_off(Closed::OutputLimit, pool);
        self.wake();
    }

    fn release_streamer(&mut self) {
        if let Some(lane) = self.streamer.take() {
            lane.wake();
        }
    }

    /// Wakes the client side if there is something for it.
    #[inline]
    pub fn notify(&mut self) {
        if !self.woken && (!self.output.is_empty() || self.waiting || self.life != Life::Open) {
            self.wake();
        }
    }

    /// Wakes the client side.
    pub fn wake(&mut self) {
        self.woken = true;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    // --- Within -----------------------------------------------------------------------------------------------

    #[inline]
    fn next(&self) -> u32 {
        self.head.wrapping_add(self.places.len() as u32)
    }

    #[inline]
    fn place(&mut self, asked: Asked, source: Source, state: State, len: u32) -> Ticket {
        let seq = self.next();
        self.owed += asked.len as usize;
        self.trip += 1;
        self.places.push_back(Place {
            spec: asked.spec,
            source,
            family: asked.family,
            state,
            outcome: Outcome::Ok,
            silent: asked.silent,
            len,
            request: asked.len,
        });
        Ticket { seq, part: 0 }
    }

    fn fill_early(&mut self, index: usize, part: u16, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        let place = &mut self.places[index];
        if place.source == Source::GATHER {
            let number = place.len;
            self.held += bytes.len();
            if self.gather(number).fill(part, bytes, end) {
                self.places[index].state = State::Done;
            }
        } else if place.state == State::Streaming {
            place.len = place.len.saturating_add(bytes.len() as u32);
            if !place.silent {
                self.output.push(bytes, turn.pool);
            }
            if end {
                self.leave(turn);
            }
        } else {
            self.hold(index, bytes, end, turn);
        }
        if index == 0 {
            self.advance(turn);
        }
        self.check_bounds(turn);
    }

    fn gather(&mut self, number: u32) -> &mut Gather {
        let index = number.wrapping_sub(self.gathers_left) as usize;
        let Some(gather) = self.gathers.get_mut(index) else {
            unreachable!("a gather leaves with its place")
        };
        gather
    }

    fn hold(&mut self, index: usize, bytes: &[u8], end: bool, turn: &mut Turn<'_>) {
        let place = &mut self.places[index];
        let early = source_index(place.source, self.shards);
        if self.early.is_empty() {
            self.early.resize_with(self.shards as usize + 1, ByteQueue::default);
        }
        self.early[early].push(bytes, turn.pool);
        place.len += bytes.len() as u32;
        self.held += bytes.len();
        place.state = if end { State::Done } else { State::Partial };
        if index == 0 && !end && place.len as usize > limits::STREAM_BYTES {
            place.state = State::Streaming;
            let (len, silent) = (place.len as usize, place.silent);
            self.release(early, len, silent, turn);
        }
    }

    /// Moves the front `len` bytes of an early queue to the output.
    fn release(&mut self, early: usize, len: usize, silent: bool, turn: &mut Turn<'_>) {
        let queue = &mut self.early[early];
        if !silent {
            self.output.push(&queue.bytes()[..len], turn.pool);
        }
        queue.consume(len, turn.pool);
        self.held -= len;
    }

    /// Lets complete replies at the head leave.
    #[inline]
    fn advance(&mut self, turn: &mut Turn<'_>) {
        while let Some(place) = self.places.front()
            && place.state == State::Done
        {
            match place.source {
                Source::GATHER => {
                    self.leave_gather(turn);
                    continue;
                }
                Source::FAILURE => {
                    self.leave_failure(turn);
                    continue;
                }
                _ => {}
            }
            let (early, len, silent) =
                (source_index(place.source, self.shards), place.len as usize, place.silent);
            self.release(early, len, silent, turn);
            self.leave(turn);
        }
    }

    #[cold]
    fn leave_failure(&mut self, turn: &mut Turn<'_>) {
        let at = self.failures.iter().position(|(seq, _)| *seq == self.head);
        let (Some(at), Some(place)) = (at, self.places.front()) else { unreachable!("a failure has a text") };
        let (_, error) = self.failures.swap_remove(at);
        self.held -= error.len();
        if !place.silent {
            self.output.push(&error, turn.pool);
        }
        self.leave(turn);
    }

    fn leave_gather(&mut self, turn: &mut Turn<'_>) {
        let (Some(gather), Some(place)) = (self.gathers.pop_front(), self.places.front_mut()) else {
            unreachable!("a gather leaves with its place")
        };
        self.gathers_left = self.gathers_left.wrapping_add(1);
        self.held -= gather.held();
        let unknown = gather.outcome_unknown();
        let reply = gather.merged();
        place.outcome = if unknown { Outcome::Unknown } else { outcome_of(&reply) };
        place.len = reply.len() as u32;
        if !place.silent {
            self.output.push(&reply, turn.pool);
        }
        self.leave(turn);
    }

    /// The head's reply is in the output: counts it and goes on to the next.
    #[inline]
    fn leave(&mut self, turn: &mut Turn<'_>) {
        let Some(place) = self.places.pop_front() else { unreachable!("nothing at the head") };
        let seq = self.head;
        self.head = self.head.wrapping_add(1);
        self.owed -= place.request as usize;
        // Falls by a 512th a reply: a window of small replies grows back within a few thousand of them.
        self.typical = if place.len > self.typical { place.len } else { self.typical - (self.typical >> 9) };
        while self.batches.get(1).is_some_and(|next| next.first.wrapping_sub(seq) as i32 <= 0) {
            self.batches.pop_front();
        }
        let Some(batch) = self.batches.front() else { unreachable!("a reply outside every batch") };
        let (age, bucket) = turn.age(batch.at);
        turn.metrics.command(place.spec, place.outcome);
        turn.metrics.command_duration(place.family).observe_bucket(bucket, age, 1);
    }

    #[inline]
    fn end_trip(&mut self, turn: &mut Turn<'_>) {
        if self.trip > 0 {
            turn.metrics.client_trip(u64::from(std::mem::take(&mut self.trip)));
        }
    }

    fn check_bounds(&mut self, turn: &mut Turn<'_>) {
        if self.life == Life::Open && self.waiting_bytes() > self.limits.output_hard {
            self.break_off(Closed::OutputLimit, turn.pool);
        }
    }

    fn break_off(&mut self, reason: Closed, pool: &mut Pool) {
        self.drop_everything(pool);
        self.life = Life::Broken(reason);
    }

    fn drop_everything(&mut self, pool: &mut Pool) {
        self.places.clear();
        self.gathers.clear();
        self.failures = Vec::new();
        self.batches.clear();
        self.early = Vec::new();
        self.output.clear(pool);
        self.held = 0;
        self.owed = 0;
        self.release_streamer();
    }
}

#[inline]
fn source_index(source: Source, shards: u16) -> usize {
    if source == Source::LOCAL { shards as usize } else { source.0 as usize }
}

#[inline]
fn outcome_of(reply: &[u8]) -> Outcome {
    match reply.first() {
        Some(b'-' | b'!') => Outcome::Error,
        _ => Outcome::Ok,
    }
}
