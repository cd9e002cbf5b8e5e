//! A lane's task over a simulated connection: polled as `lane/remote` polls itself, and no oftener.
//!
//! It connects when its lane first has something to send, reads what is there, writes once a turn, keeps the lane's
//! timer and probes a silent shard. Like the real task it decides nothing about requests or replies.

use crate::bell::Bell;
use fastrand::Rng;
use onetrip::lane::{Lane, Loss};
use onetrip::metrics::LaneError;
use onetrip::resp::Proto;
use onetrip::trip::{NANOS_PER_MS, Nanos};
use onetrip::turn::Turn;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;

/// Reads of one socket in one turn.
const READS_A_TURN: usize = 4;
/// Bytes that are no reply in any version of the protocol.
const GARBAGE: &[u8] = b"\x01 is no reply\r\n";
/// The shortest time between two ticks, as in `lane/timer`.
const TICK_MIN: Nanos = NANOS_PER_MS;

/// What a shard lets a connection do.
#[derive(Clone, Copy)]
pub struct Health {
    pub stopped: bool,
    pub dead: bool,
}

pub struct Link {
    lane: Rc<RefCell<Lane>>,
    pub proto: Proto,
    bell: Bell,
    up: bool,
    /// When the next attempt to connect ends.
    dialed_at: Option<Nanos>,
    timer: Option<Nanos>,
    /// When the probe's answer is due.
    probe_at: Option<Nanos>,
    stepped_back: bool,
    wants_to_read: bool,
    wants_to_write: bool,
    /// Pieces sent, with their place in the order of all that was sent to this shard.
    pub to_shard: VecDeque<(u64, Vec<u8>)>,
    /// Read by the shard, not yet a whole request.
    pub at_shard: Vec<u8>,
    to_lane: VecDeque<u8>,
    poisoned: bool,
}

impl Link {
    pub fn new(lane: Rc<RefCell<Lane>>) -> Link {
        let proto = lane.borrow().proto;
        Link {
            lane,
            proto,
            bell: Bell::new(),
            up: false,
            dialed_at: None,
            timer: None,
            probe_at: None,
            stepped_back: false,
            wants_to_read: false,
            wants_to_write: false,
            to_shard: VecDeque::new(),
            at_shard: Vec::new(),
            to_lane: VecDeque::new(),
            poisoned: false,
        }
    }

    pub fn is_up(&self) -> bool {
        self.up
    }

    pub fn is_still(&self) -> bool {
        self.lane.borrow().load().0 == 0 && self.bytes() == 0 && self.to_lane.is_empty()
    }

    pub fn picture(&self) -> String {
        let lane = self.lane.borrow();
        format!(
            "shard {} {:?}: up {}, load {:?}, bytes {}, way there {}, back {}, timer {:?}",
            lane.shard,
            self.proto,
            self.up,
            lane.load(),
            lane.bytes(),
            self.to_shard.len(),
            self.to_lane.len(),
            self.timer,
        )
    }

    pub fn bytes(&self) -> usize {
        self.lane.borrow().bytes()
    }

    /// The shard's bytes get here.
    pub fn arrive(&mut self, replies: Vec<u8>) {
        self.to_lane.extend(replies);
        if self.wants_to_read {
            self.bell.ring();
        }
    }

    /// The shard sends what is no reply.
    pub fn poison(&mut self) {
        if self.up {
            self.poisoned = true;
            self.arrive(GARBAGE.to_vec());
        }
    }

    /// Runs the lane's task, if anything has woken it.
    pub fn poll(&mut self, health: Health, sent: &mut u64, rng: &mut Rng, turn: &mut Turn<'_>) {
        let due = [self.timer, self.probe_at, self.dialed_at].into_iter().flatten().any(|at| at <= turn.now);
        if !self.bell.take() && !due {
            return;
        }
        self.lane.borrow_mut().set_waker(self.bell.waker());
        if !self.up {
            return self.dial(health, rng, turn);
        }
        if let Err(loss) = self.receive(rng, turn) {
            assert!(self.poisoned, "a shard's own replies are in order: {loss}");
            return self.lose(&loss, rng, turn);
        }
        self.send(sent, rng, turn);
        self.keep_time(turn);
        if self.probe_fails(health, rng, turn) {
            self.lose(&Loss::Dead, rng, turn);
        }
    }

    fn dial(&mut self, health: Health, rng: &mut Rng, turn: &mut Turn<'_>) {
        if !self.lane.borrow().wants_connection() {
            return;
        }
        self.keep_time(turn);
        let soon = turn.now + rng.u64(1..10) * NANOS_PER_MS;
        if *self.dialed_at.get_or_insert(soon) > turn.now {
            return;
        }
        // A stopped process leaves the attempt without an answer, a dead one refuses it.
        if health.stopped || health.dead {
            self.dialed_at = Some(soon);
            if health.dead {
                self.lane.borrow_mut().refused(turn, LaneError::Unreachable);
            }
            return;
        }
        self.dialed_at = None;
        self.up = true;
        self.lane.borrow_mut().connected(turn);
        self.bell.ring();
    }

    fn receive(&mut self, rng: &mut Rng, turn: &mut Turn<'_>) -> Result<(), Loss> {
        self.wants_to_read = false;
        for _ in 0..READS_A_TURN {
            if self.lane.borrow_mut().holds_back(turn) {
                return Ok(());
            }
            if self.to_lane.is_empty() {
                self.wants_to_read = true;
                return Ok(());
            }
            let n = rng.usize(1..=self.to_lane.len());
            let bytes: Vec<u8> = self.to_lane.drain(..n).collect();
            self.lane.borrow_mut().received(&bytes, turn)?;
        }
        self.bell.ring();
        Ok(())
    }

    fn send(&mut self, sent: &mut u64, rng: &mut Rng, turn: &Turn<'_>) {
        let mut lane = self.lane.borrow_mut();
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = lane.unsent(&mut slices);
        let mut bytes: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
        self.wants_to_write = false;
        if bytes.is_empty() {
            self.stepped_back = false;
            return;
        }
        if !std::mem::replace(&mut self.stepped_back, true) {
            return self.bell.ring();
        }
        let all = bytes.len();
        if rng.bool() {
            bytes.truncate(rng.usize(1..=all));
        }
        lane.sent(bytes.len(), turn);
        // The socket is full until the shard has read.
        self.wants_to_write = bytes.len() < all;
        self.stepped_back = self.wants_to_write;
        *sent += 1;
        self.to_shard.push_back((*sent, bytes));
    }

    /// The shard has taken a piece from the socket.
    pub fn drained(&mut self) {
        if self.wants_to_write {
            self.bell.ring();
        }
    }

    /// The lane's one timer, as `lane/timer` keeps it.
    fn keep_time(&mut self, turn: &mut Turn<'_>) {
        while let Some(at) = self.timer.or_else(|| self.lane.borrow().next_tick()) {
            self.timer = Some(at);
            if at > turn.now {
                return;
            }
            let next = self.lane.borrow_mut().tick(turn);
            self.timer = next.map(|at| at.max(turn.now + TICK_MIN));
        }
    }

    /// A silent shard is asked on a connection of its own whether it lives. True: it does not.
    fn probe_fails(&mut self, health: Health, rng: &mut Rng, turn: &mut Turn<'_>) -> bool {
        let Some(at) = self.probe_at else {
            if self.lane.borrow().wants_probe(turn.now) {
                self.probe_at = Some(turn.now + rng.u64(1..20) * NANOS_PER_MS);
            }
            return false;
        };
        if at > turn.now {
            return false;
        }
        self.probe_at = None;
        let lives = !health.stopped && !health.dead;
        if lives {
            self.lane.borrow_mut().probed(turn.now);
        }
        !lives
    }

    /// The connection ends, with all that is on its way.
    pub fn lose(&mut self, loss: &Loss, rng: &mut Rng, turn: &mut Turn<'_>) {
        assert!(self.up, "a connection is lost once");
        self.up = false;
        self.to_shard.clear();
        self.at_shard.clear();
        self.to_lane.clear();
        (self.poisoned, self.stepped_back) = (false, false);
        (self.wants_to_read, self.wants_to_write) = (false, false);
        (self.timer, self.probe_at) = (None, None);
        self.dialed_at = Some(turn.now + rng.u64(1..10) * NANOS_PER_MS);
        self.lane.borrow_mut().lost(loss, turn);
        self.bell.ring();
    }
}
