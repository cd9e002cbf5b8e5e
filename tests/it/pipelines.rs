//! Order and ownership of replies under pipelines: many clients at once, clients that go away in the middle, and more
//! commands than any buffer holds.
//!
//! Every reply says whose it is and which request it answers, so that a single one in the wrong place, or in the
//! wrong hands, is seen.

use crate::harness::{
    Client, Proxy, Seed, alone, beside_others, redis_servers, request, requests, show, thorough,
};
use fastrand::Rng;
use std::time::{Duration, Instant};

/// Keys that hold their own names, spread over all shards: whoever reads one knows what must come.
fn fill(proxy: &Proxy, clients: usize) {
    let mut client = proxy.client();
    for owner in 0..clients {
        let mut args = vec!["MSET".to_owned()];
        for n in 0..50 {
            args.extend([format!("own:{owner}:{n}"), format!("value of {owner}:{n}")]);
        }
        assert!(client.command(&args).is_simple("OK"));
    }
}

/// A request of client `owner`, and the reply that it must draw.
fn tagged(rng: &mut Rng, owner: usize, serial: usize) -> (Vec<u8>, Vec<u8>) {
    let key = |n: u8| format!("own:{owner}:{n}");
    let bulk = |n: u8| {
        let value = format!("value of {owner}:{n}");
        format!("${}\r\n{value}\r\n", value.len())
    };
    let n = rng.u8(..50);
    let (args, reply) = match rng.u8(..10) {
        0..5 => (vec!["GET".to_owned(), key(n)], bulk(n)),
        5..7 => {
            let many: Vec<u8> = (0..rng.u8(2..20)).map(|_| rng.u8(..50)).collect();
            let mut args = vec!["MGET".to_owned()];
            args.extend(many.iter().map(|&n| key(n)));
            let values: String = many.iter().map(|&n| bulk(n)).collect();
            (args, format!("*{}\r\n{values}", many.len()))
        }
        7 => {
            let tag = format!("echo {owner}:{serial}");
            (vec!["ECHO".to_owned(), tag.clone()], format!("${}\r\n{tag}\r\n", tag.len()))
        }
        8 => (vec!["STRLEN".to_owned(), key(n)], format!(":{}\r\n", bulk(n).len() - 7)),
        _ => (
            vec!["LLEN".to_owned(), key(n)],
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n".to_owned(),
        ),
    };
    (request(&args), reply.into_bytes())
}

/// Sends `count` tagged commands in batches; at random leaves in the middle of one and comes back anew.
fn come_and_go(proxy: &Proxy, mut rng: Rng, owner: usize, count: usize) -> usize {
    let (mut client, mut serial, mut left) = (proxy.client(), 0, 0);
    while serial < count {
        let batch: Vec<_> = (0..rng.usize(1..200)).map(|n| tagged(&mut rng, owner, serial + n)).collect();
        serial += batch.len();
        let bytes: Vec<u8> = batch.iter().flat_map(|(sent, _)| sent.clone()).collect();
        let leaves = rng.u8(..4) == 0;
        let cut = if leaves { rng.usize(..=bytes.len()) } else { bytes.len() };
        client.send(&bytes[..cut]);
        // What was sent whole is answered, and may be read before leaving.
        let mut end = 0;
        let whole = batch.iter().take_while(|(sent, _)| {
            end += sent.len();
            end <= cut
        });
        let whole = whole.count();
        let read = if leaves { rng.usize(..=whole) } else { whole };
        for (sent, wanted) in &batch[..read] {
            let got = client.raw_reply();
            assert!(got == *wanted, "client {owner}: {} drew {}", show(sent), show(&got));
        }
        if leaves {
            client = proxy.client();
            left += 1;
        }
    }
    left
}

#[test]
fn fifty_clients_that_come_and_go_get_their_own_replies_in_order() {
    let _turn = beside_others();
    let seed = Seed::new("fifty clients");
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let count = if thorough() { 50_000 } else { 2_000 };
    fill(&proxy, 50);
    let left: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..50)
            .map(|owner| {
                let (proxy, rng) = (&proxy, seed.rng(owner as u64));
                scope.spawn(move || come_and_go(proxy, rng, owner, count))
            })
            .collect();
        clients.into_iter().map(|c| c.join().expect("a client")).sum()
    });
    assert!(left > 50, "only {left} clients left in the middle");
}

#[test]
fn fifty_clients_that_come_and_go_over_embedded_shards() {
    let _turn = beside_others();
    let seed = Seed::new("fifty clients, embedded");
    let proxy = Proxy::embedded(3);
    fill(&proxy, 50);
    // LLEN is not for embedded shards: their error is another, so the tags without it.
    std::thread::scope(|scope| {
        for owner in 0..50 {
            let (proxy, mut rng) = (&proxy, seed.rng(owner as u64));
            scope.spawn(move || {
                let mut client = proxy.client();
                for serial in 0..2_000 {
                    let (sent, wanted) = tagged(&mut rng, owner, serial);
                    if wanted.starts_with(b"-") {
                        continue;
                    }
                    client.send(&sent);
                    let got = client.raw_reply();
                    assert!(got == wanted, "client {owner}: {}", show(&got));
                }
            });
        }
    });
}

/// Writes a million commands before it reads one reply; each reply says which command it answers.
fn a_million_first(proxy: &Proxy) {
    let count = 1_000_000;
    let mut client = proxy.client();
    let mut bytes = Vec::new();
    for n in 0..count {
        match n % 4 {
            0 => bytes.extend_from_slice(b"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"),
            1 => bytes.extend_from_slice(b"*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n"),
            2 => bytes.extend_from_slice(b"*1\r\n$4\r\nPING\r\n"),
            _ => bytes.extend_from_slice(b"*2\r\n$4\r\nINCR\r\n$1\r\nc\r\n"),
        }
    }
    let began = Instant::now();
    client.set_timeout(Duration::from_secs(60));
    client.send(&bytes);
    let sent = began.elapsed();
    for n in 0..count {
        let wanted = match n % 4 {
            2 => "+PONG\r\n".to_owned(),
            _ => format!(":{}\r\n", n / 4 + 1),
        };
        let got = client.raw_reply();
        assert!(got == wanted.as_bytes(), "command {n} drew {}", show(&got));
    }
    println!("written in {sent:?}, all read in {:?}", began.elapsed());
    client.expect(&["PING"], "+PONG\r\n");
}

#[test]
fn a_million_commands_before_the_first_read_over_real_servers() {
    let _turn = alone();
    let servers = redis_servers(3);
    a_million_first(&Proxy::over(&servers));
}

#[test]
fn a_million_commands_before_the_first_read_over_embedded_shards() {
    let _turn = alone();
    a_million_first(&Proxy::embedded(3));
}

#[test]
fn commands_of_one_client_to_one_key_run_in_the_order_sent() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    let mut bytes = Vec::new();
    for n in 0..10_000 {
        for key in ["x", "y", "z"] {
            bytes.extend(request(&["RPUSH", key, &n.to_string()]));
        }
    }
    let mut writer = client.writer();
    std::thread::scope(|scope| {
        scope.spawn(|| writer.send(&bytes));
        for n in 0..10_000 {
            for _ in 0..3 {
                assert_eq!(client.reply().integer(), n + 1);
            }
        }
    });
    for key in ["x", "y", "z"] {
        let reply = client.command(&["LRANGE", key, "0", "-1"]);
        let order: Vec<String> = reply.items().iter().map(|item| item.text()).collect();
        let wanted: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
        assert!(order == wanted, "{key} is out of order");
    }
}

/// What onetrip answers itself has its turn behind the shards' replies, also as the last of what was written.
#[test]
fn local_commands_are_answered_behind_what_is_in_flight() {
    let _turn = beside_others();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let local: [(&[&str], &str); 8] = [
        (&["PING"], "+PONG\r\n"),
        (&["ECHO", "a"], "$1\r\na\r\n"),
        (&["SELECT", "0"], "+OK\r\n"),
        (&["SELECT", "x"], "-ERR value is not an integer or out of range\r\n"),
        (&["HELLO", "9"], "-NOPROTO unsupported protocol version\r\n"),
        (&["CLIENT", "SETNAME", "me"], "+OK\r\n"),
        (&["NOSUCH"], "-ERR unknown command 'NOSUCH', with args beginning with: \r\n"),
        (&["RESET"], "+RESET\r\n"),
    ];
    for (args, wanted) in local {
        for before in ["GET nothing", "MGET a b c d", "DBSIZE", "SCAN 0"] {
            let mut client = proxy.client();
            client.set_timeout(Duration::from_secs(3));
            client.send(&[requests(&[before]), request(args)].concat());
            client.raw_reply();
            let got = client.raw_reply();
            assert_eq!(show(&got), show(wanted.as_bytes()), "{args:?} behind {before}");
        }
    }
}

/// A client that says it has written all, and still reads: it gets every reply, then the end.
#[test]
fn replies_follow_a_client_that_has_ended_writing() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let mut client: Client = proxy.client();
    let mut bytes = Vec::new();
    for n in 0..1_000 {
        bytes.extend(request(&["SET", &format!("k{n}"), "v"]));
    }
    client.send(&bytes);
    client.end_writing();
    let got = client.until_closed(Duration::from_secs(10));
    assert!(got == b"+OK\r\n".repeat(1_000), "{}", show(&got));
}
