//! What onetrip answers itself: everything about the connection, and what the whole has to say as one server.
//!
//! [`answer`] is the one place where an [`Local`] of the command table meets the function that answers it. Every
//! function here is plain: arguments, session and facts in, bytes out; no socket, no clock. Replies are those of a
//! real server, byte for byte, in the version of the protocol that the client speaks; arguments may be anything at
//! all, so they are read with `get` and echoed only through `resp::write`.
//!
//! connection: HELLO, AUTH and what else changes the session · client: CLIENT on oneself · clients, kill: CLIENT on all ·
//! server: TIME, ROLE … · config: CONFIG GET · commands: COMMAND · help: every HELP.

mod client;
mod clients;
mod commands;
mod config;
mod connection;
mod glob;
mod help;
mod kill;
mod server;

pub use config::Settings;

use super::directory::Directory;
use crate::command::Local;
use crate::resp::{request::Args, write};
use crate::session::Session;
use bytes::BytesMut;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

/// What a worker knows that answers are made of. Built once; only the time moves on.
pub struct Facts {
    /// The server version that clients are told.
    pub version: Version,
    /// Unix time, microseconds; set once a turn.
    pub now_us: Cell<u64>,
    /// What clients must give; `None` where no password is asked for.
    pub password: Option<Box<[u8]>>,
    pub directory: Arc<Directory>,
    pub settings: Arc<Settings>,
}

impl Facts {
    pub fn now_ms(&self) -> u64 {
        self.now_us.get() / 1000
    }
}

/// A server version that becomes known, and may change, while clients are served. Read by a few commands only.
#[derive(Clone)]
pub struct Version(Arc<Mutex<Arc<str>>>);

impl From<&str> for Version {
    fn from(text: &str) -> Version {
        Version(Arc::new(Mutex::new(text.into())))
    }
}

impl Version {
    pub fn get(&self) -> Arc<str> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn set(&self, text: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
    }
}

/// What becomes of the connection when the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Continue,
    /// Nothing that the client sent behind this request is looked at.
    Close,
}

/// Answers one request that the table hands to onetrip itself. At most one reply is appended to `out`, and none
/// only where the client is not to get one (CLIENT REPLY OFF, SKIP).
pub fn answer(op: Local, args: Args<'_>, session: &mut Session, facts: &Facts, out: &mut BytesMut) -> After {
    let proto = session.proto();
    match op {
        Local::Ping => connection::ping(args, out),
        Local::Echo => connection::echo(args, out),
        Local::Hello => connection::hello(args, session, facts, out),
        Local::Auth => connection::auth(args, session, facts, out),
        Local::Select => connection::select(args, out),
        Local::Reset => connection::reset(session, facts, out),
        Local::Quit => {
            ok(out);
            return After::Close;
        }
        Local::ReadOnly | Local::ReadWrite | Local::Unwatch => ok(out),
        Local::Asking | Local::Cluster => write::error(out, server::NO_CLUSTER),
        Local::Time => server::time(facts, out),
        Local::Role => server::role(out),
        Local::Lolwut => server::lolwut(args, proto, facts, out),
        Local::Command => commands::all(proto, out),
        Local::CommandCount => commands::count(out),
        Local::CommandDocs => commands::docs(args, proto, out),
        Local::CommandInfo => commands::info(args, proto, out),
        Local::CommandList => commands::list(args, out),
        Local::CommandGetKeys => commands::get_keys(args, out),
        Local::CommandGetKeysAndFlags => commands::get_keys_and_flags(args, proto, out),
        Local::CommandHelp => help::write(out, help::COMMAND),
        Local::ClientId => write::integer(out, session.id() as i64),
        Local::ClientInfo => clients::info(session, facts, out),
        Local::ClientList => clients::list(args, session, facts, out),
        Local::ClientKill => return kill::kill(args, session, facts, out),
        Local::ClientGetName => client::get_name(session, out),
        Local::ClientSetName => client::set_name(args, session, facts, out),
        Local::ClientSetInfo => client::set_info(args, session, facts, out),
        Local::ClientReply => client::reply(args, session, out),
        Local::ClientNoEvict => client::no_evict(args, session, out),
        Local::ClientNoTouch => client::no_touch(args, session, out),
        Local::ClientTracking => client::tracking(args, facts, out),
        Local::ClientTrackingInfo => client::tracking_info(proto, out),
        Local::ClientGetRedir => write::integer(out, -1),
        Local::ClientCapa => ok(out),
        Local::AclWhoAmI => write::bulk(out, b"default"),
        Local::ClientHelp => help::write(out, help::CLIENT),
        Local::ConfigHelp => help::write(out, help::CONFIG),
    }
    After::Continue
}

const SYNTAX: &str = "ERR syntax error";
const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";

fn ok(out: &mut BytesMut) {
    write::simple(out, "OK");
}

/// Argument `i`, or nothing where there is none: the table has checked the count, hostile input may not have been.
fn arg(args: Args<'_>, i: usize) -> &[u8] {
    args.get(i).unwrap_or_default()
}

/// An error line that quotes what the client sent: at most 128 bytes of it.
fn quoting(out: &mut BytesMut, before: &str, quoted: &[u8], after: &str) {
    let quoted = &quoted[..quoted.len().min(128)];
    write::error_bytes(out, &[before.as_bytes(), quoted, after.as_bytes()].concat());
}

#[cfg(test)]
mod testing;
