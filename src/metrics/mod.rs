//! Everything that is counted: the handles that components write to, and the families that a scrape reads.
//!
//! Each worker has one `WorkerMetrics` and is its only writer; a scrape on another thread reads all of them and adds
//! up. So counting is a load and a store, with no lock and no atomic read-modify-write, and nothing is shared between
//! workers (`cell`). `worker` says what a worker counts, `collect` turns all workers into Prometheus families, `family`
//! is the table of their names, help texts and labels.
//!
//! Must never: know a command's name, a key or an address on its own. Commands and shards come in as plain indexes; the
//! names of commands are handed to the collector. No label carries anything that a user chose.

mod cell;
mod collect;
mod family;
mod rows;
mod worker;

pub use cell::{
    By, Counter, DURATION_BOUNDS_NANOS, DurationHistogram, Gauge, Reading, SizeHistogram, duration_bucket,
    size_bucket,
};
pub use collect::{Metrics, SAMPLE_EVERY, ShardTotals, Totals, render};
pub use worker::{
    Backpressure, Buffer, Closed, Family, LaneError, Listener, Outcome, Rejected, ShardGauge, ShardMetrics,
    Side, WorkerMetrics,
};
