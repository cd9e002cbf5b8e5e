//! CLIENT, as far as it is about all clients: INFO and LIST over the directory.
//!
//! A line has the fields of a server's own, in its order, because scripts cut it at blanks. What has no counterpart
//! here (query buffers, memory) is reported as zero, never guessed.

use super::{Facts, SYNTAX, arg, quoting};
use crate::client::directory::{Entry, Peer};
use crate::command::SpecId;
use crate::resp::request::{Args, parse_integer};
use crate::resp::write;
use crate::session::Session;
use bytes::BytesMut;

pub(super) fn info(session: &Session, facts: &Facts, out: &mut BytesMut) {
    facts.directory.show(session);
    let mut text = String::new();
    if let Some(entry) = facts.directory.get(session.id()) {
        line(&mut text, &entry, Some("client|info"), facts.now_ms());
    }
    write::verbatim(out, session.proto(), &text);
}

/// CLIENT LIST [TYPE type] [ID id …]
pub(super) fn list(args: Args<'_>, session: &Session, facts: &Facts, out: &mut BytesMut) {
    facts.directory.show(session);
    let wanted = match listed(args) {
        Ok(wanted) => wanted,
        Err(fault) => return fault.write(out),
    };
    let mut text = String::new();
    for entry in facts.directory.all() {
        let own = entry.id == session.id();
        if wanted.holds(&entry) {
            let running = own.then_some("client|list");
            line(&mut text, &entry, running, facts.now_ms());
        }
    }
    write::verbatim(out, session.proto(), &text);
}

/// Which clients CLIENT LIST shows.
enum Listed {
    All,
    Ids(Vec<i64>),
    /// A type that no client of a proxy has.
    None,
}

impl Listed {
    fn holds(&self, entry: &Entry) -> bool {
        match self {
            Listed::All => true,
            Listed::Ids(ids) => ids.contains(&(entry.id as i64)),
            Listed::None => false,
        }
    }
}

fn listed(args: Args<'_>) -> Result<Listed, Fault<'_>> {
    let is = |word: &[u8]| arg(args, 2).eq_ignore_ascii_case(word);
    match args.len() {
        0..=2 => Ok(Listed::All),
        4 if is(b"type") => match normal(args.at(3))? {
            true => Ok(Listed::All),
            false => Ok(Listed::None),
        },
        n if n > 3 && is(b"id") => args
            .iter()
            .skip(3)
            .map(|id| parse_integer(id).ok_or(Fault::Text("ERR Invalid client ID")))
            .collect::<Result<_, _>>()
            .map(Listed::Ids),
        _ => Err(Fault::Text(SYNTAX)),
    }
}

/// Whether a type of client is the one that all of ours are.
pub(super) fn normal(kind: &[u8]) -> Result<bool, Fault<'_>> {
    let is = |word: &[u8]| kind.eq_ignore_ascii_case(word);
    if is(b"normal") {
        Ok(true)
    } else if is(b"master") || is(b"replica") || is(b"slave") || is(b"pubsub") {
        Ok(false)
    } else {
        Err(Fault::UnknownType(kind))
    }
}

/// What is wrong with a request, quoting its argument.
pub(super) enum Fault<'a> {
    Text(&'static str),
    UnknownType(&'a [u8]),
    UnknownUser(&'a [u8]),
}

impl Fault<'_> {
    pub(super) fn write(self, out: &mut BytesMut) {
        match self {
            Fault::Text(text) => write::error(out, text),
            Fault::UnknownType(kind) => quoting(out, "ERR Unknown client type '", kind, "'"),
            Fault::UnknownUser(user) => quoting(out, "ERR No such user '", user, "'"),
        }
    }
}

/// One client's line; `running` is the command that this very client is in.
fn line(text: &mut String, entry: &Entry, running: Option<&str>, now_ms: u64) {
    use std::fmt::Write;
    let seen = entry.seen();
    let names = entry.names();
    let printable = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let idle_ms = match running {
        Some(_) => 0,
        None => now_ms.saturating_sub(seen.active_ms),
    };
    // Writing to a String can't fail.
    let _ = writeln!(
        text,
        "id={} addr={} laddr={} fd=-1 name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 \
         qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} \
         user=default redir=-1 resp={} lib-name={} lib-ver={} tot-cmds={}",
        entry.id,
        entry.peer,
        entry.local,
        printable(&names.name),
        now_ms.saturating_sub(entry.created_ms) / 1000,
        idle_ms / 1000,
        flags(entry),
        running.unwrap_or_else(|| seen.last.map_or("NULL", command)),
        seen.proto.number(),
        printable(&names.lib_name),
        printable(&names.lib_ver),
        seen.commands,
    );
}

fn flags(entry: &Entry) -> String {
    let seen = entry.seen();
    let unix = matches!(entry.peer, Peer::Unix(_));
    let letters: String = [(unix, 'U'), (seen.no_evict, 'e'), (seen.no_touch, 'T')]
        .iter()
        .filter(|(on, _)| *on)
        .map(|&(_, letter)| letter)
        .collect();
    if letters.is_empty() { "N".to_owned() } else { letters }
}

fn command(id: SpecId) -> &'static str {
    id.spec().name
}

#[cfg(test)]
mod tests {
    use super::super::testing::Client;

    #[test]
    fn a_client_has_a_line_that_scripts_can_cut() {
        let mut client = Client::new();
        client.says("CLIENT SETNAME web");
        client.says("CLIENT NO-EVICT on");
        assert_eq!(
            client.says("CLIENT INFO"),
            "$292\r\nid=1 addr=127.0.0.1:50000 laddr=127.0.0.1:6380 fd=-1 name=web age=5 idle=0 flags=e db=0 sub=0 \
             psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 \
             tot-mem=0 events=r cmd=client|info user=default redir=-1 resp=2 lib-name= lib-ver= tot-cmds=0\n\r\n"
        );
    }

    #[test]
    fn lists_show_all_or_some() {
        let mut one = Client::new().resp3();
        let mut two = Client::beside(one.directory());
        two.says("CLIENT SETNAME two");
        let lines = |reply: String| reply.lines().filter(|line| line.contains("id=")).count();
        assert_eq!(lines(one.says("CLIENT LIST")), 2);
        assert_eq!(lines(one.says("CLIENT LIST TYPE normal")), 2);
        assert_eq!(one.says("CLIENT LIST TYPE pubsub"), "=4\r\ntxt:\r\n");
        let second = one.says("CLIENT LIST ID 2 7");
        assert!(second.starts_with('=') && second.contains("name=two ") && lines(second) == 1);
        assert_eq!(one.says("CLIENT LIST ID a"), "-ERR Invalid client ID\r\n");
        assert_eq!(one.says("CLIENT LIST TYPE foo"), "-ERR Unknown client type 'foo'\r\n");
        assert_eq!(one.says("CLIENT LIST foo bar"), "-ERR syntax error\r\n");
    }
}
