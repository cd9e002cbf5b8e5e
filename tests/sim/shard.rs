//! A shard: a real engine behind the connections of its lanes, and everything that can go wrong with it.
//!
//! It executes pieces in the order sent, as far as one connection goes and between them, and counts what it executes:
//! every written value is unique, so one that comes a second time was sent again when it must not have been.

use crate::link::{Health, Link};
use fastrand::Rng;
use onetrip::engine::Engine;
use onetrip::lane::{Lane, Loss};
use onetrip::resp::request::{Args, Decoded, Decoder};
use onetrip::trip::{NANOS_PER_MS, Nanos};
use onetrip::turn::Turn;
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

/// What every value that a client writes begins with.
pub const VALUE: &[u8] = b"value ";

pub struct Shard {
    engine: Engine,
    executed: Executed,
    pub links: Vec<Link>,
    /// Executes nothing until then.
    pub stopped_until: Nanos,
    /// Refuses connections until then.
    pub dead_until: Nanos,
    sent: u64,
}

/// Hashes of all values written here.
#[derive(Default)]
struct Executed {
    hasher: RandomState,
    values: HashSet<u64>,
}

impl Executed {
    fn note(&mut self, args: Args<'_>) {
        for value in args.iter().filter(|arg| arg.starts_with(VALUE)) {
            let shown = &value[..value.len().min(40)];
            let new = self.values.insert(self.hasher.hash_one(value));
            assert!(new, "executed twice: the write of {:?}", String::from_utf8_lossy(shown));
        }
    }
}

impl Shard {
    pub fn new(seed: u64, lanes: impl IntoIterator<Item = Rc<RefCell<Lane>>>) -> Shard {
        let links = lanes.into_iter().map(Link::new).collect();
        let (engine, executed) = (Engine::new(seed), Executed::default());
        Shard { engine, executed, links, stopped_until: 0, dead_until: 0, sent: 0 }
    }

    /// Lets something happen on every connection.
    pub fn step(&mut self, rng: &mut Rng, turn: &mut Turn<'_>) {
        let health = Health { stopped: turn.now < self.stopped_until, dead: turn.now < self.dead_until };
        if !health.stopped {
            for _ in 0..rng.usize(0..4) {
                self.deliver(turn);
            }
        }
        for link in &mut self.links {
            link.poll(health, &mut self.sent, rng, turn);
        }
    }

    /// The shard reads the piece that was sent first, on whichever connection, and executes what is complete.
    fn deliver(&mut self, turn: &Turn<'_>) {
        let first = |link: &&mut Link| link.to_shard.front().map_or(u64::MAX, |(order, _)| *order);
        let Some(link) = self.links.iter_mut().min_by_key(first) else { return };
        let Some((_, piece)) = link.to_shard.pop_front() else { return };
        link.at_shard.extend(piece);
        let (mut decoder, mut used, mut replies) = (Decoder::default(), 0, Vec::new());
        while let Ok(Decoded::Request { consumed }) = decoder.next(&link.at_shard[used..], true) {
            let args = decoder.args(&link.at_shard[used..]);
            self.executed.note(args);
            self.engine.execute(link.proto, 0, args, 1_000 + turn.now / NANOS_PER_MS, &mut replies);
            used += consumed;
        }
        link.at_shard.drain(..used);
        link.drained();
        link.arrive(replies);
    }

    /// A connection is lost; of what was on its way some has been executed, in order, and no reply gets through.
    pub fn lose(&mut self, link: usize, rng: &mut Rng, turn: &mut Turn<'_>) -> bool {
        if !self.links[link].is_up() {
            return false;
        }
        if turn.now >= self.stopped_until {
            for _ in 0..rng.usize(0..4) {
                self.deliver(turn);
            }
        }
        self.links[link].lose(&Loss::Closed, rng, turn);
        true
    }
}
