//! The same stream however it is cut into packets: at every byte once, and dripped one byte at a time.
//!
//! The stream holds every form that a request can take (multibulk, inline, quoted, empty, split over shards, wrong)
//! and clears the data first, so that each run draws the same replies. A cut is two writes with a pause between that
//! lets the first be read alone.

use super::Pair;
use crate::harness::{Client, beside_others, request, requests, show};
use std::time::Duration;

/// Requests of every form, and how many replies they draw.
fn stream() -> (Vec<u8>, usize) {
    let mut bytes = requests(&[
        "FLUSHALL",
        "SET a 1",
        "MSET b 2 c 3 {t}d 4",
        "MGET a b c {t}d nothing",
        "INCR a",
        "GETRANGE",
        "NOSUCH x y",
        "EXISTS a b c nothing",
    ]);
    bytes.extend_from_slice(b"\r\n*0\r\nset e \"q \\x41\"\r\nGET e\nPING\r\n*-1\r\n");
    bytes.extend_from_slice(&request(&[&b"SET"[..], b"f", b"$3\r\n*1\r\n\r\n"]));
    bytes.extend_from_slice(&requests(&[
        "GET f",
        "ECHO x",
        "SET g",
        "UNLINK a b e",
        "DBSIZE",
        "GET nothing",
    ]));
    (bytes, 8 + 3 + 1 + 6)
}

fn replies(client: &mut Client, count: usize) -> Vec<u8> {
    client.raw_replies(count).concat()
}

fn cut_everywhere(pair: &Pair, version: u8) {
    let (bytes, count) = stream();
    let (mut proxy, mut oracle) = pair.clients(version);
    oracle.send(&bytes);
    let wanted = replies(&mut oracle, count);
    for cut in 1..bytes.len() {
        proxy.send(&bytes[..cut]);
        std::thread::sleep(Duration::from_micros(500));
        proxy.send(&bytes[cut..]);
        let got = replies(&mut proxy, count);
        assert_eq!(show(&got), show(&wanted), "RESP{version}, cut at byte {cut}");
    }
    for byte in bytes {
        proxy.send(&[byte]);
        // Most bytes arrive alone; waiting longer for each would only take longer.
        std::thread::sleep(Duration::from_micros(200));
    }
    let got = replies(&mut proxy, count);
    assert_eq!(show(&got), show(&wanted), "RESP{version}, dripped");
    proxy.expect(&["PING"], "+PONG\r\n");
}

#[test]
fn a_stream_cut_at_every_byte_over_real_servers() {
    let _turn = beside_others();
    let pair = Pair::standalone(3);
    cut_everywhere(&pair, 2);
    cut_everywhere(&pair, 3);
}

#[test]
fn a_stream_cut_at_every_byte_over_embedded_shards() {
    let _turn = beside_others();
    let pair = Pair::embedded(3);
    cut_everywhere(&pair, 2);
    cut_everywhere(&pair, 3);
}
