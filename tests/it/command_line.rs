//! The outside of the program: subcommands, exit codes, configuration, and its end on a signal.
//!
//! Scripts rely on exit codes (0, 64 for a configuration that can't be) and people on being told every fault in one
//! run, each with its key. What is checked here of texts is only what they must contain.

use crate::harness::{
    Proxy, ProxyOptions, RedisOptions, RedisServer, alone, beside_others, free_port, onetrip, redis_servers,
    request, requests, show, wait_until,
};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A file with this text, in a directory that lives as long as what is returned.
fn file(text: &str) -> (TempDir, String) {
    let dir = TempDir::new().expect("a temporary directory");
    let path = dir.path().join("onetrip.toml");
    std::fs::write(&path, text).expect("the file can be written");
    let path = path.display().to_string();
    (dir, path)
}

#[test]
fn the_reference_configuration_is_valid() {
    let _turn = beside_others();
    let (code, text) = onetrip(&["config"]);
    assert_eq!(code, 0, "{text}");
    let (_dir, path) = file(&text);
    let (code, said) = onetrip(&["check", "--config", &path]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn every_fault_is_told_at_once() {
    let _turn = beside_others();
    let (_dir, path) = file(
        "[proxy]\nlisten = \"nowhere\"\nworkers = 0\nmax_clint = 3\n\
         [shards]\nkind = \"standalone\"\naddresses = [\"a:99999\"]\n\
         [timeouts]\nrequest_ms = \"soon\"\n[guard]\ndeny = []\n",
    );
    let (code, said) = onetrip(&["check", "--config", &path]);
    assert_eq!(code, 64, "{said}");
    let keys = [
        "proxy.listen",
        "proxy.workers",
        "proxy.max_clint",
        "shards.addresses",
        "timeouts.request_ms",
        "guard",
    ];
    for key in keys {
        assert!(said.contains(key), "nothing about {key} in:\n{said}");
    }
    assert!(said.contains("max_clients"), "no hint at the key that was meant:\n{said}");
    // Serving refuses the same file with the same code and words.
    let (code, served) = onetrip(&["--config", &path]);
    assert_eq!(code, 64, "{served}");
    for key in keys {
        assert!(served.contains(key), "nothing about {key} in:\n{served}");
    }
}

#[test]
fn a_password_is_never_printed() {
    let _turn = beside_others();
    let (_dir, path) =
        file("[[user]]\nname = \"default\"\npassword = \"hush-hush\"\npasswordd = \"hush-hush\"\n");
    let (code, said) = onetrip(&["check", "--config", &path]);
    assert_eq!(code, 64);
    assert!(!said.contains("hush-hush"), "{said}");
}

#[test]
fn slots_of_keys_are_told() {
    let _turn = beside_others();
    let (code, text) = onetrip(&["slot", "--shards", "4", "foo", "{user1000}.following", "a b"]);
    assert_eq!(code, 0, "{text}");
    let line = |key: &str| {
        let found = text.lines().find(|line| line.contains(key));
        found.unwrap_or_else(|| panic!("nothing about {key} in:\n{text}")).to_owned()
    };
    assert!(line("foo").contains("12182"), "{text}");
    assert!(line("foo").contains('2'), "slot 12182 of 16384 is on shard 2 of 4: {text}");
    assert!(line("{user1000}.following").contains("user1000"), "{text}");
    assert!(line("{user1000}.following").contains("3443"), "{text}");
}

#[test]
fn help_version_and_nonsense() {
    let _turn = beside_others();
    let (code, text) = onetrip(&["--help"]);
    assert!(code == 0 && text.contains("--backend"), "{code}: {text}");
    let (code, text) = onetrip(&["--version"]);
    assert!(code == 0 && text.contains(env!("CARGO_PKG_VERSION")), "{code}: {text}");
    let (code, _) = onetrip(&["--no-such-flag"]);
    assert_ne!(code, 0);
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let _turn = beside_others();
    let port = free_port();
    let _taken = std::net::TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let listen = format!("127.0.0.1:{port}");
    let admin = format!("127.0.0.1:{}", free_port());
    let (code, said) = onetrip(&["--listen", &listen, "--admin", &admin]);
    assert_ne!(code, 0, "it serves at a port that is taken");
    assert!(said.contains(&listen), "{said}");
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let _turn = beside_others();
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("precious");
    std::fs::write(&path, "precious").expect("a file");
    let listen = format!("unix:{}", path.display());
    let (code, said) = onetrip(&["--listen", &listen, "--admin", "none"]);
    assert!(code != 0 && said.contains("not a socket"), "{code}: {said}");
    assert_eq!(std::fs::read_to_string(&path).expect("it is still there"), "precious");
}

#[test]
fn a_shard_that_can_not_be_one_is_told_at_the_start() {
    let _turn = beside_others();
    let servers = redis_servers(1);
    let cluster = RedisServer::with(&RedisOptions { cluster: true, ..RedisOptions::default() });
    let address = servers[0].address().flag();
    let nobody = format!("127.0.0.1:{}", free_port());
    for (other, said) in [
        (nobody.clone(), "the shard does not answer, trying on"),
        (address.replace("127.0.0.1", "localhost"), "it is the same server as another shard"),
        (cluster.address().flag(), "it is a node of a real cluster"),
    ] {
        let backends = vec![address.clone(), other];
        let proxy = Proxy::unready(ProxyOptions { backends, ..ProxyOptions::default() });
        wait_until(said, Duration::from_secs(5), || proxy.output().contains(said));
        assert_eq!(proxy.get("/readyz").status, 503);
    }
}

#[test]
fn strangers_are_told_of_once_in_a_while() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(1);
    for _ in 0..50 {
        let mut client = proxy.client();
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(client.until_closed(Duration::from_secs(2)), b"");
    }
    let mut client = proxy.client();
    client.send(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);
    assert_eq!(client.until_closed(Duration::from_secs(2)), b"");
    assert_eq!(proxy.output().matches("closed a connection that speaks").count(), 1);
}

#[test]
fn the_start_says_what_is_served_and_where() {
    let _turn = beside_others();
    let servers = redis_servers(2);
    let proxy = Proxy::over(&servers);
    let said = proxy.output();
    let mut wanted = vec![proxy.address().flag()];
    wanted.extend(servers.iter().map(|s| s.address().flag()));
    for address in wanted {
        assert!(said.contains(&address), "nothing about {address} in:\n{said}");
    }
}

#[test]
fn sigterm_finishes_what_is_in_flight() {
    let _turn = alone();
    let servers = redis_servers(2);
    let mut proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    client.expect(&["SET", "k", "v"], "+OK\r\n");
    servers.iter().for_each(|server| server.freeze());
    client.send(&requests(&["GET k", "INCR n", "ECHO done"]));
    std::thread::sleep(Duration::from_millis(100));
    proxy.terminate();
    wait_until("it is not ready any more", Duration::from_secs(5), || proxy.get("/readyz").status == 503);
    assert_eq!(proxy.get("/livez").status, 200, "draining is alive");
    servers.iter().for_each(|server| server.thaw());
    let got = client.raw_replies(3).concat();
    assert_eq!(show(&got), show(b"$1\r\nv\r\n:1\r\n$4\r\ndone\r\n"));
    // The last client has what it is owed and goes: there is nothing more to wait for.
    drop(client);
    assert_eq!(proxy.wait(Duration::from_secs(3)).code(), Some(0));
}

#[test]
fn sigterm_with_idle_clients_ends_at_the_deadline_at_the_latest() {
    let _turn = alone();
    let mut proxy = Proxy::with(ProxyOptions {
        shards: 2,
        config: "[timeouts]\ndrain_ms = 700\n".to_owned(),
        ..ProxyOptions::default()
    });
    let mut clients: Vec<_> = (0..10).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.expect(&["PING"], "+PONG\r\n");
    }
    let began = Instant::now();
    proxy.terminate();
    assert_eq!(proxy.wait(Duration::from_secs(5)).code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(3), "it took {:?}", began.elapsed());
    for client in &mut clients {
        assert_eq!(client.until_closed(Duration::from_secs(1)), b"");
    }
}

#[test]
fn a_second_sigterm_ends_at_once() {
    let _turn = alone();
    let servers = redis_servers(1);
    let mut proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    client.expect(&["PING"], "+PONG\r\n");
    servers[0].freeze();
    client.send(&request(&["GET", "k"]));
    std::thread::sleep(Duration::from_millis(100));
    proxy.terminate();
    std::thread::sleep(Duration::from_millis(300));
    assert!(proxy.running(), "it left what was in flight");
    let began = Instant::now();
    proxy.terminate();
    proxy.wait(Duration::from_secs(2));
    assert!(began.elapsed() < Duration::from_secs(1), "it took {:?}", began.elapsed());
}
