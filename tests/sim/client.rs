//! A simulated client: makes requests, sends them cut anywhere, reads replies as it likes, checks every one.

use crate::model::{Model, Op, Verdict};
use crate::run::Report;
use fastrand::Rng;
use onetrip::client::conversation::Conversation;
use onetrip::client::world::World;
use onetrip::resp::reply::Scanner;
use onetrip::resp::write;
use onetrip::session::Session;
use onetrip::turn::Turn;
use std::collections::VecDeque;

const KEYS: usize = 6;

pub struct Client {
    id: u64,
    pub conversation: Conversation,
    model: Model,
    unsent: VecDeque<u8>,
    owed: VecDeque<Op>,
    unread: Vec<u8>,
    scanner: Scanner,
    scanned: usize,
    /// Reads nothing for so many more steps.
    asleep: u32,
    written: u64,
}

impl Client {
    pub fn new(id: u64, world: &World) -> Client {
        Client {
            id,
            conversation: Conversation::new(Session::new(id, true, 0), world),
            model: Model::default(),
            unsent: VecDeque::new(),
            owed: VecDeque::new(),
            unread: Vec::new(),
            scanner: Scanner::default(),
            scanned: 0,
            asleep: 0,
            written: 0,
        }
    }

    pub fn is_done(&self) -> bool {
        self.owed.is_empty() && self.unsent.is_empty()
    }

    pub fn picture(&self) -> String {
        let window = self.conversation.window();
        format!(
            "client {}: owed {} (first {:?}), unsent {}, in flight {}, output {}, reads {}, undecoded {}",
            self.id,
            self.owed.len(),
            self.owed.front(),
            self.unsent.len(),
            window.in_flight(),
            window.output().len(),
            self.conversation.wants_bytes(),
            self.conversation.undecoded_bytes(),
        )
    }

    /// Puts a few requests before the client's socket.
    pub fn ask(&mut self, rng: &mut Rng) {
        for _ in 0..rng.usize(1..8) {
            let op = self.choose(rng);
            let mut bytes = Vec::new();
            write::request(&mut bytes, &op.words());
            self.unsent.extend(bytes);
            self.owed.push_back(op);
        }
        if rng.u8(..) < 10 {
            self.asleep = rng.u32(1..100);
        }
    }

    fn key(&self, rng: &mut Rng) -> String {
        format!("client{}:{}", self.id, rng.usize(..KEYS))
    }

    fn keys(&self, rng: &mut Rng) -> Vec<String> {
        (0..rng.usize(1..6)).map(|_| self.key(rng)).collect()
    }

    fn value(&mut self, rng: &mut Rng) -> Vec<u8> {
        self.written += 1;
        let mut value = format!("value {} of client {} ", self.written, self.id).into_bytes();
        let long = if rng.u8(..) < 4 { 3_000 } else { 30 };
        value.extend((0..rng.usize(..long)).map(|_| rng.u8(..)));
        value
    }

    fn choose(&mut self, rng: &mut Rng) -> Op {
        let counter = format!("client{}:counter{}", self.id, rng.usize(..3));
        match rng.u32(..100) {
            0..25 => Op::Get(self.key(rng)),
            25..40 => Op::Set(self.key(rng), self.value(rng)),
            40..65 => Op::Incr(counter),
            65..72 => Op::Append(self.key(rng), vec![rng.u8(..); rng.usize(1..4)]),
            72..78 => Op::Del(self.keys(rng)),
            78..84 => Op::Mget(self.keys(rng)),
            84..90 => Op::Mset(self.keys(rng).into_iter().map(|key| (key, self.value(rng))).collect()),
            90..94 => Op::Echo(self.value(rng)),
            94..96 => Op::Hello(rng.i64(2..=3)),
            96..98 => Op::Unknown,
            _ => Op::BadArity,
        }
    }

    /// One turn of the client's connection, as `client/connection` drives it. False: it was closed.
    pub fn step(&mut self, world: &World, rng: &mut Rng, turn: &mut Turn<'_>, report: &mut Report) -> bool {
        if self.model.loose {
            return false;
        }
        if self.conversation.window().broken().is_some() {
            report.broken += 1;
            return false;
        }
        if self.conversation.resume(world, turn) && !self.unsent.is_empty() {
            let n = rng.usize(1..=self.unsent.len());
            let bytes: Vec<u8> = self.unsent.drain(..n).collect();
            match self.conversation.cut_request() {
                Some(cut) => {
                    cut.extend_from_slice(&bytes);
                    self.conversation.proceed(world, turn);
                }
                None => self.conversation.feed(&bytes, world, turn),
            }
        }
        report.stalls += u64::from(!self.conversation.wants_bytes());
        if self.asleep > 0 {
            self.asleep -= 1;
        } else {
            self.read(rng, turn, report);
        }
        true
    }

    fn read(&mut self, rng: &mut Rng, turn: &mut Turn<'_>, report: &mut Report) {
        let mut window = self.conversation.window();
        if window.output().is_empty() {
            return;
        }
        let n = rng.usize(1..=window.output().len());
        self.unread.extend_from_slice(&window.output()[..n]);
        window.written(n, turn);
        drop(window);
        while self.scanned < self.unread.len() {
            let Some(end) = self.scanner.scan(&self.unread[self.scanned..]).expect("replies are well-formed")
            else {
                self.scanned = self.unread.len();
                return;
            };
            let reply: Vec<u8> = self.unread.drain(..self.scanned + end).collect();
            self.scanned = 0;
            let op = self.owed.pop_front().expect("no reply without a request");
            report.replies += 1;
            match self.model.check(&op, &reply) {
                Verdict::Answered => {}
                Verdict::Unreachable => report.unreachable += 1,
                Verdict::UnknownOutcome => report.unknown += 1,
            }
        }
    }
}
