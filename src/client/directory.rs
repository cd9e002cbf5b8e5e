//! Who is connected, over all workers: what CLIENT LIST and INFO show and CLIENT KILL reaches.
//!
//! One lock for the map, taken when a client comes, leaves, changes its name, or somebody asks: never per command.
//! What changes with every batch (last command, time, count) lies in the client's own entry as plain relaxed
//! stores by its worker, so that a list shows every client as it was a turn ago.
//!
//! ```text
//!   worker 1: Registration ─► Entry ◄─ Directory ─► Entry ◄─ Registration :worker 2
//!                  store once a turn │ CLIENT LIST reads, CLIENT KILL wakes
//! ```
//!
//! A kill is a flag and a wake: the connection's own task closes it, because only that task may touch its socket.

use crate::command::SpecId;
use crate::resp::Proto;
use crate::session::{Names, Session};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// An end of a client's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    Tcp(SocketAddr),
    /// The path of the listening socket, for both ends, as servers show it.
    Unix(Arc<str>),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Tcp(address) => address.fmt(f),
            Peer::Unix(path) => write!(f, "{path}:0"),
        }
    }
}

/// All clients of all workers.
#[derive(Default)]
pub struct Directory {
    clients: Mutex<BTreeMap<u64, Arc<Entry>>>,
    entered: AtomicU64,
}

/// One client, as others see it.
pub struct Entry {
    pub id: u64,
    pub created_ms: u64,
    pub peer: Peer,
    pub local: Peer,
    names: Mutex<Option<Box<Names>>>,
    active_ms: AtomicU64,
    commands: AtomicU64,
    /// Last command's row, protocol version, flags: see [`Seen`].
    state: AtomicU32,
    kill: KillSwitch,
}

/// What an entry said when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub active_ms: u64,
    pub commands: u64,
    pub last: Option<SpecId>,
    pub proto: Proto,
    pub no_evict: bool,
    pub no_touch: bool,
}

/// A client's place in the directory, for as long as it is connected.
pub struct Registration {
    directory: Arc<Directory>,
    entry: Arc<Entry>,
}

const NO_COMMAND: u32 = 0xffff;
const RESP3: u32 = 1 << 16;
const NO_EVICT: u32 = 1 << 17;
const NO_TOUCH: u32 = 1 << 18;

impl Directory {
    /// Enters a client under a number that no other client has had.
    pub fn enter(self: &Arc<Directory>, peer: Peer, local: Peer, now_ms: u64) -> Registration {
        let id = self.entered.fetch_add(1, Relaxed) + 1;
        let entry = Arc::new(Entry {
            id,
            created_ms: now_ms,
            peer,
            local,
            names: Mutex::new(None),
            active_ms: AtomicU64::new(now_ms),
            commands: AtomicU64::new(0),
            state: AtomicU32::new(NO_COMMAND),
            kill: KillSwitch::default(),
        });
        locked(&self.clients).insert(id, entry.clone());
        Registration { directory: self.clone(), entry }
    }

    /// Clients connected now.
    pub fn len(&self) -> usize {
        locked(&self.clients).len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Clients that have ever come.
    pub fn entered(&self) -> u64 {
        self.entered.load(Relaxed)
    }

    pub fn get(&self, id: u64) -> Option<Arc<Entry>> {
        locked(&self.clients).get(&id).cloned()
    }

    /// All clients, oldest first.
    pub fn all(&self) -> Vec<Arc<Entry>> {
        locked(&self.clients).values().cloned().collect()
    }

    /// Makes a session's present state visible, its names too.
    pub fn show(&self, session: &Session) {
        if let Some(entry) = self.get(session.id()) {
            entry.note(session);
            *locked(&entry.names) = session.names().cloned().map(Box::new);
        }
    }
}

impl Entry {
    /// Makes a session's present state visible, but for its names.
    fn note(&self, session: &Session) {
        let mut state = session.last().map_or(NO_COMMAND, |id| u32::from(id.0));
        for (bit, on) in [
            (RESP3, session.proto() == Proto::Resp3),
            (NO_EVICT, session.no_evict()),
            (NO_TOUCH, session.no_touch()),
        ] {
            state |= if on { bit } else { 0 };
        }
        self.state.store(state, Relaxed);
        self.commands.store(session.commands(), Relaxed);
        self.active_ms.store(session.active_ms(), Relaxed);
    }

    pub fn seen(&self) -> Seen {
        let state = self.state.load(Relaxed);
        let last = state & NO_COMMAND;
        Seen {
            active_ms: self.active_ms.load(Relaxed),
            commands: self.commands.load(Relaxed),
            last: (last != NO_COMMAND).then_some(SpecId(last as u16)),
            proto: if state & RESP3 == 0 { Proto::Resp2 } else { Proto::Resp3 },
            no_evict: state & NO_EVICT != 0,
            no_touch: state & NO_TOUCH != 0,
        }
    }

    pub fn names(&self) -> Names {
        locked(&self.names).as_deref().cloned().unwrap_or_default()
    }

    /// Asks the client's connection to close.
    pub fn kill(&self) {
        self.kill.pull();
    }
}

impl Registration {
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Once a turn: makes the session's present state visible to the other clients.
    #[inline]
    pub fn note(&self, session: &Session) {
        self.entry.note(session);
    }

    /// Whether this client was killed. When it will be, `waker` is woken.
    pub fn killed(&self, waker: &Waker) -> bool {
        self.entry.kill.pulled_or_wake(waker)
    }

    /// Whether this client was killed, without asking to be woken.
    #[inline]
    pub fn is_killed(&self) -> bool {
        self.entry.kill.pulled.load(Relaxed)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        locked(&self.directory.clients).remove(&self.entry.id);
    }
}

/// A flag that another thread sets, and the task to wake when it does.
#[derive(Default)]
struct KillSwitch {
    pulled: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl KillSwitch {
    fn pull(&self) {
        let mut waker = locked(&self.waker);
        // Set under the lock, so that it can't fall between a look at the flag and the waker being left.
        self.pulled.store(true, Relaxed);
        if let Some(waker) = waker.take() {
            waker.wake();
        }
    }

    fn pulled_or_wake(&self, waker: &Waker) -> bool {
        let mut left = locked(&self.waker);
        if !left.as_ref().is_some_and(|left| left.will_wake(waker)) {
            *left = Some(waker.clone());
        }
        self.pulled.load(Relaxed)
    }
}

/// A lock whose holders can't leave what it guards half changed, so a holder's panic is no reason to stop.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Name;
    use std::task::Wake;

    fn unix() -> Peer {
        Peer::Unix("/run/onetrip.sock".into())
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Woken>) {
            self.0.store(true, Relaxed);
        }
    }

    #[test]
    fn a_client_is_listed_while_it_is_connected() {
        let directory = Arc::new(Directory::default());
        let first = directory.enter(unix(), unix(), 5);
        let second = directory.enter(unix(), unix(), 6);
        assert_ne!(first.id(), second.id());
        let mut session = Session::new(second.id(), true, 6);
        session.set_proto(Proto::Resp3);
        session.set_name(Name::Client, b"web").unwrap();
        session.ran(SpecId(9), 3, 77);
        directory.show(&session);
        let entry = directory.get(second.id()).unwrap();
        assert_eq!(&*entry.names().name, b"web");
        let seen = entry.seen();
        assert_eq!(
            (seen.last, seen.commands, seen.active_ms, seen.proto),
            (Some(SpecId(9)), 3, 77, Proto::Resp3)
        );
        drop(second);
        assert_eq!((directory.len(), directory.entered()), (1, 2));
        assert!(directory.get(first.id()).is_some());
    }

    #[test]
    fn a_kill_wakes_the_connection_that_waits_for_it() {
        let directory = Arc::new(Directory::default());
        let client = directory.enter(unix(), unix(), 0);
        let woken = Arc::new(Woken::default());
        assert!(!client.killed(&woken.clone().into()));
        directory.get(client.id()).unwrap().kill();
        assert!(woken.0.load(Relaxed));
        assert!(client.is_killed() && client.killed(Waker::noop()));
    }
}
