//! CLIENT, as far as it is about the client that asks: its names, which replies it wants, client-side caching.

use super::connection::BAD_NAME;
use super::{Facts, NOT_AN_INTEGER, SYNTAX, arg, ok, quoting};
use crate::command::Missing;
use crate::resp::request::{Args, parse_integer};
use crate::resp::{Proto, write};
use crate::session::{self, Name, Session};
use bytes::BytesMut;

pub(super) fn get_name(session: &Session, out: &mut BytesMut) {
    match session.name() {
        [] => write::null(out, session.proto()),
        name => write::bulk(out, name),
    }
}

pub(super) fn set_name(args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) {
    if session.set_name(Name::Client, arg(args, 2)).is_err() {
        return write::error(out, BAD_NAME);
    }
    facts.directory.show(session);
    ok(out);
}

/// CLIENT SETINFO LIB-NAME name, LIB-VER version
pub(super) fn set_info(args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) {
    let attribute = arg(args, 2);
    let which = if attribute.eq_ignore_ascii_case(b"lib-name") {
        Name::LibName
    } else if attribute.eq_ignore_ascii_case(b"lib-ver") {
        Name::LibVer
    } else {
        return quoting(out, "ERR Unrecognized option '", attribute, "'");
    };
    if session.set_name(which, arg(args, 3)).is_err() {
        let text = " cannot contain spaces, newlines or special characters.";
        return quoting(out, "ERR ", attribute, text);
    }
    facts.directory.show(session);
    ok(out);
}

/// CLIENT REPLY ON is answered; OFF and SKIP are not, nor is what follows them.
pub(super) fn reply(args: Args<'_>, session: &mut Session, out: &mut BytesMut) {
    let mode = arg(args, 2);
    if mode.eq_ignore_ascii_case(b"on") {
        session.set_replies_on();
        ok(out);
    } else if mode.eq_ignore_ascii_case(b"off") {
        session.set_replies_off();
    } else if mode.eq_ignore_ascii_case(b"skip") {
        session.skip_next_reply();
    } else {
        write::error(out, SYNTAX);
    }
}

pub(super) fn no_evict(args: Args<'_>, session: &mut Session, out: &mut BytesMut) {
    switch(args, out, |on| session.set_no_evict(on));
}

pub(super) fn no_touch(args: Args<'_>, session: &mut Session, out: &mut BytesMut) {
    switch(args, out, |on| session.set_no_touch(on));
}

fn switch(args: Args<'_>, out: &mut BytesMut, set: impl FnOnce(bool)) {
    match on_or_off(arg(args, 2)) {
        Some(on) => {
            set(on);
            ok(out);
        }
        None => write::error(out, SYNTAX),
    }
}

fn on_or_off(word: &[u8]) -> Option<bool> {
    if word.eq_ignore_ascii_case(b"on") {
        Some(true)
    } else if word.eq_ignore_ascii_case(b"off") {
        Some(false)
    } else {
        None
    }
}

/// CLIENT TRACKING OFF is what every client is in; ON is checked as a server would, and then not to be had.
pub(super) fn tracking(args: Args<'_>, facts: &Facts, out: &mut BytesMut) {
    if let Err(text) = tracking_options(args, facts) {
        return write::error(out, text);
    }
    match on_or_off(arg(args, 2)) {
        Some(false) => ok(out),
        Some(true) => write::error(out, session::missing(Missing::Tracking)),
        None => write::error(out, SYNTAX),
    }
}

fn tracking_options(args: Args<'_>, facts: &Facts) -> Result<(), &'static str> {
    let mut at = 3;
    while let Some(option) = args.get(at) {
        let value = args.get(at + 1);
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        at += match value {
            Some(id) if is(b"redirect") => {
                let id = parse_integer(id).ok_or(NOT_AN_INTEGER)?;
                if facts.directory.get(id as u64).is_none() {
                    return Err("ERR The client ID you want redirect to does not exist");
                }
                2
            }
            Some(_) if is(b"prefix") => 2,
            _ if is(b"bcast") || is(b"optin") || is(b"optout") || is(b"noloop") => 1,
            _ => return Err(SYNTAX),
        };
    }
    Ok(())
}

pub(super) fn tracking_info(proto: Proto, out: &mut BytesMut) {
    write::map(out, proto, 3);
    write::bulk(out, b"flags");
    write::set(out, proto, 1);
    write::bulk(out, b"off");
    write::bulk(out, b"redirect");
    write::integer(out, -1);
    write::bulk(out, b"prefixes");
    write::array(out, 0);
}
