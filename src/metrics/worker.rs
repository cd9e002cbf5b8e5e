//! What one worker counts, and by which labels.
//!
//! A `WorkerMetrics` is built once per worker, before the worker starts, with as many rows as there are commands and
//! shards, so that nothing is allocated or looked up while counting. Only its worker writes to it. What is counted once
//! for a whole trip goes through a method (`client_trip`, `ShardMetrics::trip`), because a trip saves something by
//! definition and the two figures must not drift apart; the rest are public cells.
//!
//! `ShardGauge` is different: what a shard holds is looked up now and then, by the control plane or by the
//! engine itself, and belongs to no worker.

use super::cell::{By, Counter, DurationHistogram, Gauge, Reading, SizeHistogram, size_bucket};
use std::time::Instant;

/// An enum whose variants are the values of one label, and its count.
macro_rules! labels {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $label:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),+];
            pub const COUNT: usize = $name::ALL.len();

            pub fn label(self) -> &'static str {
                match self { $($name::$variant => $label),+ }
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(key: $name) -> usize {
                key as usize
            }
        }
    };
}

labels! {
    /// How a command ended.
    Outcome { Ok = "ok", Error = "error", Unknown = "unknown_outcome" }
}
labels! {
    /// Kinds of commands whose durations differ by nature.
    Family { Read = "read", Write = "write", Multi = "multi", Blocking = "blocking", Fanout = "fanout" }
}
labels! {
    /// What a client came in by.
    Listener { Tcp = "tcp", Unix = "unix" }
}
labels! {
    /// Why a connection was refused.
    Rejected {
        MaxClients = "max_clients",
        Draining = "draining",
        /// The process has no file descriptor left.
        Descriptors = "descriptors",
    }
}
labels! {
    /// Why a connection ended.
    Closed {
        /// The client left, by QUIT or by closing.
        Client = "client",
        /// The socket failed under the client.
        Io = "io",
        Protocol = "protocol",
        /// Its output passed the hard limit.
        OutputLimit = "output_limit",
        /// No memory was left for its request.
        Memory = "memory",
        /// A shard was lost behind half of a reply that had begun to go out.
        ShardLost = "shard_lost",
        Idle = "idle",
        /// No password within the time for it.
        Unauthenticated = "unauthenticated",
        Killed = "killed",
        Drain = "drain",
    }
}
labels! {
    /// Which bound kept a socket from being read.
    Backpressure {
        /// As many replies owed as the client's window allows.
        Window = "window",
        /// Output that the client has not read.
        Output = "output",
        /// Bytes of the client's requests in flight.
        Requests = "requests",
        /// A lane that holds as much as it may.
        Lane = "lane",
        /// The memory for all clients runs short, and this one has more than its share.
        Memory = "memory",
    }
}
labels! {
    /// Where bytes are held.
    Buffer { ClientIn = "client_in", ClientOut = "client_out", Lane = "lane" }
}
labels! {
    /// Who broke the protocol.
    Side { Client = "client", Backend = "backend" }
}
labels! {
    /// What went wrong with a shard.
    LaneError {
        Unreachable = "unreachable",
        Lost = "lost",
        TimedOut = "timed_out",
        Protocol = "protocol",
        Loading = "loading",
        /// The shard refused the password.
        Auth = "auth",
        Full = "full",
    }
}

type Counters<K, const N: usize> = By<K, Counter, N>;

/// Connections refused. Its one writer is the acceptor, which hands connections to workers and is none itself.
pub type Rejections = By<Listener, Counters<Rejected, { Rejected::COUNT }>, { Listener::COUNT }>;

/// What one worker counts.
#[derive(Debug)]
pub struct WorkerMetrics {
    /// Where the worker's nanoseconds start (`ShardMetrics::oldest_in_flight_since`).
    pub epoch: Instant,
    commands: Vec<Counters<Outcome, { Outcome::COUNT }>>,
    /// From the request's turn to the turn of its reply, at the client's side.
    command_duration: By<Family, DurationHistogram, { Family::COUNT }>,
    pipeline_depth: SizeHistogram,
    client_saved: Counter,
    pub shards: Vec<ShardMetrics>,
    pub connections: By<Listener, Gauge, { Listener::COUNT }>,
    pub connections_total: Counters<Listener, { Listener::COUNT }>,
    pub closed: Counters<Closed, { Closed::COUNT }>,
    pub protocol_errors: Counters<Side, { Side::COUNT }>,
    pub backpressure: Counters<Backpressure, { Backpressure::COUNT }>,
    pub buffer_bytes: By<Buffer, Gauge, { Buffer::COUNT }>,
    /// What this worker's clients claim of the memory for all.
    pub claimed_bytes: Gauge,
}

impl WorkerMetrics {
    pub fn new(shards: usize, commands: usize) -> WorkerMetrics {
        WorkerMetrics {
            epoch: Instant::now(),
            commands: (0..commands).map(|_| By::default()).collect(),
            command_duration: By::default(),
            pipeline_depth: SizeHistogram::default(),
            client_saved: Counter::default(),
            shards: (0..shards).map(|_| ShardMetrics::default()).collect(),
            connections: By::default(),
            connections_total: By::default(),
            closed: By::default(),
            protocol_errors: By::default(),
            backpressure: By::default(),
            buffer_bytes: By::default(),
            claimed_bytes: Gauge::default(),
        }
    }

    /// Counts a command by its row in the command table; unknown names have no row and are not counted here.
    #[inline]
    pub fn command(&self, id: u16, outcome: Outcome) {
        self.commands[id as usize][outcome].add(1);
    }

    #[inline]
    pub fn command_duration(&self, family: Family) -> &DurationHistogram {
        &self.command_duration[family]
    }

    pub fn command_count(&self, id: usize, outcome: Outcome) -> u64 {
        self.commands[id][outcome].get()
    }

    /// One client trip that carried `commands` (one or more): they cost the application a single wait.
    #[inline]
    pub fn client_trip(&self, commands: u64) {
        debug_assert!(commands > 0, "a trip carries at least one command");
        self.pipeline_depth.observe_bucket(size_bucket(commands), commands, 1);
        self.client_saved.add(commands - 1);
    }

    pub fn pipeline_depth(&self) -> &SizeHistogram {
        &self.pipeline_depth
    }

    pub fn client_trips_saved(&self) -> u64 {
        self.client_saved.get()
    }
}

/// What one worker counts of one shard, over all its lanes to it.
#[derive(Debug, Default)]
pub struct ShardMetrics {
    batch_commands: SizeHistogram,
    saved: Counter,
    bytes_sent: Counter,
    pub bytes_received: Counter,
    /// From the trip that carried a command to the turn of its reply.
    pub request_duration: DurationHistogram,
    /// Commands sent and not answered.
    pub in_flight: Gauge,
    /// Nanoseconds since `WorkerMetrics::epoch` at which the oldest of them was sent; 0 when there is none.
    pub oldest_in_flight_since: Gauge,
    up: Gauge,
    pub reconnects: Counter,
    /// Commands that may have been executed, and whose reply was lost.
    pub outcome_unknown: Counter,
    pub errors: Counters<LaneError, { LaneError::COUNT }>,
}

/// Values of `ShardMetrics::up`. Zero is "not tried", so that a worker without a lane says nothing.
const UP: u64 = 1;
const DOWN: u64 = 2;

impl ShardMetrics {
    /// One flush of a lane, or one hand-over to an engine, that carried `commands` (one or more).
    #[inline]
    pub fn trip(&self, commands: u64, bytes: u64) {
        debug_assert!(commands > 0, "a trip carries at least one command");
        self.batch_commands.observe_bucket(size_bucket(commands), commands, 1);
        self.saved.add(commands - 1);
        self.bytes_sent.add(bytes);
    }

    /// Whether the worker's lanes reach the shard.
    pub fn set_up(&self, up: bool) {
        self.up.set(if up { UP } else { DOWN });
    }

    /// `None` while the worker has not tried.
    pub fn up(&self) -> Option<bool> {
        match self.up.get() {
            UP => Some(true),
            DOWN => Some(false),
            _ => None,
        }
    }

    pub fn batch_commands(&self) -> &SizeHistogram {
        &self.batch_commands
    }

    pub fn trips_saved(&self) -> u64 {
        self.saved.get()
    }

    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent.get()
    }
}

/// What a shard holds and how busy it is, as far as somebody has looked it up.
#[derive(Debug, Default)]
pub struct ShardGauge {
    pub keys: Reading,
    pub slots: Reading,
    pub memory_bytes: Reading,
    /// CPU share of the shard's one core, 0 … 1.
    pub busy_ratio: Reading,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_is_commands_minus_trips() {
        let metrics = WorkerMetrics::new(1, 1);
        metrics.client_trip(1);
        metrics.client_trip(100);
        let depth = metrics.pipeline_depth();
        assert_eq!(metrics.client_trips_saved(), depth.sum() - depth.count());
        metrics.shards[0].trip(7, 70);
        assert_eq!(metrics.shards[0].trips_saved(), 6);
    }

    #[test]
    fn labels_of_an_enum_are_distinct_and_in_order() {
        for (i, &reason) in Closed::ALL.iter().enumerate() {
            assert_eq!(usize::from(reason), i);
            assert!(Closed::ALL[..i].iter().all(|other| other.label() != reason.label()));
        }
    }
}
