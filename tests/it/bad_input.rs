//! Bad input: what each kind of it draws, to the byte, and whether the connection stays open.
//!
//! The texts are those of redis-server 7.0; where servers differ (a bulk that isn't followed by CRLF), the strict one
//! is right, because a proxy that frames requests more loosely than a shard would let clients smuggle. After a case
//! that leaves the connection open, PING must still be answered in its place: nothing of the bad input is left over.

use crate::harness::{Client, Proxy, beside_others, request, show};
use std::time::Duration;

pub const CLOSED: bool = true;
pub const OPEN: bool = false;

pub type Case<'a> = (&'a [u8], &'a str, bool);

pub fn check(proxy: &Proxy, cases: &[Case<'_>]) {
    for (sent, expected, closes) in cases {
        let mut client = proxy.client();
        client.send(sent);
        let (wanted, got) = if *closes {
            ((*expected).to_owned(), client.until_closed(Duration::from_secs(5)))
        } else {
            (format!("{expected}+PONG\r\n"), then_ping(&mut client, expected))
        };
        assert_eq!(show(&got), show(wanted.as_bytes()), "to {}", show(sent));
    }
}

fn then_ping(client: &mut Client, expected: &str) -> Vec<u8> {
    client.send(&request(&["PING"]));
    let count = expected.matches("\r\n").count() + 1;
    client.raw_replies(count).concat()
}

pub fn protocol_error(what: &str) -> String {
    format!("-ERR Protocol error: {what}\r\n")
}

#[test]
fn requests_that_ask_for_nothing_are_skipped() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    check(
        &proxy,
        &[
            (b"\r\n", "", OPEN),
            (b"\n", "", OPEN),
            (b"   \r\n", "", OPEN),
            (b"*0\r\n", "", OPEN),
            (b"*-10\r\n", "", OPEN),
            (b"*-2147483649\r\n", "", OPEN),
        ],
    );
    let mut client = proxy.client();
    client.send(b"\r\n*0\r\n*-1\r\n\r\nECHO a\r\n*0\r\nPING\r\n");
    assert_eq!(client.raw_replies(2).concat(), b"$1\r\na\r\n+PONG\r\n");
}

#[test]
fn broken_frames_are_named_and_the_connection_closed() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let count = protocol_error("invalid multibulk length");
    let length = protocol_error("invalid bulk length");
    check(
        &proxy,
        &[
            (b"*3000000000\r\n", &count, CLOSED),
            (b"*2147483648\r\n", &count, CLOSED),
            (b"*abc\r\n", &count, CLOSED),
            (b"*01\r\n", &count, CLOSED),
            (b"*+1\r\n", &count, CLOSED),
            (b"*1 \r\n", &count, CLOSED),
            (b"*\r\n", &count, CLOSED),
            (b"*12345678901234567890\r\n", &count, CLOSED),
            (b"*1\r\n$-10\r\n", &length, CLOSED),
            (b"*1\r\n$2000000000\r\n", &length, CLOSED),
            (b"*1\r\n$blabla\r\n", &length, CLOSED),
            (b"*1\r\n$01\r\n", &length, CLOSED),
            (b"*1\r\n$\r\n", &length, CLOSED),
            (b"*1\r\n*1\r\n", &protocol_error("expected '$', got '*'"), CLOSED),
            (b"*2\r\n$3\r\nGET\r\n:1\r\n", &protocol_error("expected '$', got ':'"), CLOSED),
            (b"*1\r\n$4\r\nPINGxxPING\r\n", &protocol_error("invalid CRLF in request"), CLOSED),
            (b"SET \"a\r\nPING\r\n", &protocol_error("unbalanced quotes in request"), CLOSED),
            (b"SET 'a'b c\r\n", &protocol_error("unbalanced quotes in request"), CLOSED),
        ],
    );
}

#[test]
fn replies_owed_are_sent_before_a_protocol_error_closes() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(3);
    let mut client = proxy.client();
    client.send(b"SET a 1\r\nGET a\r\nECHO b\r\n*abc\r\nPING\r\n");
    let got = client.until_closed(Duration::from_secs(5));
    let error = protocol_error("invalid multibulk length");
    let wanted = format!("+OK\r\n$1\r\n1\r\n$1\r\nb\r\n{error}");
    assert_eq!(show(&got), show(wanted.as_bytes()));
}

#[test]
fn lines_without_an_end_are_cut_off() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let digits = "1".repeat(70_000);
    let inline = "a".repeat(70_000);
    check(
        &proxy,
        &[
            (inline.as_bytes(), &protocol_error("too big inline request"), CLOSED),
            (format!("*{digits}").as_bytes(), &protocol_error("too big mbulk count string"), CLOSED),
            (format!("*1\r\n${digits}").as_bytes(), &protocol_error("too big bulk count string"), CLOSED),
        ],
    );
}

/// Redis's own desynchronisation tests: a NUL, then lines for as long as the server takes them.
#[test]
fn a_nul_in_front_ends_in_a_protocol_error() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    for start in ["\x00", "*\x00", "$\x00"] {
        let mut client = proxy.client();
        let mut writer = client.writer();
        let junk = format!("{}\n", "A".repeat(1024));
        let writing = std::thread::spawn(move || {
            let mut sent = writer.try_send(start.as_bytes());
            for _ in 0..200 {
                sent = sent.and_then(|()| writer.try_send(junk.as_bytes()));
            }
        });
        let got = client.until_closed(Duration::from_secs(5));
        writing.join().expect("the writer ends");
        let text = String::from_utf8_lossy(&got).into_owned();
        assert!(text.contains("Protocol error"), "{start:?} drew {text:?}");
    }
}

#[test]
fn inline_requests_are_read_as_redis_does() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let mut client = proxy.client();
    client.send(b"SET \"a\\x20b\" 'q\\'q'\r\nGET \"a b\"\n  get   \"a b\"  \r\nping\n");
    let wanted: &[u8] = b"+OK\r\n$3\r\nq'q\r\n$3\r\nq'q\r\n+PONG\r\n";
    assert_eq!(show(&client.raw_replies(4).concat()), show(wanted));
    // A push of RESP3 is nothing that a client may send: words like any others.
    client.send(b">2\r\n$4\r\nPING\r\n");
    let wanted = "-ERR unknown command '>2', with args beginning with: \r\n\
                  -ERR unknown command '$4', with args beginning with: \r\n+PONG\r\n";
    assert_eq!(show(&client.raw_replies(3).concat()), show(wanted.as_bytes()));
}

#[test]
fn a_browser_is_closed_without_an_answer() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    check(
        &proxy,
        &[
            (b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET a b\r\n", "", CLOSED),
            (b"Host: x\r\nSET a b\r\n", "", CLOSED),
        ],
    );
    let mut client = proxy.client();
    client.send(b"GET / HTTP/1.1\r\n");
    assert!(client.reply().is_error("ERR wrong number of arguments"));
    client.send(b"Host: x\r\n");
    assert_eq!(client.until_closed(Duration::from_secs(5)), b"");
    let mut client = proxy.client();
    client.send(b"EXISTS a\r\n");
    assert_eq!(client.reply().integer(), 0, "a browser's words ran");
}

#[test]
fn unknown_commands_and_wrong_arity_keep_the_connection() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let long = "F".repeat(300);
    let unknown = |name: &str, args: &str| {
        format!("-ERR unknown command '{name}', with args beginning with: {args}\r\n")
    };
    let arity = |name: &str| format!("-ERR wrong number of arguments for '{name}' command\r\n");
    let two_long = request(&["FOO", &"a".repeat(100), &"b".repeat(100)]);
    check(
        &proxy,
        &[
            (b"FOO bar\r\n", &unknown("FOO", "'bar' "), OPEN),
            (b"FOO\r\n", &unknown("FOO", ""), OPEN),
            (b"*1\r\n$0\r\n\r\n", &unknown("", ""), OPEN),
            // What is echoed can't break a frame.
            (b"*2\r\n$5\r\nF\r\nOO\r\n$4\r\na\r\nb\r\n", &unknown("F  OO", "'a  b' "), OPEN),
            (format!("{long} y\r\n").as_bytes(), &unknown(&long[..128], "'y' "), OPEN),
            (&two_long, &unknown("FOO", &format!("'{}' '{}' ", "a".repeat(100), "b".repeat(25))), OPEN),
            (b"GET\r\n", &arity("get"), OPEN),
            (b"get a b\r\n", &arity("get"), OPEN),
            (b"MSET a 1 b\r\n", &arity("mset"), OPEN),
            (b"DEL\r\n", &arity("del"), OPEN),
            (b"DBSIZE x\r\n", &arity("dbsize"), OPEN),
            (b"CLIENT\r\n", &arity("client"), OPEN),
            (b"CLIENT SETNAME\r\n", &arity("client|setname"), OPEN),
            (
                b"CLIENT MAINT_NOTIFICATIONS ON\r\n",
                "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n",
                OPEN,
            ),
            (b"SENTINEL MASTERS\r\n", &unknown("SENTINEL", "'MASTERS' "), OPEN),
        ],
    );
}

#[test]
fn a_large_count_allocates_nothing() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let before = proxy.memory().now;
    let clients: Vec<Client> = (0..50)
        .map(|_| {
            let mut client = proxy.client();
            client.send(b"*1000000\r\n$500000000\r\n");
            client
        })
        .collect();
    proxy.client().expect(&["PING"], "+PONG\r\n");
    let grown = proxy.memory().now.saturating_sub(before);
    assert!(grown < 8 << 20, "{} clients cost {grown} bytes", clients.len());
}
