//! Assembly and life: configuration → map → workers → listeners → admin; and the way down again.
//!
//! Everything that can fail at start (an address that is taken) fails before a client is let in. On SIGTERM: not
//! ready, stop accepting, serve the clients that are there until they leave or the deadline comes, refuse new
//! commands while the last replies go out, exit 0. A second signal ends it at once.

use crate::address::Target;
use crate::admin::{self, Health, State};
use crate::client::accept::{self, Entrance, Reception};
use crate::client::conversation;
use crate::client::directory::Directory;
use crate::client::local::Settings;
use crate::client::world::Facts;
use crate::command::table::ROWS;
use crate::config::{Config, Kind};
use crate::limits::SHARDS_PER_WORKER;
use crate::metrics::{Metrics, ShardGauge, WorkerMetrics};
use crate::slot::ShardId;
use crate::topology::SlotMap;
use crate::worker::{Life, Setup, Worker};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long the last replies may take once the deadline of a drain has come.
const LAST_REPLIES: Duration = Duration::from_millis(100);
/// How often a drain looks whether its clients have left.
const DRAIN_LOOK: Duration = Duration::from_millis(20);

/// Serves until a signal ends it.
pub fn run(config: Config) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> io::Result<()> {
    let _ = SHARDS_PER_WORKER;
    let shards = config.shards.count();
    let map = Arc::new(SlotMap::even(shards as u16));
    let counters: Vec<Arc<WorkerMetrics>> =
        (0..config.proxy.workers).map(|_| Arc::new(WorkerMetrics::new(shards, ROWS.len() + 1))).collect();
    let gauges: Arc<[ShardGauge]> = (0..shards).map(|_| ShardGauge::default()).collect();
    for (shard, gauge) in gauges.iter().enumerate() {
        gauge.slots.set(map.slots_of(ShardId(shard as u16)) as f64);
    }
    let mut names: Vec<&'static str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), conversation::UNKNOWN.0 as usize);
    names.push("unknown");
    let metrics = Metrics::new(counters.clone(), Arc::clone(&gauges), names);
    let health = Arc::new(Health::default());
    let mut entrances = Vec::new();
    for address in &config.proxy.listen {
        let bound = accept::bind(address).await;
        entrances.push(bound.map_err(|e| io::Error::new(e.kind(), format!("cannot listen on {address}: {e}")))?);
    }
    if let Some(address) = &config.admin {
        let listener = admin::bind(address);
        let listener = listener.map_err(|e| io::Error::new(e.kind(), format!("cannot listen on {address}: {e}")))?;
        let facts = admin::Facts {
            metrics: Arc::clone(&metrics),
            health: Arc::clone(&health),
            shard_names: config.shards.names(),
            started: Instant::now(),
        };
        admin::spawn(listener, address, facts)?;
    }
    let (life, watch) = watch::channel(Life::Serving);
    let Kind::Standalone { targets } = &config.shards.kind else {
        return Err(io::Error::other("embedded shards are not wired yet"));
    };
    let targets: Arc<[Target]> = targets.clone().into();
    let facts =
        Facts { password: config.proxy.password.clone(), settings: Arc::new(Settings::default()), version: Arc::default() };
    let directory = Arc::new(Directory::default());
    let mut workers = Vec::new();
    for (index, counters) in counters.iter().enumerate() {
        workers.push(Worker::start(Setup {
            index,
            map: Arc::clone(&map),
            shards: Arc::clone(&targets),
            timeouts: config.timeouts,
            limits: config.limits,
            facts: facts.clone(),
            directory: Arc::clone(&directory),
            metrics: Arc::clone(counters),
            life: watch.clone(),
        })?);
    }
    health.advance(State::Serving);
    let reception = Arc::new(Reception {
        doors: workers.iter().map(|worker| worker.door.clone()).collect(),
        max_clients: config.limits.clients,
        keepalive: config.proxy.tcp_keepalive,
        draining: Arc::new(AtomicBool::new(false)),
        rejected: Box::new(|_, _| {}),
    });
    let accepting: Vec<_> = entrances.into_iter().map(|entrance| spawn_accept(entrance, &reception)).collect();
    let mut signals = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    wait_for(&mut signals).await;
    health.advance(State::Draining);
    reception.draining.store(true, Relaxed);
    for task in accepting {
        task.abort();
    }
    tokio::select! {
        () = drained(&reception, config.timeouts.drain) => {
            life.send_replace(Life::Closing);
            tokio::time::sleep(LAST_REPLIES).await;
        }
        () = wait_for(&mut signals) => {}
    }
    life.send_replace(Life::Over);
    drop(reception);
    for worker in workers {
        worker.join();
    }
    Ok(())
}

fn spawn_accept(entrance: Entrance, reception: &Arc<Reception>) -> tokio::task::JoinHandle<()> {
    let reception = Arc::clone(reception);
    tokio::spawn(async move { entrance.serve(&reception).await })
}

async fn wait_for([terminate, interrupt]: &mut [Signal; 2]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Waits until every client has left, or until the deadline.
async fn drained(reception: &Reception, deadline: Duration) {
    let end = Instant::now() + deadline;
    while Instant::now() < end && reception.doors.iter().any(|door| door.clients.load(Relaxed) > 0) {
        tokio::time::sleep(DRAIN_LOOK).await;
    }
}
