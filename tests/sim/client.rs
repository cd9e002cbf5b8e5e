//! A simulated client: makes requests, reads replies as it likes, checks every one, and leaves in one of three ways.

use crate::connection::Connection;
use crate::model::{Model, Verdict};
use crate::op::Op;
use crate::run::{Habits, Report};
use fastrand::Rng;
use onetrip::client::world::World;
use onetrip::metrics::Closed;
use onetrip::resp::reply::Scanner;
use onetrip::resp::write;
use onetrip::turn::Turn;
use std::collections::VecDeque;

const KEYS: usize = 6;
const COUNTERS: usize = 3;

pub struct Client {
    id: u64,
    habits: Habits,
    pub connection: Connection,
    model: Model,
    unsent: VecDeque<u8>,
    /// What was asked, and whether no reply to it is wanted.
    owed: VecDeque<(Op, bool)>,
    unread: Vec<u8>,
    scanner: Scanner,
    scanned: usize,
    /// Reads nothing for so many more steps.
    asleep: u32,
    values: u64,
    /// CLIENT REPLY OFF was sent, or SKIP just now.
    off: bool,
    skip: bool,
    /// Asks for nothing more, since it sent QUIT or will close its half.
    leaving: bool,
    closed: Option<Closed>,
}

impl Client {
    pub fn new(id: u64, habits: Habits, world: &World, rng: &mut Rng) -> Client {
        Client {
            id,
            habits,
            connection: Connection::new(id, world, rng.usize(habits.send_buffer / 20..habits.send_buffer)),
            model: Model::new(std::sync::Arc::clone(&world.map)),
            unsent: VecDeque::new(),
            owed: VecDeque::new(),
            unread: Vec::new(),
            scanner: Scanner::default(),
            scanned: 0,
            asleep: 0,
            values: 0,
            off: false,
            skip: false,
            leaving: false,
            closed: None,
        }
    }

    /// Everything asked is answered, and who wanted to leave has left.
    pub fn is_done(&self) -> bool {
        !self.leaving && self.unsent.is_empty() && self.nothing_owed() && self.connection.is_still()
    }

    fn nothing_owed(&self) -> bool {
        self.owed.iter().all(|(_, silent)| *silent)
    }

    pub fn picture(&self) -> String {
        let conversation = &self.connection.conversation;
        let window = conversation.window();
        format!(
            "client {}: owed {} (first {:?}), unsent {}, in flight {}, output {}, reads {}, undecoded {}, leaving {}",
            self.id,
            self.owed.len(),
            self.owed.front(),
            self.unsent.len(),
            window.in_flight(),
            window.output().len(),
            conversation.wants_bytes(),
            conversation.undecoded_bytes(),
            self.leaving,
        )
    }

    /// Puts a few requests before the client's socket.
    pub fn ask(&mut self, rng: &mut Rng) {
        if self.leaving {
            return;
        }
        for _ in 0..rng.usize(1..8) {
            let op = self.choose(rng);
            self.send(op);
        }
        if rng.u8(..) < 10 {
            self.asleep = rng.u32(1..100);
        }
        if rng.u8(..) < 2 {
            self.leave(rng);
        }
    }

    /// Reads back everything: what a fault has done is seen at the latest now.
    pub fn ask_all(&mut self) {
        if self.leaving {
            return;
        }
        if self.off {
            self.send(Op::ReplyOn);
        }
        for key in 0..KEYS {
            self.send(Op::Get(self.key(key)));
        }
        for counter in 0..COUNTERS {
            self.send(Op::Get(self.counter(counter)));
        }
    }

    /// QUIT with more behind it, or the end of what this client sends.
    fn leave(&mut self, rng: &mut Rng) {
        self.leaving = true;
        if rng.bool() && self.habits.changes_replies {
            self.send(Op::Quit);
            self.unsent.extend(b"*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET");
        }
    }

    fn send(&mut self, op: Op) {
        let mut bytes = Vec::new();
        write::request(&mut bytes, &op.words());
        self.unsent.extend(bytes);
        let silent = match op {
            Op::ReplyOn => false,
            Op::ReplySkip | Op::ReplyOff => true,
            _ => self.off || self.skip,
        };
        self.skip = op == Op::ReplySkip && !self.off;
        self.off = (self.off || op == Op::ReplyOff) && op != Op::ReplyOn;
        self.owed.push_back((op, silent));
    }

    fn key(&self, key: usize) -> String {
        format!("client{}:{key}", self.id)
    }

    fn counter(&self, counter: usize) -> String {
        format!("client{}:counter{counter}", self.id)
    }

    fn any_key(&self, rng: &mut Rng) -> String {
        self.key(rng.usize(..KEYS))
    }

    fn keys(&self, rng: &mut Rng) -> Vec<String> {
        (0..rng.usize(1..6)).map(|_| self.any_key(rng)).collect()
    }

    /// A value that nobody ever writes again.
    fn value(&mut self, rng: &mut Rng) -> Vec<u8> {
        self.values += 1;
        let mut value = format!("value {} of client {} ", self.values, self.id).into_bytes();
        let long = match rng.u32(..1_000) {
            0..15 => 3_000,
            15..17 => self.habits.longest_value,
            _ => 30,
        };
        value.extend((0..rng.usize(..long)).map(|_| rng.u8(..)));
        value
    }

    fn choose(&mut self, rng: &mut Rng) -> Op {
        if self.off && rng.u8(..) < 40 {
            return Op::ReplyOn;
        }
        match rng.u32(..100) {
            0..25 => Op::Get(self.any_key(rng)),
            25..40 => Op::Set(self.any_key(rng), self.value(rng)),
            40..63 => Op::Incr(self.counter(rng.usize(..COUNTERS))),
            63..70 => Op::Append(self.any_key(rng), self.value(rng)),
            70..76 => Op::Del(self.keys(rng)),
            76..82 => Op::Mget(self.keys(rng)),
            82..88 => Op::Mset(self.keys(rng).into_iter().map(|key| (key, self.value(rng))).collect()),
            88..91 => Op::Echo(self.value(rng)),
            91 => Op::DbSize,
            92 => Op::Keys(format!("client{}:*", self.id)),
            93 => Op::Unknown,
            94 => Op::BadArity,
            95 if self.habits.changes_replies => Op::ReplySkip,
            96 if self.habits.changes_replies && rng.bool() => Op::ReplyOff,
            97 if self.habits.changes_replies && !self.off && !self.skip => Op::Reset,
            // Nobody would know which version is spoken after it.
            _ if self.off || self.skip => Op::Ping,
            98 => Op::Ping,
            _ => Op::Hello(rng.i64(2..=3)),
        }
    }

    /// A turn of the network, of the connection and of the client. False: the client is gone.
    pub fn step(&mut self, world: &World, rng: &mut Rng, turn: &mut Turn<'_>, report: &mut Report) -> bool {
        if self.model.loose {
            return false;
        }
        self.model.closing |= world.closing.get();
        if self.closed.is_none() {
            self.send_some(rng);
            self.closed = self.connection.poll(world, rng, turn);
            report.stalls += u64::from(!self.connection.conversation.wants_bytes());
        }
        match self.closed {
            Some(Closed::Client) => return self.read_to_the_end(rng, report),
            Some(Closed::OutputLimit | Closed::ShardLost) => {
                report.broken += 1;
                return false;
            }
            Some(other) => panic!("closed for {other:?}"),
            None => {}
        }
        if self.asleep > 0 {
            self.asleep -= 1;
        } else {
            self.read(rng, report);
        }
        true
    }

    fn send_some(&mut self, rng: &mut Rng) {
        if self.unsent.is_empty() {
            if self.leaving {
                self.connection.end();
            }
            return;
        }
        let n = rng.usize(1..=self.unsent.len());
        self.connection.arrive(self.unsent.drain(..n));
    }

    /// Whoever leaves still gets every reply.
    fn read_to_the_end(&mut self, rng: &mut Rng, report: &mut Report) -> bool {
        assert!(self.leaving, "closed without having left");
        while self.connection.unread() > 0 && !self.model.loose {
            self.read(rng, report);
        }
        assert!(self.model.loose || self.nothing_owed(), "closed and owed {:?}", self.owed);
        report.farewells += 1;
        false
    }

    fn read(&mut self, rng: &mut Rng, report: &mut Report) {
        if self.connection.unread() == 0 {
            return;
        }
        let n = rng.usize(1..=self.connection.unread());
        let bytes = self.connection.read_by_client(n);
        self.unread.extend(bytes);
        while self.scanned < self.unread.len() {
            let Some(end) = self.scanner.scan(&self.unread[self.scanned..]).expect("replies are well-formed")
            else {
                self.scanned = self.unread.len();
                return;
            };
            let reply: Vec<u8> = self.unread.drain(..self.scanned + end).collect();
            self.scanned = 0;
            self.check(&reply, report);
        }
    }

    fn check(&mut self, reply: &[u8], report: &mut Report) {
        while let Some((op, true)) = self.owed.front() {
            self.model.unheard(op);
            self.owed.pop_front();
            report.unheard += 1;
        }
        let (op, _) = self.owed.pop_front().expect("no reply without a request");
        report.replies += 1;
        match self.model.check(&op, reply) {
            Verdict::Answered => {}
            Verdict::Unreachable => report.unreachable += 1,
            Verdict::UnknownOutcome => report.unknown += 1,
        }
    }
}
