//! CLIENT KILL: which clients are meant, and their end.
//!
//! A victim's own task closes its connection; the client that asks for its own end hears the answer first.

use super::clients::{Fault, normal};
use super::{After, Facts, SYNTAX, ok};
use crate::client::directory::{Entry, Peer};
use crate::resp::request::{Args, parse_integer};
use crate::resp::write;
use crate::session::Session;
use bytes::BytesMut;
use std::sync::Arc;

/// CLIENT KILL address, CLIENT KILL filter value …
pub(super) fn kill(args: Args<'_>, session: &Session, facts: &Facts, out: &mut BytesMut) -> After {
    let one = args.len() == 3;
    let filter = if one {
        let peer = Some(args.at(2));
        Ok(Filter { peer, skip_me: false, ..Filter::default() })
    } else {
        filter(args)
    };
    let filter = match filter {
        Ok(filter) => filter,
        Err(fault) => {
            fault.write(out);
            return After::Continue;
        }
    };
    let victims = victims(&filter, session, facts);
    match victims.len() {
        0 if one => write::error(out, "ERR No such client"),
        _ if one => ok(out),
        n => write::integer(out, n as i64),
    }
    let mut after = After::Continue;
    for victim in victims {
        // Oneself hears the answer first.
        if victim.id == session.id() {
            after = After::Close;
        } else {
            victim.kill();
        }
    }
    after
}

fn victims(filter: &Filter<'_>, session: &Session, facts: &Facts) -> Vec<Arc<Entry>> {
    let mut all = facts.directory.all();
    all.retain(|entry| {
        let own = entry.id == session.id();
        filter.holds(entry, facts.now_ms()) && !(own && filter.skip_me)
    });
    all
}

/// Whom CLIENT KILL is meant for: every condition that was given holds.
struct Filter<'a> {
    id: Option<i64>,
    peer: Option<&'a [u8]>,
    local: Option<&'a [u8]>,
    min_age_s: u64,
    normal: bool,
    skip_me: bool,
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Filter { id: None, peer: None, local: None, min_age_s: 0, normal: true, skip_me: true }
    }
}

impl Filter<'_> {
    fn holds(&self, entry: &Entry, now_ms: u64) -> bool {
        let at = |wanted: Option<&[u8]>, peer: &Peer| {
            wanted.is_none_or(|wanted| wanted == peer.to_string().as_bytes())
        };
        self.normal
            && self.id.is_none_or(|id| id == entry.id as i64)
            && now_ms.saturating_sub(entry.created_ms) / 1000 >= self.min_age_s
            && at(self.peer, &entry.peer)
            && at(self.local, &entry.local)
    }
}

fn filter(args: Args<'_>) -> Result<Filter<'_>, Fault<'_>> {
    let mut filter = Filter::default();
    let mut at = 2;
    while let Some(option) = args.get(at) {
        let value = args.get(at + 1).ok_or(Fault::Text(SYNTAX))?;
        condition(&mut filter, option, value)?;
        at += 2;
    }
    Ok(filter)
}

fn condition<'a>(filter: &mut Filter<'a>, option: &[u8], value: &'a [u8]) -> Result<(), Fault<'a>> {
    let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
    if is(b"id") {
        let id = parse_integer(value).filter(|&id| id > 0);
        let fault = Fault::Text("ERR client-id should be greater than 0");
        filter.id = Some(id.ok_or(fault)?);
    } else if is(b"addr") {
        filter.peer = Some(value);
    } else if is(b"laddr") {
        filter.local = Some(value);
    } else if is(b"type") {
        filter.normal = normal(value)?;
    } else if is(b"user") {
        if value != b"default" {
            return Err(Fault::UnknownUser(value));
        }
    } else if is(b"maxage") {
        filter.min_age_s = age(value).map_err(Fault::Text)?;
    } else if is(b"skipme") && value.eq_ignore_ascii_case(b"yes") {
        filter.skip_me = true;
    } else if is(b"skipme") && value.eq_ignore_ascii_case(b"no") {
        filter.skip_me = false;
    } else {
        return Err(Fault::Text(SYNTAX));
    }
    Ok(())
}

fn age(value: &[u8]) -> Result<u64, &'static str> {
    match parse_integer(value) {
        None => Err("ERR maxage is not an integer or out of range"),
        Some(seconds) if seconds <= 0 => Err("ERR maxage should be greater than 0"),
        Some(seconds) => Ok(seconds.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Client;
    use super::*;

    #[test]
    fn kill_reaches_the_clients_that_are_meant() {
        let mut one = Client::new();
        let two = Client::beside(one.directory());
        for (line, reply) in [
            ("127.0.0.1:1", "-ERR No such client\r\n"),
            ("ID", "-ERR No such client\r\n"),
            ("ID 999", ":0\r\n"),
            ("ID 0", "-ERR client-id should be greater than 0\r\n"),
            ("FOO 1", "-ERR syntax error\r\n"),
            ("ADDR 1.2.3.4:1 ID", "-ERR syntax error\r\n"),
            ("TYPE foo", "-ERR Unknown client type 'foo'\r\n"),
            ("TYPE master", ":0\r\n"),
            ("USER foo", "-ERR No such user 'foo'\r\n"),
            ("MAXAGE 0", "-ERR maxage should be greater than 0\r\n"),
            ("MAXAGE 6", ":0\r\n"),
            ("ID 1", ":0\r\n"),
        ] {
            assert_eq!(one.says(&format!("CLIENT KILL {line}")), reply, "{line}");
        }
        assert!(!two.registration.is_killed());
        assert_eq!(one.says("CLIENT KILL ID 2 LADDR 127.0.0.1:6380"), ":1\r\n");
        assert!(two.registration.is_killed() && !one.registration.is_killed());
    }

    #[test]
    fn who_kills_itself_hears_the_answer_first() {
        let mut client = Client::new();
        assert_eq!(client.says("CLIENT KILL ID 1 SKIPME no"), ":1\r\n");
        assert_eq!(client.after, After::Close);
        let mut client = Client::new();
        assert_eq!(client.says("CLIENT KILL 127.0.0.1:50000"), "+OK\r\n");
        assert_eq!(client.after, After::Close);
    }
}
