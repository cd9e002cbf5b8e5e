//! What a client may say about its own connection: HELLO, QUIT, SELECT, AUTH, and what it may do before it has.
//!
//! The texts are those of redis-server 7.0. A refused HELLO changes nothing, an accepted one only what comes after
//! it, and a stranger is held to so little that it can't cost anything: ten arguments, 16 KiB, a few commands.

use crate::bad_input::{CLOSED, OPEN, check, protocol_error};
use crate::harness::{Proxy, ProxyOptions, beside_others, show};
use std::time::Duration;

#[test]
fn hello_with_nonsense_changes_nothing() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    check(
        &proxy,
        &[
            (b"HELLO 4\r\n", "-NOPROTO unsupported protocol version\r\n", OPEN),
            (b"HELLO abc\r\n", "-ERR Protocol version is not an integer or out of range\r\n", OPEN),
            (b"HELLO 3 FOO\r\n", "-ERR Syntax error in HELLO option 'FOO'\r\n", OPEN),
            (b"HELLO 3 SETNAME\r\n", "-ERR Syntax error in HELLO option 'SETNAME'\r\n", OPEN),
        ],
    );
    let mut client = proxy.client();
    client.expect(&["HELLO", "4"], "-NOPROTO unsupported protocol version\r\n");
    client.expect(&["GET", "nothing"], "$-1\r\n");
}

#[test]
fn hello_in_a_pipeline_switches_later_replies_only() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(3);
    let mut client = proxy.client();
    client.send(b"GET nothing\r\nHELLO 3\r\nGET nothing\r\nHELLO 2\r\nGET nothing\r\n");
    let replies = client.raw_replies(5);
    assert_eq!(show(&replies[0]), show(b"$-1\r\n"));
    assert!(replies[1].starts_with(b"%7\r\n"), "{}", show(&replies[1]));
    assert_eq!(show(&replies[2]), show(b"_\r\n"));
    assert!(replies[3].starts_with(b"*14\r\n"), "{}", show(&replies[3]));
    assert_eq!(show(&replies[4]), show(b"$-1\r\n"));
}

#[test]
fn quit_drops_what_follows_it() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    check(&proxy, &[(b"SET q 1\r\nQUIT\r\nSET q 2\r\nPING\r\n", "+OK\r\n+OK\r\n", CLOSED)]);
    proxy.client().expect(&["GET", "q"], "$1\r\n1\r\n");
}

#[test]
fn databases_out_of_range() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    check(
        &proxy,
        &[
            (b"SELECT 0\r\n", "+OK\r\n", OPEN),
            (b"SELECT 99\r\n", "-ERR DB index is out of range\r\n", OPEN),
            (b"SELECT -1\r\n", "-ERR DB index is out of range\r\n", OPEN),
            (b"SELECT abc\r\n", "-ERR value is not an integer or out of range\r\n", OPEN),
        ],
    );
}

#[test]
fn auth_where_no_password_is_set() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let none = "-ERR AUTH <password> called without any password configured for the default user. \
                Are you sure your configuration is correct?\r\n";
    check(
        &proxy,
        &[
            (b"AUTH x\r\n", none, OPEN),
            (b"AUTH default x\r\n", "+OK\r\n", OPEN),
            (b"AUTH a b c\r\n", "-ERR syntax error\r\n", OPEN),
        ],
    );
}

#[test]
fn before_the_password_little_is_taken() {
    let _turn = beside_others();
    let proxy = Proxy::with(ProxyOptions { shards: 2, password: Some("secret"), ..ProxyOptions::default() });
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    let many = protocol_error("unauthenticated multibulk length");
    let long = protocol_error("unauthenticated bulk length");
    let expect = |sent: &[u8], expected: &str, closes: bool| {
        let mut client = proxy.client();
        client.send(sent);
        let got = if closes { client.until_closed(Duration::from_secs(5)) } else { client.raw_reply() };
        assert_eq!(show(&got), show(expected.as_bytes()), "to {}", show(sent));
    };
    for command in ["GET a", "PING", "FLUSHALL", "CLIENT ID", "SELECT 0"] {
        expect(format!("{command}\r\n").as_bytes(), "-NOAUTH Authentication required.\r\n", OPEN);
    }
    expect(b"AUTH wrong\r\n", wrong, OPEN);
    expect(b"AUTH someone secret\r\n", wrong, OPEN);
    expect(b"HELLO 3 AUTH default wrong\r\n", wrong, OPEN);
    expect(b"AUTH secret\r\n", "+OK\r\n", OPEN);
    expect(b"QUIT\r\n", "+OK\r\n", CLOSED);
    expect(b"*11\r\n", &many, CLOSED);
    expect(b"*2\r\n$4\r\nAUTH\r\n$16385\r\n", &long, CLOSED);
}
