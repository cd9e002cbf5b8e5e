//! All workers' counters as one: sums at scrape, and the Prometheus registry in front of them.
//!
//! Owns the handles of every worker, the names that labels need, and the only figure that needs a memory: how uneven
//! the shards were over the last minute. Reads cells that other threads are writing, so two figures of one scrape may
//! differ by what happened between two reads; each of them on its own never goes back. Must never write a worker's cell
//! and never be called from a worker: it allocates and takes locks.

use super::family::FAMILIES;
use super::rows::Rows;
use super::worker::{Listener, ShardGauge, ShardMetrics, WorkerMetrics};
use prometheus::core::{Collector, Desc};
use prometheus::process_collector::ProcessCollector;
use prometheus::{Registry, TextEncoder, proto};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Over what time the shards' load is compared.
const IMBALANCE_WINDOW: Duration = Duration::from_secs(60);
/// Shortest time between two samples of that load.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(5);

/// Everything counted, over all workers.
pub struct Metrics {
    workers: Vec<Arc<WorkerMetrics>>,
    shard_gauges: Arc<[ShardGauge]>,
    shard_labels: Vec<String>,
    commands: Vec<&'static str>,
    /// Commands per shard at a time, oldest first; the first is at most one window and one sample old.
    samples: Mutex<VecDeque<(Instant, Vec<u64>)>>,
}

/// Figures of one moment, for people and for /api.
#[derive(Clone, Debug)]
pub struct Totals {
    pub connections: u64,
    pub client_commands: u64,
    pub client_trips: u64,
    pub client_trips_saved: u64,
    pub shards: Vec<ShardTotals>,
}

#[derive(Clone, Debug)]
pub struct ShardTotals {
    pub commands: u64,
    pub trips: u64,
    pub trips_saved: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub in_flight: u64,
    pub oldest_in_flight_nanos: u64,
    /// `None` before the first try.
    pub up: Option<bool>,
    pub reconnects: u64,
    pub outcome_unknown: u64,
}

impl Totals {
    pub fn shard_trips(&self) -> u64 {
        self.shards.iter().map(|s| s.trips).sum()
    }

    pub fn shard_trips_saved(&self) -> u64 {
        self.shards.iter().map(|s| s.trips_saved).sum()
    }
}

impl Metrics {
    /// `commands` are the names by row of the command table; all workers must have been built for the same table and
    /// the same shards.
    pub fn new(
        workers: Vec<Arc<WorkerMetrics>>,
        shard_gauges: Arc<[ShardGauge]>,
        commands: Vec<&'static str>,
    ) -> Arc<Metrics> {
        let shards = shard_gauges.len();
        assert!(workers.iter().all(|w| w.shards.len() == shards), "workers count other shards");
        Arc::new(Metrics {
            workers,
            shard_gauges,
            shard_labels: (0..shards).map(|i| i.to_string()).collect(),
            commands,
            samples: Mutex::new(VecDeque::from([(Instant::now(), vec![0; shards])])),
        })
    }

    /// A registry that scrapes these figures and the process's own.
    pub fn registry(self: &Arc<Metrics>) -> prometheus::Result<Registry> {
        let registry = Registry::new();
        registry.register(Box::new(Scrape::new(Arc::clone(self))?))?;
        registry.register(Box::new(ProcessCollector::for_self()))?;
        Ok(registry)
    }

    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    pub fn totals(&self) -> Totals {
        let now = Instant::now();
        Totals {
            connections: self.sum(|w| Listener::ALL.iter().map(|&l| w.connections[l].get()).sum()),
            client_commands: self.sum(|w| w.pipeline_depth().sum()),
            client_trips: self.sum(|w| w.pipeline_depth().count()),
            client_trips_saved: self.sum(WorkerMetrics::client_trips_saved),
            shards: (0..self.shard_labels.len()).map(|i| self.shard_totals(i, now)).collect(),
        }
    }

    fn shard_totals(&self, shard: usize, now: Instant) -> ShardTotals {
        let sum = |value: fn(&ShardMetrics) -> u64| self.shard(shard).map(value).sum();
        ShardTotals {
            commands: sum(|s| s.batch_commands().sum()),
            trips: sum(|s| s.batch_commands().count()),
            trips_saved: sum(ShardMetrics::trips_saved),
            bytes_sent: sum(ShardMetrics::bytes_sent),
            bytes_received: sum(|s| s.bytes_received.get()),
            in_flight: sum(|s| s.in_flight.get()),
            oldest_in_flight_nanos: self.oldest_in_flight_nanos(shard, now),
            up: self.shard_up(shard),
            reconnects: sum(|s| s.reconnects.get()),
            outcome_unknown: sum(|s| s.outcome_unknown.get()),
        }
    }

    /// Remembers the shards' load for `imbalance`; to be called every few seconds.
    pub fn sample(&self, now: Instant) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.back().is_some_and(|(at, _)| now.duration_since(*at) < SAMPLE_EVERY) {
            return;
        }
        samples.push_back((now, self.shard_commands()));
        // The second one is old enough to stand for the window: the first has served.
        while samples.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= IMBALANCE_WINDOW) {
            samples.pop_front();
        }
    }

    /// Commands of the busiest shard ÷ mean of all, over the last minute; `None` without a command in it.
    pub fn imbalance(&self, now: Instant) -> Option<f64> {
        self.sample(now);
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, before) = samples.front()?;
        let after = self.shard_commands();
        let done = || after.iter().zip(before).map(|(after, before)| after.saturating_sub(*before));
        let (most, total) = (done().max()?, done().sum::<u64>());
        (total > 0).then(|| most as f64 * before.len() as f64 / total as f64)
    }

    fn shard_commands(&self) -> Vec<u64> {
        let shards = 0..self.shard_labels.len();
        shards.map(|i| self.shard(i).map(|s| s.batch_commands().sum()).sum()).collect()
    }

    /// Down if one worker finds it so; `None` if none has tried.
    pub fn shard_up(&self, shard: usize) -> Option<bool> {
        self.shard(shard).filter_map(ShardMetrics::up).reduce(|all, up| all && up)
    }

    pub(super) fn oldest_in_flight_nanos(&self, shard: usize, now: Instant) -> u64 {
        let ages = self.workers.iter().filter_map(|worker| {
            let since = worker.shards[shard].oldest_in_flight_since.get();
            let now = now.duration_since(worker.epoch).as_nanos() as u64;
            (since > 0).then(|| now.saturating_sub(since))
        });
        ages.max().unwrap_or(0)
    }

    pub(super) fn sum(&self, value: impl Fn(&WorkerMetrics) -> u64) -> u64 {
        self.workers().map(value).sum()
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = &WorkerMetrics> {
        self.workers.iter().map(Arc::as_ref)
    }

    /// What each worker counts of one shard.
    pub(super) fn shard(&self, shard: usize) -> impl Iterator<Item = &ShardMetrics> {
        self.workers.iter().map(move |worker| &worker.shards[shard])
    }

    pub fn shard_gauges(&self) -> &[ShardGauge] {
        &self.shard_gauges
    }

    pub(super) fn shard_labels(&self) -> &[String] {
        &self.shard_labels
    }

    pub(super) fn commands(&self) -> &[&'static str] {
        &self.commands
    }
}

/// The registry's view of `Metrics`.
struct Scrape {
    metrics: Arc<Metrics>,
    descs: Vec<Desc>,
}

impl Scrape {
    fn new(metrics: Arc<Metrics>) -> prometheus::Result<Scrape> {
        let descs = FAMILIES.iter().map(|family| {
            let labels = family.labels.iter().map(|&label| label.to_owned()).collect();
            Desc::new(family.name.to_owned(), family.help.to_owned(), labels, HashMap::new())
        });
        Ok(Scrape { metrics, descs: descs.collect::<Result<_, _>>()? })
    }
}

impl Collector for Scrape {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let filled = FAMILIES.iter().map(|family| {
            let mut rows = Rows::default();
            (family.fill)(&self.metrics, &mut rows);
            rows.into_family(family.name, family.help, family.kind)
        });
        filled.collect()
    }
}

/// The text format of a scrape.
pub fn render(registry: &Registry) -> prometheus::Result<String> {
    TextEncoder::new().encode_to_string(&registry.gather())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Outcome, Side};

    fn two_workers() -> (Arc<Metrics>, Vec<Arc<WorkerMetrics>>) {
        let workers: Vec<_> = (0..2).map(|_| Arc::new(WorkerMetrics::new(2, 2))).collect();
        let gauges: Arc<[ShardGauge]> = (0..2).map(|_| ShardGauge::default()).collect();
        (Metrics::new(workers.clone(), gauges, vec!["get", "set"]), workers)
    }

    #[test]
    fn a_scrape_adds_the_workers_up() {
        let (metrics, workers) = two_workers();
        for worker in &workers {
            worker.command(1, Outcome::Ok);
            worker.client_trip(10);
            worker.shards[0].trip(10, 400);
            worker.protocol_errors[Side::Client].add(1);
        }
        metrics.shard_gauges()[1].keys.set(7.0);
        let text = render(&metrics.registry().unwrap()).unwrap();
        for line in [
            "onetrip_commands_total{command=\"set\",result=\"ok\"} 2",
            "onetrip_round_trips_total{side=\"client\"} 2",
            "onetrip_round_trips_saved_total{side=\"shard\"} 18",
            "onetrip_shard_batch_commands_bucket{shard=\"0\",le=\"8\"} 0",
            "onetrip_shard_batch_commands_bucket{shard=\"0\",le=\"16\"} 2",
            "onetrip_shard_bytes_total{shard=\"0\",direction=\"sent\"} 800",
            "onetrip_shard_keys{shard=\"1\"} 7",
            "onetrip_shard_imbalance_ratio 2",
            "onetrip_protocol_errors_total{side=\"client\"} 2",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in:\n{text}");
        }
        assert!(!text.contains("command=\"get\""), "a command never seen has no row");
        assert!(!text.contains("onetrip_shard_keys{shard=\"0\"}"), "an unknown reading has no row");
        assert!(!text.contains("onetrip_shard_up"), "nobody has tried a shard");
    }

    #[test]
    fn imbalance_forgets_after_a_minute() {
        let (metrics, workers) = two_workers();
        let start = Instant::now();
        workers[0].shards[0].trip(100, 0);
        assert_eq!(metrics.imbalance(start + SAMPLE_EVERY), Some(2.0));
        workers[0].shards[0].trip(100, 0);
        workers[1].shards[1].trip(100, 0);
        metrics.sample(start + IMBALANCE_WINDOW);
        let later = start + IMBALANCE_WINDOW + SAMPLE_EVERY;
        assert_eq!(metrics.imbalance(later), Some(1.0));
        assert_eq!(metrics.imbalance(later + IMBALANCE_WINDOW), None);
    }

    #[test]
    fn a_shard_is_down_when_one_worker_finds_it_so() {
        let (metrics, workers) = two_workers();
        assert_eq!(metrics.shard_up(0), None);
        workers[0].shards[0].set_up(true);
        assert_eq!(metrics.shard_up(0), Some(true));
        workers[1].shards[0].set_up(false);
        assert_eq!(metrics.shard_up(0), Some(false));
    }
}
