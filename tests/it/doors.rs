//! The doors on both sides: passwords, unix sockets, several listeners, workers.
//!
//! A client's password opens onetrip and nothing behind it; a shard's password is onetrip's own affair, and is given
//! again after every reconnect.

use crate::harness::{
    Client, Proxy, ProxyOptions, RedisOptions, RedisServer, Reply, addresses, beside_others, redis_servers,
    show, wait_until,
};
use std::time::Duration;

#[test]
fn a_client_gives_its_password_in_every_way_there_is() {
    let _turn = beside_others();
    let proxy = Proxy::with(ProxyOptions { shards: 2, password: Some("secret"), ..ProxyOptions::default() });
    let ways: [&[&str]; 4] = [
        &["AUTH", "secret"],
        &["AUTH", "default", "secret"],
        &["HELLO", "2", "AUTH", "default", "secret"],
        &["HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"],
    ];
    for way in ways {
        let mut client = proxy.client();
        client.expect(&["SET", "k", "v"], "-NOAUTH Authentication required.\r\n");
        let reply = client.command(way);
        assert!(!matches!(reply, Reply::Error(_)), "{way:?} drew {reply:?}");
        client.expect(&["SET", "k", "v"], "+OK\r\n");
        client.expect(&["GET", "k"], "$1\r\nv\r\n");
    }
}

#[test]
fn a_wrong_password_does_not_undo_a_right_one() {
    let _turn = beside_others();
    let proxy = Proxy::with(ProxyOptions { shards: 2, password: Some("secret"), ..ProxyOptions::default() });
    let mut client = proxy.client();
    client.expect(&["AUTH", "secret"], "+OK\r\n");
    assert!(client.command(&["AUTH", "wrong"]).is_error("WRONGPASS"));
    client.expect(&["PING"], "+PONG\r\n");
    // RESET does: the connection is as new.
    client.expect(&["RESET"], "+RESET\r\n");
    client.expect(&["GET", "k"], "-NOAUTH Authentication required.\r\n");
}

#[test]
fn shards_with_a_password_are_logged_in_to_again_after_a_restart() {
    let _turn = beside_others();
    let options = RedisOptions { password: Some("inner"), ..RedisOptions::default() };
    let mut servers: Vec<RedisServer> = (0..2).map(|_| RedisServer::with(&options)).collect();
    let proxy = Proxy::configured(&servers, "[shards]\npassword = \"inner\"\n");
    for version in [2, 3] {
        let mut client = proxy.client_speaking(version);
        client.expect(&["MSET", "a", "1", "b", "2", "c", "3"], "+OK\r\n");
        client.expect(&["MGET", "a", "b", "c"], "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    }
    servers[0].restart();
    servers[1].restart();
    let mut client = proxy.client();
    wait_until("both shards serve again", Duration::from_secs(5), || {
        client.command(&["MSET", "a", "1", "b", "2", "c", "3"]).is_simple("OK")
    });
}

#[test]
fn a_wrong_shard_password_is_told_and_executes_nothing() {
    let _turn = beside_others();
    let options = RedisOptions { password: Some("inner"), ..RedisOptions::default() };
    let servers = [RedisServer::with(&options)];
    let config = "[shards]\npassword = \"wrong\"\n[timeouts]\nconnect_ms = 300\n".to_owned();
    let backends = addresses(&servers);
    let proxy = Proxy::unready(ProxyOptions { backends, config, ..ProxyOptions::default() });
    assert_eq!(proxy.get("/readyz").status, 503, "ready without a shard that answers");
    let mut client = proxy.client();
    let reply = client.command(&["GET", "k"]);
    assert!(reply.is_error("TRYAGAIN onetrip: shard 0 is unreachable, not executed"), "{reply:?}");
    wait_until("the log names the reason", Duration::from_secs(5), || proxy.output().contains("WRONGPASS"));
    assert!(!proxy.output().contains("wrong\""), "the log shows the password");
}

#[test]
fn unix_sockets_on_both_sides() {
    let _turn = beside_others();
    let options = RedisOptions { unix: true, ..RedisOptions::default() };
    let servers: Vec<RedisServer> = (0..2).map(|_| RedisServer::with(&options)).collect();
    let proxy = Proxy::with(ProxyOptions { backends: addresses(&servers), unix: true, ..Default::default() });
    let mut over_unix = Client::connect(proxy.unix());
    let mut over_tcp = proxy.client();
    for n in 0..50 {
        let (key, value) = (format!("k{n}"), format!("v{n}"));
        over_unix.expect(&["SET", &key, &value], "+OK\r\n");
        over_tcp.expect(&["GET", &key], &format!("${}\r\n{value}\r\n", value.len()));
    }
    over_unix.expect(&["DBSIZE"], ":50\r\n");
}

#[test]
fn a_socket_file_left_behind_is_replaced_and_a_live_one_is_not() {
    let _turn = beside_others();
    let options = ProxyOptions { shards: 2, unix: true, ..ProxyOptions::default() };
    let mut proxy = Proxy::with(options);
    proxy.kill();
    assert!(Client::try_connect(proxy.unix()).is_err(), "nobody serves the socket");
    let unix = proxy.unix().flag();
    let again =
        Proxy::with(ProxyOptions { shards: 2, listen: vec![unix.clone()], ..ProxyOptions::default() });
    Client::connect(proxy.unix()).expect(&["PING"], "+PONG\r\n");
    let (code, said) = crate::harness::onetrip(&["--listen", &unix, "--admin", "none"]);
    assert_ne!(code, 0, "it took the socket of another: {said}");
    Client::connect(proxy.unix()).expect(&["PING"], "+PONG\r\n");
    drop(again);
}

#[test]
fn several_workers_serve_one_set_of_data() {
    let _turn = beside_others();
    let servers = redis_servers(2);
    let standalone = ProxyOptions { backends: addresses(&servers), workers: 3, ..Default::default() };
    let embedded = ProxyOptions { shards: 3, workers: 3, ..ProxyOptions::default() };
    for options in [standalone, embedded] {
        let proxy = Proxy::with(options);
        let mut clients: Vec<Client> = (0..9).map(|_| proxy.client()).collect();
        for (n, client) in clients.iter_mut().enumerate() {
            client.expect(&["INCR", "shared"], &format!(":{}\r\n", n + 1));
        }
        let mut ids: Vec<i64> = clients.iter_mut().map(|c| c.command(&["CLIENT", "ID"]).integer()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 9, "an id was given twice");
        let list = clients[0].command(&["CLIENT", "LIST"]).text();
        for id in ids {
            assert!(list.contains(&format!("id={id} ")), "CLIENT LIST misses {id}:\n{list}");
        }
    }
}

#[test]
fn a_killed_client_is_closed_and_no_other() {
    let _turn = beside_others();
    let proxy = Proxy::with(ProxyOptions { shards: 2, workers: 2, ..ProxyOptions::default() });
    let (mut killer, mut victim, mut other) = (proxy.client(), proxy.client(), proxy.client());
    let id = victim.command(&["CLIENT", "ID"]).integer().to_string();
    other.expect(&["PING"], "+PONG\r\n");
    killer.expect(&["CLIENT", "KILL", "ID", &id], ":1\r\n");
    assert_eq!(show(&victim.until_closed(Duration::from_secs(5))), show(b""));
    other.expect(&["PING"], "+PONG\r\n");
    killer.expect(&["CLIENT", "KILL", "ID", &id], ":0\r\n");
}

#[test]
fn an_idle_client_is_closed_where_that_is_asked_for() {
    let _turn = beside_others();
    let config = "[proxy]\nidle_timeout_s = 1\n".to_owned();
    let proxy = Proxy::with(ProxyOptions { shards: 2, config, ..ProxyOptions::default() });
    let (mut idle, mut busy) = (proxy.client(), proxy.client());
    idle.expect(&["PING"], "+PONG\r\n");
    for _ in 0..40 {
        busy.expect(&["PING"], "+PONG\r\n");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(show(&idle.until_closed(Duration::from_secs(3))), show(b""));
    busy.expect(&["PING"], "+PONG\r\n");
}

#[test]
fn who_never_gives_the_password_is_closed() {
    let _turn = beside_others();
    let config = "[timeouts]\nhandshake_ms = 400\n".to_owned();
    let options = ProxyOptions { shards: 2, config, password: Some("secret"), ..ProxyOptions::default() };
    let proxy = Proxy::with(options);
    let (mut stranger, mut dripping, mut known) = (proxy.client(), proxy.client(), proxy.client());
    known.expect(&["AUTH", "secret"], "+OK\r\n");
    for byte in b"*2\r\n$4\r\nAUTH\r\n$30\r\nxxxxxxx" {
        if dripping.try_send(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    stranger.until_closed(Duration::from_secs(3));
    dripping.until_closed(Duration::from_secs(3));
    known.expect(&["PING"], "+PONG\r\n");
}
