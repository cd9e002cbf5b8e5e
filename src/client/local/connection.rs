//! HELLO, AUTH, SELECT, RESET, PING and ECHO: what a client says to be let in and to see that we are here.
//!
//! There is one user, `default`, and at most one password. What HELLO changes it changes in the order of its
//! arguments, as servers do: a password given before a bad name has been accepted.

use super::{Facts, NOT_AN_INTEGER, SYNTAX, arg, ok, quoting};
use crate::command::errors::ONE_DATABASE;
use crate::resp::request::{Args, parse_integer};
use crate::resp::{Proto, write};
use crate::session::{DATABASES, Name, Session, same_secret};
use bytes::BytesMut;

const WRONGPASS: &str = "WRONGPASS invalid username-password pair or user is disabled.";
const NO_PASSWORD: &str = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?";
const HELLO_NOAUTH: &str = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time";
pub(super) const BAD_NAME: &str = "ERR Client names cannot contain spaces, newlines or special characters.";

pub(super) fn ping(args: Args<'_>, out: &mut BytesMut) {
    match args.len() {
        0 | 1 => write::simple(out, "PONG"),
        2 => write::bulk(out, args.at(1)),
        _ => write::error(out, "ERR wrong number of arguments for 'ping' command"),
    }
}

pub(super) fn echo(args: Args<'_>, out: &mut BytesMut) {
    write::bulk(out, arg(args, 1));
}

/// HELLO [version] [AUTH user password] [SETNAME name]
pub(super) fn hello(args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) {
    let mut proto = session.proto();
    if let Some(version) = args.get(1) {
        match parse_integer(version) {
            Some(2) => proto = Proto::Resp2,
            Some(3) => proto = Proto::Resp3,
            Some(_) => return write::error(out, "NOPROTO unsupported protocol version"),
            None => {
                let text = "ERR Protocol version is not an integer or out of range";
                return write::error(out, text);
            }
        }
    }
    if !hello_options(args, session, facts, out) {
        return;
    }
    if !session.authenticated() {
        return write::error(out, HELLO_NOAUTH);
    }
    session.set_proto(proto);
    facts.directory.show(session);
    greeting(session, facts, out);
}

/// What stands behind HELLO's version; false where an error was written.
fn hello_options(args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) -> bool {
    let mut at = 2;
    while let Some(option) = args.get(at) {
        let left = args.len() - at - 1;
        if option.eq_ignore_ascii_case(b"auth") && left >= 2 {
            if !sign_in(args.at(at + 1), args.at(at + 2), session, facts) {
                write::error(out, WRONGPASS);
                return false;
            }
            at += 3;
        } else if option.eq_ignore_ascii_case(b"setname") && left >= 1 {
            if session.set_name(Name::Client, args.at(at + 1)).is_err() {
                write::error(out, BAD_NAME);
                return false;
            }
            at += 2;
        } else {
            quoting(out, "ERR Syntax error in HELLO option '", option, "'");
            return false;
        }
    }
    true
}

fn greeting(session: &Session, facts: &Facts, out: &mut BytesMut) {
    write::map(out, session.proto(), 7);
    write::bulk(out, b"server");
    write::bulk(out, b"redis");
    write::bulk(out, b"version");
    write::bulk(out, facts.version.get().as_bytes());
    write::bulk(out, b"proto");
    write::integer(out, session.proto().number());
    write::bulk(out, b"id");
    write::integer(out, session.id() as i64);
    write::bulk(out, b"mode");
    write::bulk(out, b"standalone");
    write::bulk(out, b"role");
    write::bulk(out, b"master");
    write::bulk(out, b"modules");
    write::array(out, 0);
}

/// AUTH password, AUTH user password
pub(super) fn auth(args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) {
    let (user, password) = match args.len() {
        2 if facts.password.is_none() => return write::error(out, NO_PASSWORD),
        2 => (&b"default"[..], args.at(1)),
        3 => (args.at(1), args.at(2)),
        _ => return write::error(out, SYNTAX),
    };
    if sign_in(user, password, session, facts) {
        ok(out);
    } else {
        write::error(out, WRONGPASS);
    }
}

/// A wrong password leaves a client that was signed in as it was.
fn sign_in(user: &[u8], password: &[u8], session: &mut Session, facts: &Facts) -> bool {
    let known = user == b"default";
    let right = facts.password.as_deref().is_none_or(|secret| same_secret(secret, password));
    if known && right {
        session.set_authenticated();
    }
    known && right
}

pub(super) fn select(args: Args<'_>, out: &mut BytesMut) {
    let Some(database) = parse_integer(arg(args, 1)) else {
        return write::error(out, NOT_AN_INTEGER);
    };
    if i32::try_from(database).is_err() {
        let (low, high) = (i32::MIN, i32::MAX);
        let text = format!("ERR value is out of range, value must between {low} and {high}");
        return write::error(out, &text);
    }
    match database {
        0 => ok(out),
        1..DATABASES => write::error(out, ONE_DATABASE),
        _ => write::error(out, "ERR DB index is out of range"),
    }
}

pub(super) fn reset(session: &mut Session, facts: &Facts, out: &mut BytesMut) {
    session.reset(facts.password.is_none());
    facts.directory.show(session);
    write::simple(out, "RESET");
}

#[cfg(test)]
mod tests {
    use super::super::After;
    use super::super::testing::Client;
    use super::*;

    const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

    fn error(text: &str) -> String {
        format!("-{text}\r\n")
    }

    #[test]
    fn hello_greets_in_the_version_that_it_sets() {
        let mut client = Client::new();
        let greeting = |head: &str, proto: u8| {
            format!(
                "{head}$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.0\r\n$5\r\nproto\r\n:{proto}\r\n\
                 $2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n\
                 $7\r\nmodules\r\n*0\r\n"
            )
        };
        assert_eq!(client.says("HELLO"), greeting("*14\r\n", 2));
        assert_eq!(client.says("hello 3 setname bob"), greeting("%7\r\n", 3));
        assert_eq!(client.says("HELLO"), greeting("%7\r\n", 3));
        assert_eq!(client.session.name(), b"bob");
        assert_eq!(client.says("HELLO 2"), greeting("*14\r\n", 2));
    }

    #[test]
    fn a_refused_hello_changes_no_version() {
        let mut client = Client::new().resp3();
        for (line, text) in [
            ("HELLO 4", "NOPROTO unsupported protocol version"),
            ("HELLO abc", "ERR Protocol version is not an integer or out of range"),
            ("HELLO 2 FOO", "ERR Syntax error in HELLO option 'FOO'"),
            ("HELLO 2 AUTH a", "ERR Syntax error in HELLO option 'AUTH'"),
            ("HELLO 2 SETNAME \"a b\"", BAD_NAME),
            ("HELLO 2 AUTH bob x", WRONGPASS),
        ] {
            assert_eq!(client.says(line), error(text), "{line}");
            assert_eq!(client.session.proto(), Proto::Resp3, "{line}");
        }
    }

    #[test]
    fn a_password_opens_the_door_by_auth_or_hello() {
        let mut client = Client::new().with_password(b"pw");
        assert_eq!(client.says("PING"), "-NOAUTH Authentication required.\r\n");
        assert_eq!(client.says("HELLO 3"), error(HELLO_NOAUTH));
        assert_eq!(client.says("AUTH bad"), WRONG);
        assert_eq!(client.says("AUTH bob pw"), WRONG);
        assert_eq!(client.says("AUTH default pw"), "+OK\r\n");
        assert_eq!(client.says("AUTH bad"), WRONG);
        assert_eq!(client.says("PING"), "+PONG\r\n");
        assert_eq!(client.says("RESET"), "+RESET\r\n");
        assert_eq!(client.says("ECHO x"), "-NOAUTH Authentication required.\r\n");
        assert!(client.says("HELLO 3 AUTH default pw").starts_with("%7\r\n"));
        assert_eq!(client.says("ECHO x"), "$1\r\nx\r\n");
    }

    #[test]
    fn without_a_password_auth_says_so() {
        let mut client = Client::new();
        assert_eq!(client.says("AUTH x"), error(NO_PASSWORD));
        assert_eq!(client.says("AUTH default anything"), "+OK\r\n");
        assert_eq!(client.says("AUTH a b c"), "-ERR syntax error\r\n");
    }

    #[test]
    fn one_database_can_be_selected() {
        let mut client = Client::new();
        assert_eq!(client.says("SELECT 0"), "+OK\r\n");
        assert_eq!(client.says("SELECT 15"), error(ONE_DATABASE));
        for out_of_range in ["16", "99", "-1"] {
            let text = "-ERR DB index is out of range\r\n";
            assert_eq!(client.says(&format!("SELECT {out_of_range}")), text);
        }
        assert_eq!(client.says("SELECT abc"), "-ERR value is not an integer or out of range\r\n");
        assert_eq!(
            client.says("SELECT 99999999999"),
            "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n"
        );
    }

    #[test]
    fn reset_is_a_new_beginning_and_quit_the_end() {
        let mut client = Client::new();
        client.says("HELLO 3 SETNAME bob");
        client.says("CLIENT SETINFO LIB-NAME redis-rs");
        client.says("CLIENT REPLY OFF");
        assert_eq!(client.says("RESET"), "+RESET\r\n");
        assert_eq!(client.says("CLIENT GETNAME"), "$-1\r\n");
        assert!(client.says("CLIENT INFO").contains(" resp=2 lib-name=redis-rs "));
        assert_eq!(client.after, After::Continue);
        assert_eq!((client.says("QUIT"), client.after), ("+OK\r\n".to_owned(), After::Close));
    }

    #[test]
    fn ping_and_its_neighbours() {
        let mut client = Client::new();
        assert_eq!(client.says("PING hi"), "$2\r\nhi\r\n");
        assert_eq!(client.says("PING a b"), "-ERR wrong number of arguments for 'ping' command\r\n");
        assert_eq!(client.says("TIME"), "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
        assert_eq!(client.says("ROLE"), "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
        assert_eq!(client.says("LOLWUT"), "$17\r\nRedis ver. 7.4.0\n\r\n");
        assert_eq!(client.says("READONLY"), "+OK\r\n");
        assert_eq!(client.says("CLUSTER SLOTS"), "-ERR This instance has cluster support disabled\r\n");
    }
}
