//! What is counted: /metrics against numbers that the test knows, and the health pages.
//!
//! A client trip begins with the first request read after a reply was written and ends with that reply; a shard trip
//! is one flush of a lane that carries commands. Both sides are checked for a client that waits for each reply, and
//! for one that pipelines; the sums are compared with the servers' own counts of commands.

use crate::harness::{
    Metrics, Proxy, Reply, addresses, beside_others, redis_servers, request, requests, tags_by_shard,
    wait_until,
};
use std::time::Duration;

/// How much samples have grown.
struct Growth {
    before: Metrics,
    after: Metrics,
}

/// The counts by now. A turn's counts are complete a moment after its replies were written.
fn settled(proxy: &Proxy) -> Metrics {
    std::thread::sleep(Duration::from_millis(50));
    proxy.metrics()
}

impl Growth {
    fn since(before: Metrics, proxy: &Proxy) -> Growth {
        Growth { before, after: settled(proxy) }
    }

    fn of(&self, family: &str, labels: &[(&str, &str)]) -> f64 {
        self.after.sum(family, labels) - self.before.sum(family, labels)
    }

    #[track_caller]
    fn expect(&self, family: &str, labels: &[(&str, &str)], wanted: f64) {
        assert_eq!(self.of(family, labels), wanted, "{family} {labels:?}");
    }
}

#[test]
fn a_client_that_waits_for_each_reply_saves_no_trip() {
    let _turn = beside_others();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    client.expect(&["PING"], "+PONG\r\n");
    let before = settled(&proxy);
    for n in 0..40 {
        client.expect(&["SET", &format!("k{n}"), "v"], "+OK\r\n");
    }
    let grown = Growth::since(before, &proxy);
    for side in ["client", "shard"] {
        grown.expect("onetrip_round_trips_total", &[("side", side)], 40.0);
        grown.expect("onetrip_round_trips_saved_total", &[("side", side)], 0.0);
    }
    grown.expect("onetrip_commands_total", &[("command", "set"), ("result", "ok")], 40.0);
    grown.expect("onetrip_shard_commands_total", &[], 40.0);
    for (n, server) in servers.iter().enumerate() {
        let wanted = server.calls("set") as f64;
        grown.expect("onetrip_shard_commands_total", &[("shard", &n.to_string())], wanted);
    }
    grown.expect("onetrip_pipeline_depth_count", &[], 40.0);
    grown.expect("onetrip_pipeline_depth_sum", &[], 40.0);
}

#[test]
fn a_pipeline_is_one_trip_of_the_client_and_one_of_each_shard() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let tags = tags_by_shard(&proxy, &servers);
    let mut client = proxy.client();
    client.expect(&["PING"], "+PONG\r\n");
    let before = settled(&proxy);
    let mut bytes = Vec::new();
    for n in 0..30 {
        bytes.extend(request(&["SET", &format!("{{{}}}k", tags[n % 3]), "v"]));
    }
    client.send(&bytes);
    client.raw_replies(30);
    let grown = Growth::since(before, &proxy);
    grown.expect("onetrip_round_trips_total", &[("side", "client")], 1.0);
    grown.expect("onetrip_round_trips_saved_total", &[("side", "client")], 29.0);
    grown.expect("onetrip_round_trips_total", &[("side", "shard")], 3.0);
    grown.expect("onetrip_round_trips_saved_total", &[("side", "shard")], 27.0);
    for shard in ["0", "1", "2"] {
        grown.expect("onetrip_shard_commands_total", &[("shard", shard)], 10.0);
        grown.expect("onetrip_shard_batch_commands_sum", &[("shard", shard)], 10.0);
        grown.expect("onetrip_shard_batch_commands_count", &[("shard", shard)], 1.0);
        let replies = 10.0 * b"+OK\r\n".len() as f64;
        let received = [("shard", shard), ("direction", "received")];
        grown.expect("onetrip_shard_bytes_total", &received, replies);
    }
    grown.expect("onetrip_shard_bytes_total", &[("direction", "sent")], bytes.len() as f64);
}

#[test]
fn errors_local_and_split_commands_are_counted_as_what_they_are() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let tags = tags_by_shard(&proxy, &servers);
    let mut client = proxy.client();
    client.expect(&["SET", "text", "abc"], "+OK\r\n");
    let before = settled(&proxy);
    assert!(client.command(&["INCR", "text"]).is_error("ERR value is not an integer"));
    assert!(client.command(&["GET"]).is_error("ERR wrong number"));
    client.expect(&["ECHO", "a"], "$1\r\na\r\n");
    let keys: Vec<String> = tags.iter().map(|tag| format!("{{{tag}}}k")).collect();
    let reply = client.command(&["MGET", &keys[0], &keys[1], &keys[2]]);
    assert_eq!(reply.items(), [Reply::Null, Reply::Null, Reply::Null]);
    let grown = Growth::since(before, &proxy);
    let command = |name, result| [("command", name), ("result", result)];
    grown.expect("onetrip_commands_total", &command("incr", "error"), 1.0);
    grown.expect("onetrip_commands_total", &command("incr", "ok"), 0.0);
    grown.expect("onetrip_commands_total", &command("get", "error"), 1.0);
    grown.expect("onetrip_commands_total", &command("echo", "ok"), 1.0);
    grown.expect("onetrip_commands_total", &command("mget", "ok"), 1.0);
    // One command of the client, three on the shards, and INCR.
    grown.expect("onetrip_shard_commands_total", &[], 4.0);
}

#[test]
fn connections_are_counted_in_and_out() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let before = settled(&proxy);
    let mut clients: Vec<_> = (0..7).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.expect(&["PING"], "+PONG\r\n");
    }
    let grown = Growth::since(before, &proxy);
    grown.expect("onetrip_client_connections_total", &[], 7.0);
    assert!(grown.after.sum("onetrip_client_connections", &[]) >= 7.0);
    drop(clients);
    wait_until("all have left", Duration::from_secs(5), || {
        proxy.metrics().sum("onetrip_client_connections", &[]) == 0.0
    });
}

#[test]
fn embedded_shards_count_hand_overs_and_keys() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let mut client = proxy.client();
    client.expect(&["PING"], "+PONG\r\n");
    let before = settled(&proxy);
    let lines: Vec<String> = (0..50).map(|n| format!("SET k{n} v")).collect();
    client.send(&requests(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    client.raw_replies(50);
    let grown = Growth::since(before, &proxy);
    grown.expect("onetrip_round_trips_total", &[("side", "client")], 1.0);
    grown.expect("onetrip_round_trips_total", &[("side", "shard")], 2.0);
    grown.expect("onetrip_shard_commands_total", &[], 50.0);
    wait_until("the gauges know the keys", Duration::from_secs(5), || {
        proxy.metrics().sum("onetrip_shard_keys", &[]) == 50.0
    });
}

#[test]
fn bad_input_and_lost_shards_are_counted() {
    let _turn = beside_others();
    let mut servers = redis_servers(2);
    let proxy = Proxy::configured(&servers, "[timeouts]\nconnect_ms = 200\nreconnect_max_ms = 100\n");
    let tags = tags_by_shard(&proxy, &servers);
    let mut client = proxy.client();
    let before = settled(&proxy);
    let mut broken = proxy.client();
    broken.send(b"*abc\r\n");
    broken.until_closed(Duration::from_secs(5));
    servers[1].kill();
    let key = format!("{{{}}}k", tags[1]);
    wait_until("shard 1 is known to be dead", Duration::from_secs(5), || {
        client.command(&["INCR", &key]).is_error("TRYAGAIN")
    });
    let grown = Growth::since(before, &proxy);
    grown.expect("onetrip_protocol_errors_total", &[("side", "client")], 1.0);
    assert!(grown.of("onetrip_backend_errors_total", &[("shard", "1")]) >= 1.0);
    grown.expect("onetrip_backend_errors_total", &[("shard", "0")], 0.0);
    let now = |labels: &[(&str, &str)]| proxy.metrics().sum("onetrip_shard_up", labels);
    assert_eq!((now(&[("shard", "0")]), now(&[("shard", "1")])), (1.0, 0.0));
    servers[1].restart();
    wait_until("shard 1 is up", Duration::from_secs(5), || {
        client.command(&["INCR", &key]);
        now(&[("shard", "1")]) == 1.0
    });
    assert!(proxy.metrics().sum("onetrip_shard_reconnects_total", &[("shard", "1")]) >= 1.0);
}

#[test]
fn the_families_of_this_version_are_there() {
    let _turn = beside_others();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    proxy.client().expect(&["SET", "k", "v"], "+OK\r\n");
    let metrics = proxy.metrics();
    let families = [
        "onetrip_build_info",
        "onetrip_client_connections",
        "onetrip_client_connections_total",
        "onetrip_commands_total",
        "onetrip_command_duration_seconds_bucket",
        "onetrip_pipeline_depth_bucket",
        "onetrip_shard_batch_commands_bucket",
        "onetrip_round_trips_total",
        "onetrip_round_trips_saved_total",
        "onetrip_shard_commands_total",
        "onetrip_shard_bytes_total",
        "onetrip_shard_in_flight",
        "onetrip_shard_request_duration_seconds_bucket",
        "onetrip_shard_up",
        "onetrip_buffer_bytes",
        "process_cpu_seconds_total",
    ];
    for family in families {
        assert!(metrics.has(family), "no {family}");
    }
    // No label carries an address.
    let text = proxy.get("/metrics").body;
    for address in addresses(&servers) {
        assert!(!text.contains(&address), "{address} is in /metrics");
    }
}

#[test]
fn pages_for_people_and_probes() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    assert_eq!(proxy.get("/livez").status, 200);
    assert_eq!(proxy.get("/readyz").status, 200);
    let page = proxy.get("/");
    assert!(page.status == 200 && page.body.contains("<html"), "{}", page.body);
    assert!(!page.body.contains("https://"), "the page needs a network");
    assert_eq!(proxy.get("/nothing").status, 404);
}
