//! CLIENT, as far as it is about all clients: INFO, LIST and KILL over the directory.
//!
//! A line has the fields of a server's own, in its order, because scripts cut it at blanks. What has no counterpart
//! here (query buffers, memory) is reported as zero, never guessed.

use super::{After, Facts, SYNTAX, arg, ok, quoting};
use crate::client::directory::{Entry, Peer};
use crate::command::SpecId;
use crate::resp::request::{Args, parse_integer};
use crate::resp::write;
use crate::session::Session;
use bytes::BytesMut;
use std::sync::Arc;

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
fn normal(kind: &[u8]) -> Result<bool, Fault<'_>> {
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
enum Fault<'a> {
    Text(&'static str),
    UnknownType(&'a [u8]),
    UnknownUser(&'a [u8]),
}

impl Fault<'_> {
    fn write(self, out: &mut BytesMut) {
        match self {
            Fault::Text(text) => write::error(out, text),
            Fault::UnknownType(kind) => quoting(out, "ERR Unknown client type '", kind, "'"),
            Fault::UnknownUser(user) => quoting(out, "ERR No such user '", user, "'"),
        }
    }
}

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
