//! The memory for all clients together: the heavy ones wait, the light ones don't notice, nothing is lost.

use crate::harness::{Client, Proxy, alone, beside_others, redis_servers, request, show, wait_until};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
const VALUE: usize = 100_000;

/// Clients that have asked for `replies` values each, of 100 kB, and read none.
fn hoarders(proxy: &Proxy, count: usize, replies: usize) -> Vec<Client> {
    let mut first = proxy.client();
    assert!(first.command(&[&b"SET"[..], b"big", &vec![b'v'; VALUE]]).is_simple("OK"));
    let bytes = request(&["GET", "big"]).repeat(replies);
    let hoarder = |_| {
        let mut client = proxy.client();
        // A first reply tells the window what replies of this client are like.
        assert_eq!(client.command(&["GET", "big"]).bytes().len(), VALUE);
        client.send(&bytes);
        client
    };
    (0..count).map(hoarder).collect()
}

fn made_to_wait(proxy: &Proxy) -> f64 {
    proxy.metrics().sum("onetrip_backpressure_total", &[("kind", "memory")])
}

#[test]
fn many_clients_that_do_not_read_cost_no_more_than_the_total() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::configured(&servers, "[limits]\nmemory_total_bytes = 100663296\n");
    let before = proxy.memory().now;
    proxy.forget_peak();
    let mut clients = hoarders(&proxy, 40, 500);
    wait_until("clients are made to wait", Duration::from_secs(10), || made_to_wait(&proxy) > 0.0);
    // Who claims little is served at once.
    let mut light = proxy.client();
    let mut worst = Duration::ZERO;
    for _ in 0..200 {
        let asked = Instant::now();
        light.expect(&["STRLEN", "big"], ":100000\r\n");
        worst = worst.max(asked.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    let grown = proxy.memory().peak.saturating_sub(before);
    let claimed = proxy.metrics().sum("onetrip_memory_claimed_bytes", &[]);
    println!("grown by {} KiB, {claimed} claimed, worst wait {worst:?}", grown / 1024);
    assert!(grown <= 144 * MIB, "grown by {grown} bytes");
    assert!(claimed > 48e6 && claimed < 101e6, "{claimed} bytes claimed");
    assert!(worst < Duration::from_millis(500), "a light client waited {worst:?}");
    for client in &mut clients {
        for n in 0..500 {
            let reply = client.reply();
            assert!(reply.bytes().len() == VALUE, "reply {n}");
        }
    }
    wait_until("all claims are given back", Duration::from_secs(5), || {
        proxy.metrics().sum("onetrip_memory_claimed_bytes", &[]) == 0.0
    });
}

#[test]
fn a_request_in_the_middle_waits_for_memory_and_goes_on() {
    let _turn = alone();
    let servers = redis_servers(2);
    let proxy = Proxy::configured(&servers, "[limits]\nmemory_total_bytes = 67108864\n");
    let hoarders = hoarders(&proxy, 10, 500);
    let waits = {
        wait_until("clients are made to wait", Duration::from_secs(10), || made_to_wait(&proxy) > 0.0);
        std::thread::sleep(Duration::from_millis(300));
        made_to_wait(&proxy)
    };
    let mut client = proxy.client();
    let mut writer = client.writer();
    let value = vec![b'u'; 40 << 20];
    let writing = std::thread::spawn(move || {
        writer.set_timeout(Duration::from_secs(30));
        writer.try_send(&request(&[&b"SET"[..], b"upload", &value]))
    });
    wait_until("the upload waits", Duration::from_secs(5), || made_to_wait(&proxy) > waits);
    drop(hoarders);
    assert!(client.reply().is_simple("OK"));
    writing.join().expect("the writer").expect("all was taken");
    assert_eq!(client.command(&["STRLEN", "upload"]).integer(), 40 << 20);
}

#[test]
fn a_request_that_finds_no_memory_is_told_so() {
    let _turn = beside_others();
    let servers = redis_servers(1);
    let proxy = Proxy::configured(&servers, "[limits]\nmemory_total_bytes = 67108864\n");
    let mut client = proxy.client();
    let mut writer = client.writer();
    let writing = std::thread::spawn(move || {
        writer.set_timeout(Duration::from_secs(30));
        writer.try_send(&request(&[&b"SET"[..], b"upload", &vec![b'u'; 100 << 20]]))
    });
    let said = client.until_closed(Duration::from_secs(20));
    let text = "-ERR onetrip: no memory left for this request (limits.memory_total_bytes), not executed\r\n";
    assert_eq!(show(&said), show(text.as_bytes()));
    assert!(writing.join().expect("the writer").is_err(), "a connection without a future took everything");
    proxy.client().expect(&["EXISTS", "upload"], ":0\r\n");
    assert_eq!(proxy.metrics().sum("onetrip_client_connections_closed_total", &[("reason", "memory")]), 1.0);
}
