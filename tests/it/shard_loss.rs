//! Shards that die, come back, stop and go on: who notices, in which words, and that nothing runs twice.
//!
//! The words are a contract, because client libraries decide by the prefix whether to send again: `-TRYAGAIN` was not
//! executed, `-ERR onetrip: outcome unknown` may have been. Counters tell the truth afterwards: on the shard's own
//! append-only file, every acknowledged INCR is there once, and nothing more than those of unknown outcome.

use crate::harness::{
    Client, Proxy, RedisOptions, RedisServer, Reply, StopAtEnd, alone, redis_servers, request, requests,
    show, tags_by_shard, thorough, wait_until,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub const PATIENCE: &str = "[timeouts]\nconnect_ms = 400\nrequest_ms = 500\nlane_dead_ms = 1500\n\
                        reconnect_min_ms = 20\nreconnect_max_ms = 200\n";

#[derive(Debug, Default)]
pub struct Outcomes {
    acknowledged: i64,
    unknown: i64,
    not_executed: i64,
    highest: i64,
}

impl Outcomes {
    #[track_caller]
    fn count(&mut self, reply: &Reply, shard: usize) {
        let unknown = format!("ERR onetrip: outcome unknown (shard {shard} at ");
        let refused = format!("TRYAGAIN onetrip: shard {shard} is unreachable, not executed");
        match reply {
            Reply::Integer(n) => {
                assert!(*n > self.highest, "INCR went back to {n}: {self:?}");
                self.highest = *n;
                self.acknowledged += 1;
            }
            other if other.is_error(&unknown) => {
                let text = other.text();
                let known = [": connection lost)", ": timed out)"];
                assert!(known.iter().any(|end| text.ends_with(end)), "{text}");
                self.unknown += 1;
            }
            other if other.is_error(&refused) => self.not_executed += 1,
            other => panic!("not in the words of the contract: {other:?}"),
        }
    }

    #[track_caller]
    fn check(&self, counter: i64) {
        let most = self.acknowledged + self.unknown;
        assert!((self.acknowledged..=most).contains(&counter), "the counter is {counter}, but {self:?}");
    }
}

/// INCRs in batches of `batch` until `stop`, on one connection that has to last.
pub fn count_up(proxy: &Proxy, key: &str, shard: usize, batch: usize, stop: &AtomicBool) -> Outcomes {
    let mut client = proxy.client();
    let mut outcomes = Outcomes::default();
    let bytes = request(&["INCR", key]).repeat(batch);
    while !stop.load(Ordering::Relaxed) {
        client.send(&bytes);
        for _ in 0..batch {
            outcomes.count(&client.reply(), shard);
        }
        if outcomes.not_executed > 0 {
            // Refusals come at once; asking again without a pause would only measure the machine.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    outcomes
}

#[test]
fn a_shard_killed_and_restarted_under_load_runs_nothing_twice() {
    let _turn = alone();
    let options = RedisOptions { append_only: true, ..RedisOptions::default() };
    let mut servers: Vec<RedisServer> = (0..3).map(|_| RedisServer::with(&options)).collect();
    let proxy = Proxy::configured(&servers, PATIENCE);
    let tags = tags_by_shard(&proxy, &servers);
    let stop = AtomicBool::new(false);
    let rounds = if thorough() { 20 } else { 4 };
    let counted = std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let clients: Vec<_> = (0..12)
            .map(|n| {
                let (shard, batch) = (n % 3, [1, 7, 60, 300][n / 3]);
                let key = format!("{{{}}}counter{n}", tags[shard]);
                let (proxy, stop) = (&proxy, &stop);
                scope.spawn(move || {
                    let outcomes = count_up(proxy, &key, shard, batch, stop);
                    (shard, key, outcomes)
                })
            })
            .collect();
        for _ in 0..rounds {
            std::thread::sleep(Duration::from_millis(300));
            servers[1].kill();
            std::thread::sleep(Duration::from_millis(250));
            servers[1].restart();
        }
        std::thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        let ended = clients.into_iter().map(|c| c.join().expect("a client"));
        ended.collect::<Vec<_>>()
    });
    let mut lost = 0;
    for (shard, key, outcomes) in counted {
        println!("{key}: {outcomes:?}");
        let counter = servers[shard].client().command(&["GET", &key]).text();
        outcomes.check(counter.parse().expect("a counter"));
        if shard == 1 {
            lost += outcomes.unknown + outcomes.not_executed;
        } else {
            let failed = outcomes.unknown + outcomes.not_executed;
            assert_eq!(failed, 0, "shard {shard} was never touched: {outcomes:?}");
        }
    }
    assert!(lost > 0, "killing a shard under load failed no command");
}

#[test]
fn a_dead_shard_fails_its_own_keys_in_their_places() {
    let _turn = alone();
    let mut servers = redis_servers(3);
    let proxy = Proxy::configured(&servers, PATIENCE);
    let tags = tags_by_shard(&proxy, &servers);
    let mut client = proxy.client();
    for tag in &tags {
        client.expect(&["SET", &format!("{{{tag}}}k"), tag], "+OK\r\n");
    }
    servers[1].kill();
    let refused = "-TRYAGAIN onetrip: shard 1 is unreachable, not executed\r\n";
    // The first ones may have been on their way.
    wait_until("shard 1 is known to be dead", Duration::from_secs(5), || {
        let reply = client.command(&["INCR", &format!("{{{}}}n", tags[1])]);
        reply.is_error("TRYAGAIN onetrip: shard 1 is unreachable")
    });
    let keys: Vec<String> = tags.iter().map(|tag| format!("{{{tag}}}k")).collect();
    let mut lines: Vec<String> = keys.iter().map(|key| format!("GET {key}")).collect();
    lines.push(format!("SET {} new", keys[1]));
    lines.push("ECHO last".to_owned());
    client.send(&requests(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let value = |tag: &str| format!("${}\r\n{tag}\r\n", tag.len());
    let wanted = [value(&tags[0]), refused.to_owned(), value(&tags[2]), refused.to_owned(), value("last")];
    for wanted in wanted {
        let got = client.raw_reply();
        assert_eq!(show(&got), show(wanted.as_bytes()));
    }
    whole_answers_only(&mut client, &keys);
    servers[1].restart();
    wait_until("shard 1 serves again", Duration::from_secs(5), || {
        client.command(&["SET", &keys[1], "back"]).is_simple("OK")
    });
    client.expect(&["GET", &keys[1]], "$4\r\nback\r\n");
}

/// With shard 1 dead, commands over all shards are errors that name it, never shorter answers that look whole.
fn whole_answers_only(client: &mut Client, keys: &[String]) {
    let many = |name: &'static str| {
        let mut args = vec![name];
        args.extend(keys.iter().map(String::as_str));
        args
    };
    let fan_outs =
        [many("MGET"), many("DEL"), many("EXISTS"), vec!["DBSIZE"], vec!["KEYS", "*"], vec!["FLUSHALL"]];
    for args in fan_outs {
        let reply = client.command(&args);
        let Reply::Error(text) = &reply else { panic!("{args:?} drew {reply:?} with a shard dead") };
        let text = String::from_utf8_lossy(text);
        assert!(text.contains("shard 1"), "{args:?} doesn't name the shard: {text}");
    }
}

#[test]
fn reads_outlast_a_restart() {
    let _turn = alone();
    let mut servers = redis_servers(2);
    let proxy = Proxy::configured(&servers, "[timeouts]\nconnect_ms = 8000\nrequest_ms = 8000\n");
    let tags = tags_by_shard(&proxy, &servers);
    let key = format!("{{{}}}k", tags[0]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let reader = scope.spawn(|| {
            let mut client = proxy.client();
            let mut read = 0;
            while !stop.load(Ordering::Relaxed) {
                // The key is gone with the first server; that it was asked for again is what counts.
                let reply = client.command(&["GET", &key]);
                assert_eq!(reply, Reply::Null, "a read was failed by a restart");
                read += 1;
            }
            read
        });
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(200));
            servers[0].restart();
        }
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        assert!(reader.join().expect("the reader") > 100);
    });
}

#[test]
fn a_stopped_shard_times_out_and_its_late_replies_reach_nobody() {
    let _turn = alone();
    let servers = redis_servers(3);
    let proxy = Proxy::configured(&servers, "[timeouts]\nrequest_ms = 400\nlane_dead_ms = 20000\n");
    let tags = tags_by_shard(&proxy, &servers);
    let key = |shard: usize, name: &str| format!("{{{}}}{name}", tags[shard]);
    let mut client = proxy.client();
    for n in 0..100 {
        client.expect(&["SET", &key(1, &n.to_string()), &format!("v{n}")], "+OK\r\n");
    }
    servers[1].freeze();
    let began = Instant::now();
    client.send(&requests(&[
        &format!("SET {} 1", key(0, "a")),
        &format!("INCR {}", key(1, "count")),
        &format!("SET {} 2", key(2, "a")),
        &format!("GET {}", key(0, "a")),
    ]));
    assert!(client.reply().is_simple("OK"));
    let late = client.reply();
    assert!(late.is_error("ERR onetrip: outcome unknown (shard 1 at "), "{late:?}");
    assert!(late.text().ends_with(": timed out)"), "{late:?}");
    let waited = began.elapsed();
    assert!(
        (Duration::from_millis(350)..Duration::from_millis(2_000)).contains(&waited),
        "timed out after {waited:?} instead of 400 ms"
    );
    assert!(client.reply().is_simple("OK"));
    assert_eq!(client.reply(), Reply::Bulk(b"1".to_vec()));
    servers[1].thaw();
    wait_until("shard 1 serves again", Duration::from_secs(5), || {
        client.command(&["GET", &key(1, "0")]) == Reply::Bulk(b"v0".to_vec())
    });
    // The late reply of INCR came on the same lane, and must not have been taken for one of these.
    for n in 0..100 {
        let value = format!("v{n}");
        let wanted = format!("${}\r\n{value}\r\n", value.len());
        client.expect(&["GET", &key(1, &n.to_string())], &wanted);
    }
    client.expect(&["GET", &key(1, "count")], "$1\r\n1\r\n");
}

#[test]
fn a_shard_stopped_for_long_is_given_up_and_found_again() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::configured(&servers, PATIENCE);
    let tags = tags_by_shard(&proxy, &servers);
    let key = format!("{{{}}}counter", tags[0]);
    let mut outcomes = Outcomes::default();
    let mut client = proxy.client();
    for _ in 0..10 {
        outcomes.count(&client.command(&["INCR", &key]), 0);
    }
    servers[0].freeze();
    let frozen = Instant::now();
    while frozen.elapsed() < Duration::from_secs(4) {
        let began = Instant::now();
        outcomes.count(&client.command(&["INCR", &key]), 0);
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(2), "an answer took {waited:?}");
    }
    servers[0].thaw();
    wait_until("shard 0 serves again", Duration::from_secs(5), || {
        let reply = client.command(&["INCR", &key]);
        outcomes.count(&reply, 0);
        matches!(reply, Reply::Integer(_))
    });
    println!("{outcomes:?}");
    let counter = servers[0].client().command(&["GET", &key]).text();
    outcomes.check(counter.parse().expect("a counter"));
    client.expect(&["PING"], "+PONG\r\n");
}
