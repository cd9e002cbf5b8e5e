//! The straight line: a client's bytes in, orders to lanes and places in its window out.
//!
//! From the first byte of a batch to its last order nothing here waits, reads a clock or touches a socket. A request
//! that can't be taken now (no room in the window, a full lane, replies owed before the protocol may change) is left
//! undecoded where it is, and so is all that follows it; `resume` tries again.
//!
//! ```text
//!   bytes ─► decoder ─► row ─► admit ─► Forward: slot → lane        ─► a place in the window
//!                                       Split, FanOut: several lanes ─► one place, one gather
//!                                       Local, errors                ─► answered at once, in its place
//! ```

mod detours;
mod straight;
#[cfg(test)]
mod tests;

use super::world::World;
use crate::command::{SpecId, table};
use crate::limits;
use crate::metrics::{Backpressure, Closed, Family, Side};
use crate::reassembly::{Asked, Window};
use crate::resp::request::{Decoder, Fault};
use crate::resp::write;
use crate::session::Session;
use crate::turn::Turn;
use bytes::{Buf, BytesMut};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// Row under which requests are counted whose command is not in the table.
pub const UNKNOWN: SpecId = SpecId(table::ROWS.len() as u16);

/// What is said to commands that come when the time for draining is up.
const SHUTTING_DOWN: &[u8] = b"TRYAGAIN onetrip: shutting down, not executed";

/// What is said to a request that nobody gave back memory for.
const NO_MEMORY: &str =
    "ERR onetrip: no memory left for this request (limits.memory_total_bytes), not executed";

/// Whether more of the client's bytes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The request at the front can't be taken yet.
    Stalled(Backpressure),
    /// Nothing more is taken; what is owed is still delivered.
    Ending(Closed),
}

/// What became of one request.
enum Step {
    Taken,
    Stall(Backpressure),
    End(Closed),
}

/// Bytes of a client that are not decoded yet: the exception, since most reads end with a whole request.
#[derive(Default)]
struct Partial {
    bytes: BytesMut,
    decoder: Decoder,
}

pub struct Conversation {
    pub session: Session,
    window: Rc<RefCell<Window>>,
    partial: Option<Box<Partial>>,
    phase: Phase,
    /// The last command of the batch at hand, and how many there were.
    ran: (SpecId, u64),
}

impl Conversation {
    pub fn new(session: Session, world: &World) -> Conversation {
        let window = Window::new(world.map.shards(), Rc::clone(&world.limits));
        Conversation {
            session,
            window: Rc::new(RefCell::new(window)),
            partial: None,
            phase: Phase::Reading,
            ran: (UNKNOWN, 0),
        }
    }

    pub fn window(&self) -> RefMut<'_, Window> {
        self.window.borrow_mut()
    }

    /// Whether the client's socket should be read.
    #[inline]
    pub fn wants_bytes(&self) -> bool {
        self.phase == Phase::Reading
    }

    /// The reason to close, once every reply owed is delivered.
    pub fn ending(&self) -> Option<Closed> {
        match self.phase {
            Phase::Ending(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether what has to wait waits for nothing any more: output filled the window and has been written since.
    /// No reply is owed that would wake the client side, so it has to come back by itself.
    pub fn waits_for_nothing(&self) -> bool {
        let window = self.window.borrow();
        let stalled = matches!(self.phase, Phase::Stalled(why) if why != Backpressure::Lane);
        stalled && window.in_flight() == 0 && window.output().is_empty()
    }

    /// The client will send nothing more; it may still read what it is owed.
    pub fn end(&mut self, reason: Closed) {
        if self.ending().is_none() {
            self.end_for(reason);
            self.partial = None;
        }
    }

    /// From now on the client side waits for the last reply owed, be it one that the client does not want to hear.
    fn end_for(&mut self, reason: Closed) {
        self.phase = Phase::Ending(reason);
        self.window.borrow_mut().waiting = true;
    }

    /// Bytes read and not decoded.
    pub fn undecoded_bytes(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| partial.bytes.len())
    }

    /// Bytes of the memory for all that this client has claimed.
    pub fn claim(&self) -> usize {
        self.undecoded_bytes() + self.window.borrow().claim()
    }

    /// Whether more bytes of the request that is cut in the middle have to wait until others give back memory. Requests
    /// that are whole wait in the window instead, where their own replies make room.
    #[inline]
    pub fn wants_memory(&self, world: &World) -> bool {
        self.undecoded_bytes() > limits::CLIENT_SHARE_MIN && world.budget.is_spent()
    }

    /// There is no memory for the rest of the client's request: says so, and ends.
    pub fn give_up_request(&mut self, turn: &mut Turn<'_>) {
        self.partial = None;
        self.last_words(NO_MEMORY, turn);
        self.end_for(Closed::Memory);
    }

    /// Where the next bytes are to be read to, if a request is cut in the middle; then call [`Self::proceed`].
    pub fn cut_request(&mut self) -> Option<&mut BytesMut> {
        self.partial.as_mut().map(|partial| &mut partial.bytes)
    }

    /// Takes the requests in `bytes`, which were read while no request was cut.
    pub fn feed(&mut self, bytes: &[u8], world: &World, turn: &mut Turn<'_>) {
        assert!(self.partial.is_none(), "bytes overtake those of a cut request");
        let mut decoder = world.decoder.borrow_mut();
        self.window.borrow_mut().begin_batch(turn.now, world.budget.share());
        let used = self.requests(bytes, &mut decoder, world, turn);
        if self.ending().is_none() && used < bytes.len() {
            let mut partial = Box::<Partial>::default();
            partial.bytes.extend_from_slice(&bytes[used..]);
            if decoder.midway() {
                partial.decoder = std::mem::take(&mut *decoder);
            }
            self.partial = Some(partial);
        }
        decoder.restart();
    }

    /// Goes on with the bytes of a cut or stalled request.
    pub fn proceed(&mut self, world: &World, turn: &mut Turn<'_>) {
        let Some(mut partial) = self.partial.take() else {
            if self.ending().is_none() {
                self.phase = Phase::Reading;
            }
            return;
        };
        self.phase = Phase::Reading;
        self.window.borrow_mut().begin_batch(turn.now, world.budget.share());
        let Partial { bytes, decoder } = &mut *partial;
        self.long_request(bytes, decoder, world, turn);
        let used = if self.wants_bytes() { self.requests(bytes, decoder, world, turn) } else { 0 };
        bytes.advance(used);
        if !partial.bytes.is_empty() && self.ending().is_none() {
            self.partial = Some(partial);
        }
    }

    /// After replies have left or a lane has got room: takes what had to wait. True: the socket may be read again.
    pub fn resume(&mut self, world: &World, turn: &mut Turn<'_>) -> bool {
        if let Phase::Stalled(_) = self.phase {
            self.window.borrow_mut().waiting = false;
            self.proceed(world, turn);
        }
        self.wants_bytes()
    }

    /// Tells the client what is wrong with its bytes; the connection ends with it.
    #[cold]
    fn refuse_protocol(&mut self, fault: &Fault, turn: &mut Turn<'_>) {
        turn.metrics.protocol_errors[Side::Client].add(1);
        self.last_words(&fault.text(), turn);
        self.end_for(Closed::Protocol);
    }

    fn last_words(&mut self, text: &str, turn: &mut Turn<'_>) {
        let mut reply = Vec::new();
        write::error(&mut reply, text);
        let asked = Asked { spec: UNKNOWN.0, family: Family::Read, len: 0, silent: false };
        self.window.borrow_mut().answer(asked, &reply, turn);
    }

    /// Notes the commands of this turn in the session, for CLIENT LIST. False: there were none.
    #[inline]
    pub fn note_batch(&mut self, now_ms: u64) -> bool {
        let (last, commands) = self.ran;
        self.ran.1 = 0;
        if commands > 0 {
            self.session.ran(last, commands, now_ms);
        }
        commands > 0
    }

    /// The client is gone: nothing that still comes for it is kept.
    pub fn abandon(&mut self, turn: &mut Turn<'_>) {
        self.window.borrow_mut().abandon(turn.pool);
        self.partial = None;
    }
}
