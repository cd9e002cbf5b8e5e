//! What clients of healthy shards notice of a stopped one: nothing.
//!
//! Clients of two shards send at a fixed rate while the third is stopped and others go on asking it. Their worst wait
//! is compared with the worst before and after in the same run, on the same machine; what is asserted is a ratio with
//! a floor, never a time.

use crate::harness::{Proxy, StopAtEnd, alone, redis_servers, request, tags_by_shard, thorough};
use crate::shard_loss::{PATIENCE, count_up};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The worst wait of clients of the shards of `tags`, at a fixed rate for `span`. Each command has its time; one
/// that starts late because the one before it was slow counts from when it was due.
fn worst_wait(proxy: &Proxy, tags: &[&String], span: Duration) -> Duration {
    let every = Duration::from_millis(4);
    std::thread::scope(|scope| {
        let clients: Vec<_> = tags
            .iter()
            .flat_map(|tag| [tag, tag])
            .map(|tag| {
                scope.spawn(move || {
                    let mut client = proxy.client();
                    let bytes = request(&["INCR", &format!("{{{tag}}}paced")]);
                    let began = Instant::now();
                    let (mut due, mut worst) = (began, Duration::ZERO);
                    while began.elapsed() < span {
                        due += every;
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        client.send(&bytes);
                        client.reply().integer();
                        worst = worst.max(due.elapsed());
                    }
                    worst
                })
            })
            .collect();
        let worst = clients.into_iter().map(|c| c.join().expect("a client"));
        worst.max().expect("there are clients")
    })
}

#[test]
fn a_stopped_shard_costs_the_others_no_time() {
    let _turn = alone();
    let servers = redis_servers(3);
    let proxy = Proxy::configured(&servers, PATIENCE);
    let tags = tags_by_shard(&proxy, &servers);
    let others = [&tags[0], &tags[2]];
    let span = Duration::from_millis(if thorough() { 8_000 } else { 2_500 });
    let before = worst_wait(&proxy, &others, span);
    servers[1].freeze();
    let stop = AtomicBool::new(false);
    let during = std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        // Others go on asking the stopped shard, one at a time and in pipelines.
        for batch in [1, 100] {
            let (proxy, tag, stop) = (&proxy, &tags[1], &stop);
            scope.spawn(move || count_up(proxy, &format!("{{{tag}}}n"), 1, batch, stop));
        }
        let during = worst_wait(&proxy, &others, span);
        stop.store(true, Ordering::Relaxed);
        during
    });
    servers[1].thaw();
    let after = worst_wait(&proxy, &others, span);
    println!("worst wait: {before:?} before, {during:?} with shard 1 stopped, {after:?} after");
    // The floor is what a scheduler with two cores may add to any single wait.
    let usual = before.max(after).max(Duration::from_millis(10));
    assert!(during <= 2 * usual, "{during:?} against a usual worst of {usual:?}");
}

/// Whoever doesn't read a reply that is too large to be held is given up, so that the shard's other clients go on.
#[test]
fn clients_that_do_not_read_large_replies_hold_their_shard_up_for_a_bounded_time() {
    let _turn = alone();
    let servers = redis_servers(1);
    let proxy = Proxy::over(&servers);
    assert!(servers[0].client().command(&[&b"SET"[..], b"huge", &vec![b'h'; 100 << 20]]).is_simple("OK"));
    let hoarders: Vec<_> = (0..2)
        .map(|_| {
            let mut client = proxy.client();
            client.send(&request(&["GET", "huge"]));
            client
        })
        .collect();
    let tag = "x".to_owned();
    let worst = worst_wait(&proxy, &[&tag], Duration::from_secs(7));
    let gone =
        || proxy.metrics().sum("onetrip_client_connections_closed_total", &[("reason", "output_limit")]);
    println!("worst wait {worst:?}, {} given up", gone());
    assert_eq!(gone(), 2.0);
    // Two seconds for each, and what it takes to move 200 MB.
    assert!(worst < Duration::from_secs(6), "the others waited {worst:?}");
    drop(hoarders);
}
