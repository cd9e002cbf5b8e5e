//! Sizes and memory: large values, many keys, many connections, and clients that don't read what they asked for.
//!
//! Memory is the resident size of the whole process as the kernel counts it, its highest value included, so a bound
//! that is broken for a moment is seen. Bounds are what the configuration promises, plus the slack named beside them.

use crate::harness::{
    Client, Proxy, ProxyOptions, Reply, alone, beside_others, redis_servers, request, show, thorough,
    wait_until,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// Writes for as long as the other side takes it, at most for `limit`; returns whether all was written.
fn write_without_reading(client: &mut Client, bytes: &[u8], limit: Duration) -> bool {
    let mut writer = client.writer();
    writer.set_timeout(Duration::from_millis(300));
    let began = Instant::now();
    let mut left = bytes;
    while !left.is_empty() && began.elapsed() < limit {
        match writer.try_write(left) {
            Ok(written) => left = &left[written..],
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
    left.is_empty()
}

#[test]
fn a_client_that_never_reads_costs_a_bounded_amount() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    let value = "v".repeat(10_000);
    client.expect(&["SET", "big", &value], "+OK\r\n");
    client.expect(&["GET", "big"], &format!("$10000\r\n{value}\r\n"));
    let before = proxy.memory().now;
    proxy.forget_peak();
    let count = 100_000;
    let bytes = request(&["GET", "big"]).repeat(count);
    let mut writer = client.writer();
    let writing = std::thread::spawn(move || {
        writer.set_timeout(Duration::from_secs(120));
        writer.try_send(&bytes)
    });
    std::thread::sleep(Duration::from_secs(3));
    let grown = proxy.memory().peak.saturating_sub(before);
    println!("grown by {} KiB", grown / 1024);
    assert!(grown <= 24 * MIB, "grown by {grown} bytes");
    // It was made to wait, not robbed: when it reads after all, every reply is there.
    let wanted = format!("$10000\r\n{value}\r\n");
    for n in 0..count {
        let got = client.raw_reply();
        assert!(got == wanted.as_bytes(), "reply {n} is {}", show(&got));
    }
    writing.join().expect("the writer").expect("all was taken");
    let grown = proxy.memory().peak.saturating_sub(before);
    assert!(grown <= 32 * MIB, "grown by {grown} bytes while it read");
}

/// The window is sized for 10 B replies when 4,096 of 1 MB come: over the hard limit the client goes, counted.
#[test]
fn a_key_that_grows_behind_queued_reads_stays_within_the_hard_limit() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    client.expect(&["SET", "grows", "0123456789"], "+OK\r\n");
    let many = request(&["GET", "grows"]).repeat(4_096);
    client.send(&many);
    for _ in 0..4_096 {
        assert_eq!(client.raw_reply(), b"$10\r\n0123456789\r\n");
    }
    let mut other = proxy.client();
    assert!(other.command(&[&b"SET"[..], b"grows", &vec![b'x'; 1 << 20]]).is_simple("OK"));
    let before = proxy.memory().now;
    proxy.forget_peak();
    client.send(&many);
    let began = Instant::now();
    wait_until("the replies were consumed", Duration::from_secs(30), || {
        std::thread::sleep(Duration::from_millis(50));
        let answered = servers.iter().all(|s| s.info("blocked_clients").is_some());
        let queued: u64 = servers.iter().map(output_queued).sum();
        answered && queued == 0
    });
    println!("consumed in {:?}", began.elapsed());
    let grown = proxy.memory().peak.saturating_sub(before);
    println!("grown by {} KiB", grown / 1024);
    // 64 MiB of output, and what lanes and sockets hold meanwhile.
    assert!(grown <= 96 * MIB, "grown by {grown} bytes");
    assert_eq!(other.command(&["STRLEN", "grows"]).integer(), 1 << 20);
}

/// Bytes of replies that a server holds for its clients.
fn output_queued(server: &crate::harness::RedisServer) -> u64 {
    let text = server.client().command(&["CLIENT", "LIST"]).text();
    let fields = text.split_whitespace().filter_map(|field| field.strip_prefix("omem="));
    fields.filter_map(|n| n.parse::<u64>().ok()).sum()
}

#[test]
fn values_of_64_mib_pass_both_ways() {
    let _turn = alone();
    let servers = redis_servers(2);
    for proxy in [Proxy::over(&servers), Proxy::embedded(2)] {
        let mut client = proxy.client();
        let mut value = vec![0_u8; 64 << 20];
        fastrand::Rng::with_seed(1).fill(&mut value);
        assert!(client.command(&[&b"SET"[..], b"huge", &value]).is_simple("OK"));
        let mut bytes = request(&["ECHO", "before"]);
        bytes.extend(request(&["GET", "huge"]));
        bytes.extend(request(&["ECHO", "after"]));
        client.send(&bytes);
        assert_eq!(client.raw_reply(), b"$6\r\nbefore\r\n");
        assert!(client.reply() == Reply::Bulk(value), "the value came back changed");
        assert_eq!(client.raw_reply(), b"$5\r\nafter\r\n");
        client.expect(&["DEL", "huge"], ":1\r\n");
    }
}

/// A reply larger than the output bound is streamed: it isn't gathered before it is sent on.
#[test]
fn a_large_reply_is_streamed_to_a_slow_reader() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let value = vec![b's'; 200 << 20];
    let mut straight = [servers[0].client(), servers[1].client()];
    for client in &mut straight {
        assert!(client.command(&[&b"SET"[..], b"huge", &value]).is_simple("OK"));
    }
    let before = proxy.memory().now;
    proxy.forget_peak();
    let mut client = proxy.client();
    client.send(&request(&["GET", "huge"]));
    std::thread::sleep(Duration::from_secs(1));
    let mut other = proxy.client();
    other.expect(&["PING"], "+PONG\r\n");
    assert!(client.reply() == Reply::Bulk(value), "the value came back changed");
    let grown = proxy.memory().peak.saturating_sub(before);
    println!("grown by {} KiB", grown / 1024);
    assert!(grown <= 96 * MIB, "grown by {grown} bytes for one reply");
}

#[test]
fn an_mget_of_ten_thousand_keys() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    for proxy in [Proxy::over(&servers), Proxy::embedded(3)] {
        for version in [2, 3] {
            let mut client = proxy.client_speaking(version);
            let mut set = vec!["MSET".to_owned()];
            let mut get = vec!["MGET".to_owned()];
            let missing = if version == 2 { "$-1\r\n" } else { "_\r\n" };
            let mut wanted = "*10000\r\n".to_owned();
            for n in 0..10_000 {
                let (key, value) = (format!("key:{n}"), format!("value-{n}"));
                get.push(key.clone());
                if n % 7 == 0 {
                    wanted += missing;
                } else {
                    wanted += &format!("${}\r\n{value}\r\n", value.len());
                    set.extend([key, value]);
                }
            }
            assert!(client.command(&set).is_simple("OK"));
            for _ in 0..5 {
                client.send(&request(&get));
                let got = client.raw_reply();
                assert!(got == wanted.as_bytes(), "{}", show(&got));
            }
            get[0] = "DEL".to_owned();
            let set = 10_000 - 1_429;
            assert_eq!(client.command(&get).integer(), set);
        }
    }
}

/// Parts can't be streamed. What they may not be together is told, and the client stays.
#[test]
fn a_gathered_reply_above_the_bound_is_an_error() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    let value = "v".repeat(10_000);
    let keys: Vec<String> = (0..8_000).map(|n| format!("key:{n}")).collect();
    for keys in keys.chunks(1_000) {
        let mut set = vec!["MSET"];
        keys.iter().for_each(|key| set.extend([key, value.as_str()]));
        assert!(client.command(&set).is_simple("OK"));
    }
    let mut get = vec!["MGET"];
    get.extend(keys.iter().map(String::as_str));
    let reply = client.command(&get);
    assert!(reply.is_error("ERR onetrip: no room for the parts of this reply within"), "{reply:?}");
    get.truncate(2_001);
    assert_eq!(client.command(&get).items().len(), 2_000);
}

#[test]
fn ten_thousand_connections_and_not_one_more() {
    let _turn = alone();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("the limit of open files");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).expect("the limit can be raised to its ceiling");
    assert!(hard > 10_300, "only {hard} files may be open (ulimit -Hn)");
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let mut first: Client = proxy.client();
    first.expect(&["PING"], "+PONG\r\n");
    let before = proxy.memory().now;
    let began = Instant::now();
    let mut clients: Vec<Client> = Vec::new();
    while clients.len() < 9_999 {
        clients.push(proxy.client());
        let last = clients.len() - 1;
        clients[last].expect(&["GET", "nothing"], "$-1\r\n");
    }
    let idle = proxy.memory().now.saturating_sub(before) / 9_999;
    println!("{idle} B an idle client");
    assert!(idle <= 1_500, "{idle} B an idle client");
    for client in &mut clients {
        client.send(&request(&["SET", "k", "v"]));
    }
    for client in &mut clients {
        assert!(client.reply().is_simple("OK"));
    }
    println!("connected and served in {:?}", began.elapsed());
    // One more is told so and closed; the others don't notice.
    let mut refused = proxy.client();
    let said = refused.until_closed(Duration::from_secs(5));
    assert_eq!(show(&said), show(b"-ERR max number of clients reached\r\n"));
    // Buffers that a burst needed are given back, as far as the allocator gives memory back.
    let busy = proxy.memory().now.saturating_sub(before) / 9_999;
    println!("{busy} B a client that has been served");
    assert!(busy <= 4_000, "{busy} B a client");
    for client in &mut clients {
        client.send(&request(&["GET", "k"]));
    }
    for client in &mut clients {
        assert_eq!(client.raw_reply(), b"$1\r\nv\r\n");
    }
    drop(clients);
    wait_until("those that left are forgotten", Duration::from_secs(10), || {
        proxy.metrics().sum("onetrip_client_connections", &[]) <= 1.0
    });
    proxy.client().expect(&["PING"], "+PONG\r\n");
}

#[test]
fn a_client_over_the_limit_leaves_room_when_it_goes() {
    let _turn = beside_others();
    let proxy = Proxy::with(ProxyOptions {
        shards: 2,
        config: "[proxy]\nmax_clients = 3\n".to_owned(),
        ..ProxyOptions::default()
    });
    wait_until("the harness's own connection is gone", Duration::from_secs(5), || {
        proxy.metrics().sum("onetrip_client_connections", &[]) == 0.0
    });
    let mut clients: Vec<Client> = (0..3).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.expect(&["PING"], "+PONG\r\n");
    }
    let said = proxy.client().until_closed(Duration::from_secs(5));
    assert_eq!(show(&said), show(b"-ERR max number of clients reached\r\n"));
    drop(clients.pop());
    wait_until("there is room again", Duration::from_secs(5), || {
        let mut client = proxy.client();
        client.try_send(&request(&["PING"])).is_ok()
            && client.try_raw_reply().is_ok_and(|reply| reply == b"+PONG\r\n")
    });
}

/// Before the password a client may hold next to nothing, read or not.
#[test]
fn strangers_cost_next_to_nothing() {
    let _turn = alone();
    let proxy = Proxy::with(ProxyOptions { shards: 2, password: Some("secret"), ..ProxyOptions::default() });
    let before = proxy.memory().now;
    proxy.forget_peak();
    let count = if thorough() { 200 } else { 50 };
    let bytes = request(&["GET", "k"]).repeat(20_000);
    let mut clients: Vec<Client> = (0..count).map(|_| proxy.client()).collect();
    for client in &mut clients {
        write_without_reading(client, &bytes, Duration::from_millis(200));
    }
    let grown = proxy.memory().peak.saturating_sub(before);
    println!("{} B a stranger", grown / count);
    assert!(grown / count <= MIB / 2, "{grown} bytes for {count} strangers");
    Client::connect(proxy.address()).expect(&["AUTH", "secret"], "+OK\r\n");
}
