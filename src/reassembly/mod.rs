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

mod filling;
mod gather;
mod leaving;
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
        if self.streamer.is_some() && !self.is_choked(true) {
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
}
