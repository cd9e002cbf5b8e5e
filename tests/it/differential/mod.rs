//! The differential tests: through onetrip and straight at one redis-server, the replies are the same to the byte.
//!
//! One random stream goes both ways in batches of random size; a difference is told with the request, both replies
//! and the requests before it that named the same keys. Layouts are 1, 3 and 5 real servers and embedded shards,
//! each in RESP2 and RESP3. What sharding makes different is tested elsewhere and not part of the streams.

mod compare;
mod cut;
mod scans;
mod stream;
mod templates;

use crate::harness::{Client, Proxy, RedisServer, Reply, Seed, beside_others, redis_servers, show, thorough};
use stream::{Generator, Step};

/// onetrip and the one server that it is compared with.
struct Pair {
    real: bool,
    proxy: Proxy,
    oracle: RedisServer,
    _shards: Vec<RedisServer>,
}

impl Pair {
    /// Over `shards` real servers.
    fn standalone(shards: usize) -> Pair {
        let servers = redis_servers(shards);
        Pair { real: true, proxy: Proxy::over(&servers), oracle: RedisServer::start(), _shards: servers }
    }

    fn embedded(shards: usize) -> Pair {
        Pair {
            real: false,
            proxy: Proxy::embedded(shards),
            oracle: RedisServer::start(),
            _shards: Vec::new(),
        }
    }

    fn clients(&self, version: u8) -> (Client, Client) {
        (self.proxy.client_speaking(version), Client::speaking(self.oracle.address(), version))
    }

    /// Every key is found where its slot is: one on another shard would be listed and not exist.
    fn no_key_is_misplaced(&self) {
        let mut client = self.proxy.client();
        let keys: Vec<String> = client.command(&["KEYS", "*"]).items().iter().map(Reply::text).collect();
        let missing: Vec<&String> =
            keys.iter().filter(|key| client.command(&["EXISTS", key]).integer() == 0).collect();
        assert!(missing.is_empty(), "on a shard that doesn't own them: {missing:?}");
        assert_eq!(client.command(&["DBSIZE"]).integer(), keys.len() as i64);
    }

    /// Sends random batches both ways until `count` requests have been compared.
    fn run(&self, seed: &Seed, version: u8, count: usize) {
        let mut rng = seed.rng(u64::from(version));
        let mut generator = Generator::new(rng.fork(), self.real);
        let (mut proxy, mut oracle) = self.clients(version);
        for client in [&mut proxy, &mut oracle] {
            client.expect(&["FLUSHALL"], "+OK\r\n");
        }
        let mut history: Vec<Step> = Vec::new();
        while history.len() < count {
            let start = history.len();
            let batch = rng.usize(1..80);
            history.extend((0..batch).map(|_| generator.step()));
            let bytes: Vec<u8> = history[start..].iter().flat_map(|s| s.bytes.clone()).collect();
            proxy.send(&bytes);
            oracle.send(&bytes);
            for at in start..history.len() {
                let wanted = oracle.raw_reply();
                let got = proxy.try_raw_reply().unwrap_or_else(|e| format!("no reply: {e}").into());
                compare_one(&history, at, &got, &wanted);
            }
        }
    }
}

fn compare_one(history: &[Step], at: usize, got: &[u8], wanted: &[u8]) {
    let step = &history[at];
    if !got.starts_with(b"no reply") && step.compare.same(got, wanted) {
        return;
    }
    let related = |other: &&Step| {
        let keys = |s: &Step| s.args.iter().filter(|a| a.starts_with(b"{")).cloned().collect();
        let (mine, theirs): (Vec<_>, Vec<_>) = (keys(step), keys(other));
        mine.iter().any(|key| theirs.contains(key))
    };
    let before: Vec<String> = history[..at].iter().filter(related).map(Step::show).collect();
    panic!(
        "request {at}: {}\n  onetrip: {}\n  server:  {}\n  before it, on the same keys:\n    {}",
        step.show(),
        show(got),
        show(wanted),
        before[before.len().saturating_sub(12)..].join("\n    ")
    );
}

fn requests_each() -> usize {
    if thorough() { 100_000 } else { 6_000 }
}

fn same_as_one_server(name: &'static str, pair: &Pair) {
    let seed = Seed::new(name);
    for version in [2, 3] {
        pair.run(&seed, version, requests_each());
        pair.no_key_is_misplaced();
    }
}

#[test]
fn one_standalone_shard_answers_as_one_server() {
    let _turn = beside_others();
    same_as_one_server("one standalone shard", &Pair::standalone(1));
}

#[test]
fn three_standalone_shards_answer_as_one_server() {
    let _turn = beside_others();
    same_as_one_server("three standalone shards", &Pair::standalone(3));
}

#[test]
fn five_standalone_shards_answer_as_one_server() {
    let _turn = beside_others();
    same_as_one_server("five standalone shards", &Pair::standalone(5));
}

#[test]
fn one_embedded_shard_answers_as_one_server() {
    let _turn = beside_others();
    same_as_one_server("one embedded shard", &Pair::embedded(1));
}

#[test]
fn four_embedded_shards_answer_as_one_server() {
    let _turn = beside_others();
    same_as_one_server("four embedded shards", &Pair::embedded(4));
}
