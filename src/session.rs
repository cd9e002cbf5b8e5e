//! What one client may send now: its protocol version, whether it has authenticated, what it calls itself.
//!
//! The session decides before anything is planned: [`Session::admit`] turns away strangers (clients that owe a
//! password) and commands that this version has not or that no proxy should pass on, each with a text that says
//! what works instead. Everything a client may change about itself goes through a method here, so that an answer
//! given in `client/local` can't leave a session half changed.
//!
//! Must stay small: an idle client costs its session for as long as it is connected, so what few clients have
//! (names) is behind one pointer. Never reads a clock and never knows how replies travel.

use crate::command::errors::ONE_DATABASE;
use crate::command::{Handling, Local, Missing, Refusal, Spec, SpecId};
use crate::limits;
use crate::resp::{Proto, request::Args};
use crate::trip::{NANOS_PER_MS, Nanos};

/// Numbered databases that a client may name; only database 0 is served.
pub const DATABASES: i64 = 16;

/// What is sent to a client that has not authenticated.
pub const NOAUTH: &str = "NOAUTH Authentication required.";

/// What EXEC says of a block in which something was refused.
const EXECABORT: &str = "EXECABORT Transaction discarded because of previous errors.";
const IN_REFUSED_BLOCK: &str =
    "ERR onetrip: not executed, because the MULTI before it was refused; DISCARD ends the block";

/// The protocol state of one client.
pub struct Session {
    id: u64,
    created_ms: u64,
    active_ms: u64,
    commands: u64,
    names: Option<Box<Names>>,
    last: SpecId,
    proto: Proto,
    replies: Replies,
    authenticated: bool,
    no_evict: bool,
    no_touch: bool,
    /// When a MULTI was refused whose block has not ended; 0: there is none.
    refused_multi: Nanos,
}

/// What a client has told about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub name: Box<[u8]>,
    pub lib_name: Box<[u8]>,
    pub lib_ver: Box<[u8]>,
}

/// Which of its names a client sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Client,
    LibName,
    LibVer,
}

/// A name with blanks or unprintable bytes: CLIENT LIST could not be read with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName;

/// Which replies the client wants to see (CLIENT REPLY).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Replies {
    #[default]
    On,
    Off,
    /// This request's reply and the next one's are dropped.
    SkipTwo,
    SkipOne,
}

/// Whether a request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    Pass,
    /// Answered with this error line (without its `-`); the client stays connected.
    Refuse(&'static str),
}

impl Session {
    /// A client that has just connected. `authenticated` is true where no password is asked for.
    pub fn new(id: u64, authenticated: bool, now_ms: u64) -> Session {
        Session {
            id,
            created_ms: now_ms,
            active_ms: now_ms,
            commands: 0,
            names: None,
            last: SpecId(u16::MAX),
            proto: Proto::Resp2,
            replies: Replies::On,
            authenticated,
            no_evict: false,
            no_touch: false,
            refused_multi: 0,
        }
    }

    /// May a request of this row be planned or answered? Asked of every request, before anything else.
    #[inline]
    pub fn admit(&mut self, spec: &Spec, now: Nanos) -> Admit {
        if !self.authenticated && !open_to_strangers(spec.handling) {
            return Admit::Refuse(NOAUTH);
        }
        if self.refused_multi != 0
            && let Some(text) = self.in_refused_block(spec, now)
        {
            return Admit::Refuse(text);
        }
        match spec.handling {
            Handling::Missing(Missing::Transactions) => {
                self.refused_multi = if spec.name == "multi" { now.max(1) } else { 0 };
                Admit::Refuse(missing(Missing::Transactions))
            }
            Handling::Missing(what) => Admit::Refuse(missing(what)),
            Handling::Refuse(why) => Admit::Refuse(refusal(why)),
            _ => Admit::Pass,
        }
    }

    /// What is said to the commands behind a refused MULTI. They were sent to be executed together or not at all, by a
    /// client that may not have seen the refusal, so none is; EXEC and DISCARD end the block, and so does a while.
    #[cold]
    fn in_refused_block(&mut self, spec: &Spec, now: Nanos) -> Option<&'static str> {
        match spec.name {
            "exec" => {
                self.refused_multi = 0;
                Some(EXECABORT)
            }
            "discard" | "reset" | "quit" => {
                self.refused_multi = 0;
                None
            }
            _ if now > self.refused_multi + limits::REFUSED_BLOCK_MS * NANOS_PER_MS => {
                self.refused_multi = 0;
                None
            }
            _ => Some(IN_REFUSED_BLOCK),
        }
    }

    /// Whether the reply of the request that was just decided is dropped. Asked once of every request, after it
    /// was answered here or planned, because CLIENT REPLY ON is heard and CLIENT REPLY OFF is not.
    #[inline]
    pub fn drops_reply(&mut self) -> bool {
        match self.replies {
            Replies::On => return false,
            Replies::Off => {}
            Replies::SkipTwo => self.replies = Replies::SkipOne,
            Replies::SkipOne => self.replies = Replies::On,
        }
        true
    }

    /// Notes a batch: its last command, how many there were, and when (Unix time).
    #[inline]
    pub fn ran(&mut self, last: SpecId, commands: u64, now_ms: u64) {
        self.last = last;
        self.commands += commands;
        self.active_ms = now_ms;
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    #[inline]
    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// From here on replies are in this version; those owed already are not touched by it.
    pub fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
    }

    #[inline]
    pub fn authenticated(&self) -> bool {
        self.authenticated
    }

    pub fn set_authenticated(&mut self) {
        self.authenticated = true;
    }

    pub fn created_ms(&self) -> u64 {
        self.created_ms
    }

    pub fn active_ms(&self) -> u64 {
        self.active_ms
    }

    /// Commands so far.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    /// The row of the last command; `None` before the first.
    pub fn last(&self) -> Option<SpecId> {
        (self.last.0 != u16::MAX).then_some(self.last)
    }

    /// What the client calls itself; empty where it has not said.
    pub fn name(&self) -> &[u8] {
        self.names.as_ref().map_or(&[], |names| &names.name)
    }

    pub fn names(&self) -> Option<&Names> {
        self.names.as_deref()
    }

    pub fn set_name(&mut self, which: Name, text: &[u8]) -> Result<(), BadName> {
        if !text.iter().all(|b| (b'!'..=b'~').contains(b)) {
            return Err(BadName);
        }
        if text.is_empty() && self.names.is_none() {
            return Ok(());
        }
        let names = self.names.get_or_insert_default();
        let field = match which {
            Name::Client => &mut names.name,
            Name::LibName => &mut names.lib_name,
            Name::LibVer => &mut names.lib_ver,
        };
        *field = text.into();
        Ok(())
    }

    pub fn set_replies_on(&mut self) {
        self.replies = Replies::On;
    }

    pub fn set_replies_off(&mut self) {
        self.replies = Replies::Off;
    }

    /// Drops the reply of this request and of the next one; nothing new to a client that hears none at all.
    pub fn skip_next_reply(&mut self) {
        if self.replies != Replies::Off {
            self.replies = Replies::SkipTwo;
        }
    }

    pub fn no_evict(&self) -> bool {
        self.no_evict
    }

    pub fn set_no_evict(&mut self, on: bool) {
        self.no_evict = on;
    }

    pub fn no_touch(&self) -> bool {
        self.no_touch
    }

    pub fn set_no_touch(&mut self, on: bool) {
        self.no_touch = on;
    }

    /// RESET: as if just connected, but for the id, the age and the library's name, as servers have it.
    pub fn reset(&mut self, authenticated: bool) {
        self.proto = Proto::Resp2;
        self.replies = Replies::On;
        self.authenticated = authenticated;
        self.no_evict = false;
        self.no_touch = false;
        self.refused_multi = 0;
        if let Some(names) = &mut self.names {
            names.name = Box::default();
        }
    }
}

/// What a client may send that owes a password.
fn open_to_strangers(handling: Handling) -> bool {
    matches!(handling, Handling::Local(Local::Auth | Local::Hello | Local::Quit | Local::Reset))
}

/// The error line for a feature that this version has not.
pub fn missing(what: Missing) -> &'static str {
    match what {
        Missing::Transactions => {
            "ERR onetrip: MULTI, EXEC, DISCARD and WATCH are not in this version; a pipeline keeps the order of the commands on a key"
        }
        Missing::Blocking => "ERR onetrip: commands that block or wait are not in this version yet",
        Missing::PubSub => "ERR onetrip: publish and subscribe are not in this version yet",
        Missing::Scripts => "ERR onetrip: scripts and functions are not in this version yet",
        Missing::Tracking => {
            "ERR onetrip: client-side caching is not in this version; only CLIENT TRACKING OFF is accepted"
        }
        Missing::ClientControl => {
            "ERR onetrip: pausing clients is not in this version; CLIENT KILL closes them"
        }
        Missing::Databases => ONE_DATABASE,
        Missing::SessionState => {
            "ERR onetrip: commands that prepare something in one connection are not in this version yet"
        }
        Missing::OverShards => {
            "ERR onetrip: this command is not in this version yet: all shards would have to answer it together"
        }
    }
}

/// The error line for what no proxy passes on.
pub fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::Administration => "ERR onetrip: commands that run a server are not passed on to shards",
        Refusal::Replication => "ERR onetrip: replication is between servers, and clients have no part in it",
        Refusal::MovesKeys => "ERR onetrip: this would move keys to where they are not looked for",
        Refusal::Debugging => "ERR onetrip: commands that debug a server are not passed on to shards",
    }
}

/// Whether a request is the first or second line of an HTTP request: somebody makes a browser talk to us. Such a
/// client is closed without a reply, before anything in the body is taken for a command.
pub fn looks_like_http(args: Args<'_>) -> bool {
    args.get(0).is_some_and(|word| word.eq_ignore_ascii_case(b"post") || word.eq_ignore_ascii_case(b"host:"))
}

/// Compares a password in a time that depends on the length of what was offered and on nothing else.
pub fn same_secret(secret: &[u8], offered: &[u8]) -> bool {
    let mut difference = secret.len() ^ offered.len();
    for (i, &byte) in offered.iter().enumerate() {
        let against = secret.get(i % secret.len().max(1)).copied().unwrap_or(0);
        difference |= usize::from(std::hint::black_box(byte ^ against));
    }
    std::hint::black_box(difference) == 0
}

// The budget of an idle connection (README: 1,500 bytes in all) leaves this much for the session.
const _: () = assert!(size_of::<Session>() <= 64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{lookup, table};

    fn row(handling: Handling) -> Spec {
        Spec { handling, ..table::ROWS[0] }
    }

    #[test]
    fn strangers_may_only_authenticate_or_leave() {
        let mut session = Session::new(1, false, 0);
        for open in [Local::Auth, Local::Hello, Local::Quit, Local::Reset] {
            assert_eq!(session.admit(&row(Handling::Local(open)), 0), Admit::Pass);
        }
        let closed = [Handling::Forward, Handling::Local(Local::Ping), Handling::Missing(Missing::Scripts)];
        for handling in closed {
            assert_eq!(session.admit(&row(handling), 0), Admit::Refuse(NOAUTH));
        }
        session.set_authenticated();
        assert_eq!(session.admit(&row(Handling::Forward), 0), Admit::Pass);
        let Admit::Refuse(text) = session.admit(&row(Handling::Missing(Missing::Scripts)), 0) else {
            panic!("admitted");
        };
        assert!(text.starts_with("ERR onetrip: scripts"));
    }

    #[test]
    fn nothing_behind_a_refused_multi_is_executed() {
        let mut session = Session::new(1, true, 0);
        let mut says = |name: &str, ms: Nanos| {
            let spec = &table::ROWS[lookup::by_name(name).expect("a command").0 as usize];
            match session.admit(spec, ms * NANOS_PER_MS) {
                Admit::Pass => "",
                Admit::Refuse(text) => text,
            }
        };
        let transactions = missing(Missing::Transactions);
        assert_eq!(says("exec", 1), transactions);
        assert_eq!(says("incr", 1), "");
        assert_eq!(says("multi", 1), transactions);
        assert_eq!((says("incr", 1), says("ping", 900)), (IN_REFUSED_BLOCK, IN_REFUSED_BLOCK));
        assert_eq!((says("exec", 901), says("incr", 901)), (EXECABORT, ""));
        assert_eq!(
            (says("multi", 902), says("discard", 902), says("incr", 902)),
            (transactions, transactions, "")
        );
        // Who comes later has read the refusal.
        assert_eq!((says("multi", 903), says("incr", 1_904)), (transactions, ""));
    }

    #[test]
    fn skipping_drops_this_reply_and_the_next() {
        let mut session = Session::new(1, true, 0);
        assert!(!session.drops_reply());
        session.skip_next_reply();
        assert_eq!(
            [session.drops_reply(), session.drops_reply(), session.drops_reply()],
            [true, true, false]
        );
        session.set_replies_off();
        session.skip_next_reply();
        assert!(session.drops_reply() && session.drops_reply() && session.drops_reply());
        session.set_replies_on();
        assert!(!session.drops_reply());
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(same_secret(b"secret", b"secret"));
        assert!(!same_secret(b"secret", b"secre"));
        assert!(!same_secret(b"secret", b"secretsecret"));
        assert!(!same_secret(b"secret", b""));
        assert!(!same_secret(b"", b"x"));
        assert!(same_secret(b"", b""));
    }
}
