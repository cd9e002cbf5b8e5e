//! One worker: one thread, one current-thread runtime, its own clients and its own lanes.
//!
//! Nothing on the path of a command is shared with another worker, so there is no lock and no hop between threads. A
//! worker meets the rest of the process in three places only: clients come through its door, the control thread
//! tells it to end, and its counters are read by whoever scrapes.

use crate::address::Secret;
use crate::address::Target;
use crate::client::accept::{Arrival, Door, Stream};
use crate::client::budget::Budget;
use crate::client::connection::Connection;
use crate::client::conversation::Conversation;
use crate::client::directory::Directory;
use crate::client::local::{Facts, Settings, Version};
use crate::client::world::World;
use crate::clock;
use crate::lane::LaneLimits;
use crate::lane::embedded::{Embedded, Meaning};
use crate::lane::remote::Remote;
use crate::lane::set::LaneSet;
use crate::limits::{Limits, Timeouts};
use crate::mailbox;
use crate::metrics::{Listener, WorkerMetrics};
use crate::reassembly::merge::info::Own;
use crate::session::Session;
use crate::socket::Socket;
use crate::topology::SlotMap;
use crate::turn::Tools;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{mpsc, watch};

/// Clients that may wait for a worker to take them in.
const ARRIVALS: usize = 1_024;

/// Where a worker is in its life; only goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    Serving,
    /// New commands are refused, replies owed are still delivered.
    Closing,
    Over,
}

/// What a worker is started with.
#[derive(Clone)]
pub struct Setup {
    pub index: usize,
    pub map: Arc<SlotMap>,
    pub shards: Arc<[Source]>,
    pub timeouts: Timeouts,
    pub limits: Limits,
    pub idle: Option<Duration>,
    pub known: Known,
    pub directory: Arc<Directory>,
    pub metrics: Arc<WorkerMetrics>,
    /// The counters of all workers, this one's among them.
    pub workers: Arc<[Arc<WorkerMetrics>]>,
    pub life: watch::Receiver<Life>,
}

/// What stands behind a shard's number.
#[derive(Clone)]
pub enum Source {
    /// A server that somebody else runs.
    Remote(Target),
    /// An engine thread of this process.
    Embedded(mailbox::Door<Meaning>),
}

impl Source {
    fn address(&self) -> String {
        match self {
            Source::Remote(target) => target.address.to_string(),
            Source::Embedded(_) => "embedded".to_owned(),
        }
    }
}

/// What the answers that are given here are made of; the same for all workers.
#[derive(Clone)]
pub struct Known {
    /// What clients must give before anything else.
    pub password: Option<Secret>,
    pub settings: Arc<Settings>,
    pub version: Version,
    pub own: Own,
    /// Unix milliseconds.
    pub started_ms: u64,
}

/// A running worker.
pub struct Worker {
    pub door: Door,
    thread: std::thread::JoinHandle<()>,
}

impl Worker {
    pub fn start(setup: Setup) -> io::Result<Worker> {
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        let door = Door { arrivals: sender, clients: Arc::new(AtomicUsize::new(0)) };
        let clients = Arc::clone(&door.clients);
        let thread = std::thread::Builder::new().name(format!("worker-{}", setup.index));
        let thread = thread.spawn(move || run(setup, arrivals, clients))?;
        Ok(Worker { door, thread })
    }

    /// Waits for the end of the worker's thread.
    pub fn join(self) {
        if self.thread.join().is_err() {
            tracing::error!("a worker ended in a panic");
        }
    }
}

fn run(setup: Setup, arrivals: mpsc::Receiver<Arrival>, clients: Arc<AtomicUsize>) {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().on_thread_unpark(clock::begin_turn);
    match builder.build_local(LocalOptions::default()) {
        Ok(runtime) => runtime.block_on(serve(setup, arrivals, clients)),
        Err(error) => tracing::error!(%error, "a worker has no runtime"),
    }
}

async fn serve(setup: Setup, mut arrivals: mpsc::Receiver<Arrival>, clients: Arc<AtomicUsize>) {
    let world = Rc::new(world(&setup));
    for lane in world.lanes.iter() {
        let (owned, tools) = (Rc::clone(lane), Rc::clone(&world.tools));
        match &setup.shards[lane.borrow().shard.index()] {
            Source::Remote(target) => {
                let remote = Remote::new(owned, tools, Rc::new(target.clone()), setup.timeouts);
                tokio::task::spawn_local(remote.run());
            }
            Source::Embedded(door) => {
                let port = door.port(setup.limits.lane_bytes);
                tokio::task::spawn_local(Embedded::new(owned, tools, port).run());
            }
        }
    }
    let mut life = setup.life.clone();
    loop {
        tokio::select! {
            arrival = arrivals.recv() => match arrival {
                Some(arrival) => welcome(arrival, &setup, &world, &clients),
                None => return,
            },
            changed = life.changed() => {
                let now = *life.borrow_and_update();
                world.closing.set(now >= Life::Closing);
                if now == Life::Over || changed.is_err() {
                    return;
                }
            }
        }
    }
}

fn world(setup: &Setup) -> World {
    let addresses: Vec<Rc<str>> = setup.shards.iter().map(|source| source.address().into()).collect();
    let limits = LaneLimits::new(&setup.timeouts, setup.limits.lane_bytes);
    World {
        tools: Rc::new(Tools::new(Arc::clone(&setup.metrics))),
        lanes: LaneSet::new(&addresses, &limits),
        map: Arc::clone(&setup.map),
        facts: Facts {
            version: setup.known.version.clone(),
            now_us: Cell::new(0),
            password: setup.known.password.as_ref().map(|secret| secret.expose().as_bytes().into()),
            directory: Arc::clone(&setup.directory),
            settings: Arc::clone(&setup.known.settings),
        },
        own: setup.known.own.clone(),
        started_ms: setup.known.started_ms,
        limits: Rc::new(setup.limits.client),
        budget: Budget::new(setup.limits.memory_total, setup.index, Arc::clone(&setup.workers)),
        handshake: setup.timeouts.handshake,
        idle: setup.idle,
        decoder: RefCell::default(),
        positions: RefCell::default(),
        strangers: Cell::default(),
        closing: Cell::new(false),
    }
}

/// Makes an arrival a client of this worker: a task of its own until it leaves.
fn welcome(arrival: Arrival, setup: &Setup, world: &Rc<World>, clients: &Arc<AtomicUsize>) {
    let departure = Departure(Arc::clone(clients));
    let kind = arrival.listener();
    let metrics = Arc::clone(&setup.metrics);
    let (peer, local) = (arrival.peer.clone(), arrival.local.clone());
    let socket = match arrival.stream {
        Stream::Tcp(stream) => TcpStream::from_std(stream).map(Socket::Tcp),
        Stream::Unix(stream) => UnixStream::from_std(stream).map(Socket::Unix),
    };
    let socket = match socket {
        Ok(socket) => socket,
        Err(error) => return tracing::warn!(%error, "a client's socket can't be served"),
    };
    let now_ms = world.tools.unix_us() / 1_000;
    let registration = setup.directory.enter(peer, local, now_ms);
    let session = Session::new(registration.id(), world.facts.password.is_none(), now_ms);
    let conversation = Conversation::new(session, world);
    let connection = Connection::new(socket, conversation, registration, Rc::clone(world));
    metrics.connections[kind].add(1);
    metrics.connections_total[kind].add(1);
    tokio::task::spawn_local(Visit { connection, metrics, kind, _departure: departure });
}

/// A client's task: its connection, counted while it lasts. A hand-written future, since an async block would hold
/// the connection twice, and an idle client is little more than this.
struct Visit {
    connection: Connection,
    metrics: Arc<WorkerMetrics>,
    kind: Listener,
    _departure: Departure,
}

impl Future for Visit {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let reason = ready!(Pin::new(&mut self.connection).poll(cx));
        self.metrics.closed[reason].add(1);
        Poll::Ready(())
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.metrics.connections[self.kind].sub(1);
    }
}

/// Counts a client off when its task ends, however it does.
struct Departure(Arc<AtomicUsize>);

impl Drop for Departure {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
