//! A shard and the connections to it: bytes on their way, in pieces of any size, and everything that can go wrong.

use fastrand::Rng;
use onetrip::engine::Engine;
use onetrip::lane::{Lane, Loss};
use onetrip::metrics::LaneError;
use onetrip::resp::Proto;
use onetrip::resp::request::{Decoded, Decoder};
use onetrip::trip::{NANOS_PER_MS, Nanos};
use onetrip::turn::Turn;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;

pub struct Shard {
    engine: Engine,
    pub links: Vec<Link>,
    /// Executes nothing until then.
    pub stopped_until: Nanos,
    /// Refuses connections until then.
    pub dead_until: Nanos,
    sent: u64,
}

/// One lane and its connection.
pub struct Link {
    lane: Rc<RefCell<Lane>>,
    proto: Proto,
    up: bool,
    /// Pieces sent, with their place in the order of all that was sent to this shard.
    to_shard: VecDeque<(u64, Vec<u8>)>,
    unread: Vec<u8>,
    to_lane: VecDeque<u8>,
    retry_at: Nanos,
}

impl Link {
    pub fn new(lane: Rc<RefCell<Lane>>) -> Link {
        let proto = lane.borrow().proto;
        let to_shard = VecDeque::new();
        Link { lane, proto, up: false, to_shard, unread: Vec::new(), to_lane: VecDeque::new(), retry_at: 0 }
    }

    pub fn is_idle(&self) -> bool {
        self.lane.borrow().load().0 == 0
    }

    pub fn picture(&self) -> String {
        let lane = self.lane.borrow();
        let (shard, proto) = (lane.shard, self.proto);
        let (load, bytes) = (lane.load(), lane.bytes());
        let (there, back) = (self.to_shard.len(), self.to_lane.len());
        format!(
            "shard {shard} {proto:?}: up {}, load {load:?}, bytes {bytes}, way there {there}, back {back}",
            self.up
        )
    }

    pub fn bytes(&self) -> usize {
        self.lane.borrow().bytes()
    }

    fn connect(&mut self, dead: bool, rng: &mut Rng, turn: &mut Turn<'_>) {
        if self.up || turn.now < self.retry_at || !self.lane.borrow().wants_connection() {
            return;
        }
        self.retry_at = turn.now + rng.u64(1..10) * NANOS_PER_MS;
        if dead {
            return self.lane.borrow_mut().refused(turn, LaneError::Unreachable);
        }
        self.up = true;
        self.lane.borrow_mut().connected(turn);
    }

    fn write(&mut self, sent: &mut u64, rng: &mut Rng, turn: &Turn<'_>) {
        let mut lane = self.lane.borrow_mut();
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = lane.unsent(&mut slices);
        let mut bytes: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
        if !self.up || bytes.is_empty() {
            return;
        }
        bytes.truncate(rng.usize(1..=bytes.len()));
        lane.sent(bytes.len(), turn);
        *sent += 1;
        self.to_shard.push_back((*sent, bytes));
    }

    fn read(&mut self, rng: &mut Rng, turn: &mut Turn<'_>) {
        let n = if self.to_lane.is_empty() { 0 } else { rng.usize(1..=self.to_lane.len()) };
        if !self.up || n == 0 || self.lane.borrow_mut().holds_back(turn) {
            return;
        }
        let bytes: Vec<u8> = self.to_lane.drain(..n).collect();
        let received = self.lane.borrow_mut().received(&bytes, turn);
        assert_eq!(received, Ok(()), "a shard's own replies are in order");
    }

    fn end(&mut self, loss: &Loss, turn: &mut Turn<'_>) {
        self.up = false;
        self.to_shard.clear();
        self.unread.clear();
        self.to_lane.clear();
        self.lane.borrow_mut().lost(loss, turn);
    }
}

impl Shard {
    pub fn new(seed: u64, lanes: impl IntoIterator<Item = Rc<RefCell<Lane>>>) -> Shard {
        let links = lanes.into_iter().map(Link::new).collect();
        Shard { engine: Engine::new(seed), links, stopped_until: 0, dead_until: 0, sent: 0 }
    }

    /// Lets something happen on every connection.
    pub fn step(&mut self, rng: &mut Rng, turn: &mut Turn<'_>) {
        let (stopped, dead) = (turn.now < self.stopped_until, turn.now < self.dead_until);
        for link in &mut self.links {
            link.connect(dead, rng, turn);
            link.write(&mut self.sent, rng, turn);
        }
        if !stopped {
            for _ in 0..rng.usize(0..4) {
                self.deliver(turn);
            }
        }
        for i in 0..self.links.len() {
            let link = &mut self.links[i];
            link.read(rng, turn);
            if link.up && link.lane.borrow().wants_probe(turn.now) {
                if stopped {
                    self.lose(i, &Loss::Dead, rng, turn);
                } else {
                    self.links[i].lane.borrow_mut().probed(turn.now);
                }
            }
            self.links[i].lane.borrow_mut().tick(turn);
        }
    }

    /// The shard reads the piece that was sent first, on whichever connection, and executes what is complete.
    fn deliver(&mut self, turn: &Turn<'_>) {
        let first = |link: &&mut Link| link.to_shard.front().map_or(u64::MAX, |(order, _)| *order);
        let Some(link) = self.links.iter_mut().min_by_key(first) else { return };
        let Some((_, piece)) = link.to_shard.pop_front() else { return };
        link.unread.extend(piece);
        let (mut decoder, mut used, mut replies) = (Decoder::default(), 0, Vec::new());
        while let Ok(Decoded::Request { consumed }) = decoder.next(&link.unread[used..], true) {
            let args = decoder.args(&link.unread[used..]);
            self.engine.execute(link.proto, 0, args, 1_000 + turn.now / NANOS_PER_MS, &mut replies);
            used += consumed;
        }
        link.unread.drain(..used);
        link.to_lane.extend(replies);
    }

    /// A connection is lost; of what was on its way some has been executed, in order, and no reply gets through.
    pub fn lose(&mut self, link: usize, loss: &Loss, rng: &mut Rng, turn: &mut Turn<'_>) {
        if !self.links[link].up {
            return;
        }
        if turn.now >= self.stopped_until {
            for _ in 0..rng.usize(0..4) {
                self.deliver(turn);
            }
        }
        self.links[link].end(loss, turn);
    }
}
