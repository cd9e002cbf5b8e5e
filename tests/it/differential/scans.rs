//! Commands over all shards whose replies can't be compared byte for byte: SCAN and RANDOMKEY.
//!
//! What must hold is said of the whole: a full scan finds every key, each at least once and nothing else; a cursor
//! stays below 2^53, which is what clients in JavaScript can carry; a random key is one of the keys, and over many
//! draws every shard has its turn.

use super::Pair;
use crate::harness::{Client, Reply, beside_others};
use std::collections::BTreeSet;

fn fill(client: &mut Client, count: usize) -> BTreeSet<String> {
    client.expect(&["FLUSHALL"], "+OK\r\n");
    let keys: BTreeSet<String> = (0..count).map(|n| format!("key:{n}")).collect();
    for key in &keys {
        client.expect(&["SET", key, "v"], "+OK\r\n");
    }
    keys
}

/// All keys that a full scan returns, in the order of their coming.
fn scan(client: &mut Client, options: &[&str]) -> Vec<String> {
    let (mut cursor, mut found) = ("0".to_owned(), Vec::new());
    for _ in 0..100_000 {
        let args = [&["SCAN", cursor.as_str()][..], options].concat();
        let reply = client.command(&args);
        let [next, keys] = reply.items() else { panic!("SCAN answers a cursor and keys, not {reply:?}") };
        found.extend(keys.items().iter().map(Reply::text));
        cursor = next.text();
        let number: u64 = cursor.parse().expect("a cursor is a number");
        assert!(number < 1 << 53, "cursor {number} is too large for a double");
        if number == 0 {
            return found;
        }
    }
    panic!("the scan never ends");
}

fn finds_every_key(pair: &Pair, version: u8) {
    let mut client = pair.proxy.client_speaking(version);
    assert!(scan(&mut client, &[]).is_empty(), "keys on empty shards");
    let keys = fill(&mut client, 2_000);
    for options in [&[][..], &["COUNT", "7"], &["COUNT", "5000"], &["TYPE", "string"]] {
        let found: BTreeSet<String> = scan(&mut client, options).into_iter().collect();
        assert!(found == keys, "SCAN {options:?}: {} keys", found.len());
    }
    let found = scan(&mut client, &["MATCH", "key:1?", "COUNT", "100"]);
    let found: BTreeSet<String> = found.into_iter().collect();
    assert_eq!(found, (10..20).map(|n| format!("key:{n}")).collect());
    assert!(scan(&mut client, &["TYPE", "list"]).is_empty());
    assert_eq!(client.command(&["DBSIZE"]).integer(), 2_000);
    client.expect(&["FLUSHALL"], "+OK\r\n");
}

fn draws_from_every_shard(pair: &Pair) {
    let mut client = pair.proxy.client();
    client.expect(&["RANDOMKEY"], "$-1\r\n");
    let keys = fill(&mut client, 30);
    let mut drawn = BTreeSet::new();
    for _ in 0..2_000 {
        drawn.insert(client.command(&["RANDOMKEY"]).text());
    }
    // 2,000 draws miss a given one of 30 keys with less than 1 in 10^28.
    assert_eq!(drawn, keys);
}

#[test]
fn scans_and_random_keys_over_real_servers() {
    let _turn = beside_others();
    let pair = Pair::standalone(3);
    finds_every_key(&pair, 2);
    finds_every_key(&pair, 3);
    draws_from_every_shard(&pair);
}

#[test]
fn scans_and_random_keys_over_embedded_shards() {
    let _turn = beside_others();
    let pair = Pair::embedded(3);
    finds_every_key(&pair, 2);
    finds_every_key(&pair, 3);
    draws_from_every_shard(&pair);
}

#[test]
fn impossible_cursors_are_refused() {
    let _turn = beside_others();
    let pair = Pair::standalone(3);
    let mut client = pair.proxy.client();
    for cursor in ["abc", "18446744073709551616", "1x"] {
        client.expect(&["SCAN", cursor], "-ERR invalid cursor\r\n");
    }
    // Cursors that nobody was given: refused or taken for what they say, and nothing else.
    for power in 1..64 {
        let cursor = ((1_u64 << power) - 1).to_string();
        let reply = client.command(&["SCAN", cursor.as_str()]);
        assert!(
            reply.is_error("ERR invalid cursor") || matches!(reply, Reply::Array(_)),
            "SCAN {cursor} drew {reply:?}"
        );
    }
    client.expect(&["PING"], "+PONG\r\n");
}
