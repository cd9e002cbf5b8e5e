//! A client's connection over a simulated socket: polled as `client/connection` polls itself, and no oftener.
//!
//! The socket is two queues. Bytes arrive in pieces of any size; what is written goes into a send buffer that has a
//! bound, so a client that does not read makes the proxy keep its output.

use crate::bell::Bell;
use fastrand::Rng;
use onetrip::client::conversation::Conversation;
use onetrip::client::world::World;
use onetrip::metrics::Closed;
use onetrip::session::Session;
use onetrip::turn::Turn;
use std::collections::VecDeque;

/// Reads of one socket in one turn.
const READS_A_TURN: usize = 4;

pub struct Connection {
    pub conversation: Conversation,
    bell: Bell,
    /// Arrived and not read by the proxy.
    arrived: VecDeque<u8>,
    /// The client sends nothing more.
    ended: bool,
    /// Written by the proxy and not read by the client.
    written: VecDeque<u8>,
    send_buffer: usize,
    wants_to_read: bool,
    wants_to_write: bool,
    /// What the budget has been told.
    claimed: usize,
}

impl Connection {
    pub fn new(id: u64, world: &World, send_buffer: usize) -> Connection {
        Connection {
            conversation: Conversation::new(Session::new(id, true, 0), world),
            bell: Bell::new(),
            arrived: VecDeque::new(),
            ended: false,
            written: VecDeque::new(),
            send_buffer,
            wants_to_read: false,
            wants_to_write: false,
            claimed: 0,
        }
    }

    /// Bytes of the client get here.
    pub fn arrive(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.arrived.extend(bytes);
        self.readable();
    }

    /// The client has closed its half.
    pub fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            self.readable();
        }
    }

    fn readable(&self) {
        if self.wants_to_read {
            self.bell.ring();
        }
    }

    /// How much the client could read now.
    pub fn unread(&self) -> usize {
        self.written.len()
    }

    /// The client reads the first `n` bytes.
    pub fn read_by_client(&mut self, n: usize) -> Vec<u8> {
        if self.wants_to_write && n > 0 {
            self.bell.ring();
        }
        self.written.drain(..n).collect()
    }

    /// Whether nothing is under way in either direction.
    pub fn is_still(&self) -> bool {
        let window = self.conversation.window();
        self.arrived.is_empty()
            && self.written.is_empty()
            && (window.in_flight(), window.waiting_bytes()) == (0, 0)
    }

    /// Runs the connection's task, if anything has woken it. `Some`: it has ended, for this reason.
    pub fn poll(&mut self, world: &World, rng: &mut Rng, turn: &mut Turn<'_>) -> Option<Closed> {
        if !self.bell.take() {
            return None;
        }
        let ended = self.poll_turn(world, rng, turn);
        self.tell(world);
        ended
    }

    /// The client is gone.
    pub fn leave(&mut self, world: &World, turn: &mut Turn<'_>) {
        self.conversation.abandon(turn);
        self.tell(world);
    }

    fn tell(&mut self, world: &World) {
        let claim = self.conversation.claim();
        world.budget.claim(std::mem::replace(&mut self.claimed, claim), claim);
    }

    fn poll_turn(&mut self, world: &World, rng: &mut Rng, turn: &mut Turn<'_>) -> Option<Closed> {
        self.wants_to_read = false;
        self.wants_to_write = false;
        self.conversation.window().set_waker(self.bell.waker());
        for _ in 0..READS_A_TURN {
            if let Some(reason) = self.write(turn) {
                return Some(reason);
            }
            let held = self.held();
            let goes_on = self.conversation.resume(world, turn);
            self.check_taken(held, world);
            if let Some(reason) = self.write(turn) {
                return Some(reason);
            }
            if !goes_on {
                return self.stopped();
            }
            if !self.read(world, rng, turn) {
                self.wants_to_read = true;
                return None;
            }
        }
        self.bell.ring();
        None
    }

    fn stopped(&self) -> Option<Closed> {
        if self.conversation.waits_for_nothing() {
            self.bell.ring();
        }
        let window = self.conversation.window();
        let delivered = window.in_flight() == 0 && window.output().is_empty();
        self.conversation.ending().filter(|_| delivered)
    }

    fn write(&mut self, turn: &mut Turn<'_>) -> Option<Closed> {
        let mut window = self.conversation.window();
        if let Some(reason) = window.broken() {
            return Some(reason);
        }
        let n = window.output().len().min(self.send_buffer - self.written.len());
        self.written.extend(&window.output()[..n]);
        if n > 0 {
            window.written(n, turn);
        }
        self.wants_to_write = !window.output().is_empty();
        None
    }

    /// One read of the socket. False: it would block.
    fn read(&mut self, world: &World, rng: &mut Rng, turn: &mut Turn<'_>) -> bool {
        if self.arrived.is_empty() {
            if self.ended {
                self.conversation.end(Closed::Client);
            }
            return self.ended;
        }
        let n = rng.usize(1..=self.arrived.len());
        let bytes: Vec<u8> = self.arrived.drain(..n).collect();
        let held = self.held();
        match self.conversation.cut_request() {
            Some(cut) => {
                cut.extend_from_slice(&bytes);
                self.conversation.proceed(world, turn);
            }
            None => self.conversation.feed(&bytes, world, turn),
        }
        self.check_taken(held, world);
        true
    }

    /// Commands in flight, and bytes that wait for the client.
    fn held(&self) -> (usize, usize) {
        let window = self.conversation.window();
        (window.in_flight(), window.waiting_bytes())
    }

    /// Nothing may have been taken from a client that leaves more than its bound unread.
    fn check_taken(&self, before: (usize, usize), world: &World) {
        let after = self.held();
        let full = before.1 >= world.limits.output_soft || before.0 >= world.limits.window_max;
        assert!(!full || after == before, "a full window took more: {before:?} became {after:?}");
        assert!(after.0 <= world.limits.window_max, "{} commands in flight", after.0);
    }
}
