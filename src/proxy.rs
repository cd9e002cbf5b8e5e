//! Assembly and life: configuration → map → workers → listeners → admin; and the way down again.
//!
//! Everything that can fail at start (an address that is taken) fails before a client is let in. On SIGTERM: not
//! ready, stop accepting, serve the clients that are there until they leave or the deadline comes, refuse new
//! commands while the last replies go out, exit 0. A second signal ends it at once.

use crate::address::Address;
use crate::admin::{self, Health, State};
use crate::banner;
use crate::client::accept::{self, Entrance, Reception};
use crate::client::conversation;
use crate::client::directory::Directory;
use crate::client::local::{Settings, Version};
use crate::command::table::ROWS;
use crate::config::{Config, Kind};
use crate::control::Overview;
use crate::instances::engines::{self, EngineGauges, EngineHandle};
use crate::metrics::{Metrics, ShardGauge, WorkerMetrics};
use crate::reassembly::merge::info::Own;
use crate::slot::ShardId;
use crate::topology::SlotMap;
use crate::worker::{Known, Life, Setup, Source, Worker};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The server version that clients are told until the shards have said theirs, and over embedded ones: the first that
/// today's clients trust with all that they know.
const VERSION: &str = "7.4.0";
/// How long the last replies may take once the deadline of a drain has come.
const LAST_REPLIES: Duration = Duration::from_millis(100);
/// How often the engines' figures are copied.
const ENGINE_LOOK: Duration = Duration::from_millis(500);
/// How often a drain looks whether its clients have left.
const DRAIN_LOOK: Duration = Duration::from_millis(20);

/// Serves until a signal ends it.
pub fn run(config: Config) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> io::Result<()> {
    let started = Started::now();
    let shards = config.shards.count();
    let map = Arc::new(SlotMap::even(shards as u16));
    let counters: Vec<Arc<WorkerMetrics>> =
        (0..config.proxy.workers).map(|_| Arc::new(WorkerMetrics::new(shards, ROWS.len() + 1))).collect();
    let gauges = shard_gauges(&map);
    let metrics = Metrics::new(counters.clone(), Arc::clone(&gauges), command_names());
    let health = Arc::new(Health::default());
    raise_descriptor_limit(config.limits.clients);
    let (entrances, listening) = listen(&config).await?;
    let admin = serve_admin(&config, &metrics, &health)?;
    let (life, watch) = watch::channel(Life::Serving);
    let known = known(&config, &listening, &started);
    let (sources, engines) = sources(&config)?;
    let directory = Arc::new(Directory::default());
    let mut workers = Vec::new();
    let counters_of_all: Arc<[Arc<WorkerMetrics>]> = counters.clone().into();
    for (index, counters) in counters.iter().enumerate() {
        workers.push(Worker::start(Setup {
            index,
            map: Arc::clone(&map),
            shards: sources.clone(),
            timeouts: config.timeouts,
            limits: config.limits,
            idle: config.proxy.idle_timeout,
            known: known.clone(),
            directory: Arc::clone(&directory),
            metrics: Arc::clone(counters),
            workers: counters_of_all.clone(),
            life: watch.clone(),
        })?);
    }
    let told = engines.iter().map(|engine| Arc::clone(&engine.gauges)).collect();
    tokio::spawn(watch_engines(told, Arc::clone(&gauges)));
    watch_shards(&config, gauges, &known, &health);
    let refusals = Arc::clone(&metrics);
    let reception = Arc::new(Reception {
        doors: workers.iter().map(|worker| worker.door.clone()).collect(),
        max_clients: config.limits.clients,
        keepalive: config.proxy.tcp_keepalive,
        draining: Arc::new(AtomicBool::new(false)),
        rejected: Box::new(move |listener, why| refusals.rejected[listener][why].add(1)),
    });
    let accepting: Vec<_> =
        entrances.into_iter().map(|entrance| spawn_accept(entrance, &reception)).collect();
    banner::announce(&config, &listening, admin.as_ref());
    let mut signals = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    wait_for(&mut signals).await;
    health.advance(State::Draining);
    reception.draining.store(true, Relaxed);
    for task in accepting {
        task.abort();
    }
    drain(&reception, config.timeouts.drain, &life, &mut signals).await;
    life.send_replace(Life::Over);
    drop(reception);
    for worker in workers {
        worker.join();
    }
    drop(sources);
    for engine in engines {
        engine.stop();
    }
    tracing::info!("stopped");
    Ok(())
}

/// Where the shards are; engines are started here.
fn sources(config: &Config) -> io::Result<(Arc<[Source]>, Vec<EngineHandle>)> {
    match &config.shards.kind {
        Kind::Standalone { targets } => {
            Ok((targets.iter().cloned().map(Source::Remote).collect(), Vec::new()))
        }
        Kind::Embedded { count } => {
            let engines = engines::start(*count as u16)?;
            Ok((engines.iter().map(|engine| Source::Embedded(engine.door.clone())).collect(), engines))
        }
    }
}

/// Copies what engines tell of themselves to where a scrape reads it; does not end.
async fn watch_engines(told: Vec<Arc<EngineGauges>>, gauges: Arc<[ShardGauge]>) {
    let mut busy: Vec<u64> = vec![0; told.len()];
    let mut then = Instant::now();
    loop {
        tokio::time::sleep(ENGINE_LOOK).await;
        let passed = then.elapsed().as_nanos() as f64;
        then = Instant::now();
        for ((engine, gauge), before) in told.iter().zip(gauges.iter()).zip(&mut busy) {
            let now = engine.busy_ns.load(Relaxed);
            gauge.busy_ratio.set((now - std::mem::replace(before, now)) as f64 / passed);
            gauge.keys.set(engine.keys.load(Relaxed) as f64);
            gauge.memory_bytes.set(engine.memory_bytes.load(Relaxed) as f64);
        }
    }
}

/// When this process started.
struct Started {
    unix_ms: u64,
}

impl Started {
    fn now() -> Started {
        Started { unix_ms: std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_millis() as u64) }
    }
}

fn shard_gauges(map: &SlotMap) -> Arc<[ShardGauge]> {
    let gauge = |shard| {
        let gauge = ShardGauge::default();
        gauge.slots.set(map.slots_of(ShardId(shard)) as f64);
        gauge
    };
    (0..map.shards()).map(gauge).collect()
}

/// Names by row of the command table, and one for what is in no row.
fn command_names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), conversation::UNKNOWN.0 as usize);
    names.push("unknown");
    names
}

/// As many descriptors as clients may need, as far as the system lets us.
fn raise_descriptor_limit(clients: usize) {
    let wanted = clients as u64 + 1_024;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(limit) if limit < wanted => {
            tracing::warn!(
                limit,
                clients,
                "fewer file descriptors than clients allowed: raise ulimit -n or LimitNOFILE="
            );
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "the limit of file descriptors could not be read"),
    }
}

async fn listen(config: &Config) -> io::Result<(Vec<Entrance>, Vec<Address>)> {
    let (mut entrances, mut listening) = (Vec::new(), Vec::new());
    for address in &config.proxy.listen {
        let bound = accept::bind(address).await;
        let entrance = bound.map_err(|error| cannot_listen(address, &error))?;
        listening.push(entrance.address(address));
        entrances.push(entrance);
    }
    Ok((entrances, listening))
}

fn cannot_listen(address: &Address, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot listen on {address}: {error}; free it or choose another address"),
    )
}

fn serve_admin(config: &Config, metrics: &Arc<Metrics>, health: &Arc<Health>) -> io::Result<Option<Address>> {
    let Some(address) = &config.admin else { return Ok(None) };
    let listener = admin::bind(address).map_err(|error| cannot_listen(address, &error))?;
    let facts = admin::Facts {
        metrics: Arc::clone(metrics),
        health: Arc::clone(health),
        shard_names: config.shards.names(),
        started: Instant::now(),
    };
    let bound = address.bound_at(listener.local_addr());
    admin::spawn(listener, &bound, facts)?;
    Ok(Some(bound))
}

/// What the answers given here say of this process.
fn known(config: &Config, listening: &[Address], started: &Started) -> Known {
    let tcp = |address: &Address| match address {
        Address::Tcp { port, .. } => Some(*port),
        Address::Unix(_) => None,
    };
    let port = listening.iter().find_map(tcp).unwrap_or(0);
    let mut settings = Settings::default();
    settings.set("port", port);
    settings.set("maxclients", config.limits.clients);
    settings.set("timeout", config.proxy.idle_timeout.map_or(0, |time| time.as_secs()));
    settings.set("tcp-keepalive", config.proxy.tcp_keepalive.map_or(0, |time| time.as_secs()));
    let own = Own {
        run_id: (0..40).map(|_| fastrand::digit(16)).collect(),
        port,
        executable: std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string()),
        shards: config.shards.count(),
        workers: config.proxy.workers,
        max_clients: config.limits.clients,
        ..Own::default()
    };
    Known {
        password: config.proxy.password.clone(),
        settings: Arc::new(settings),
        version: Version::from(config.shards.report_version.as_deref().unwrap_or(VERSION)),
        own,
        started_ms: started.unix_ms,
    }
}

/// Looks after the shards: ready once all have answered, and their figures kept up to date.
fn watch_shards(config: &Config, gauges: Arc<[ShardGauge]>, known: &Known, health: &Arc<Health>) {
    let Kind::Standalone { targets } = &config.shards.kind else {
        return health.advance(State::Serving);
    };
    let (version, told, health) =
        (known.version.clone(), config.shards.report_version.is_some(), Arc::clone(health));
    let on_version = Box::new(move |lowest: &str| {
        if !told {
            version.set(lowest);
        }
        health.advance(State::Serving);
    });
    let overview = Arc::new(Overview::new(gauges, on_version));
    for (shard, target) in targets.iter().enumerate() {
        tokio::spawn(Arc::clone(&overview).watch(shard, target.clone(), config.timeouts));
    }
}

/// Serves the clients that are there until they leave or the deadline comes; a second signal ends it at once.
async fn drain(
    reception: &Reception,
    deadline: Duration,
    life: &watch::Sender<Life>,
    signals: &mut [Signal; 2],
) {
    let clients: usize = reception.doors.iter().map(|door| door.clients.load(Relaxed)).sum();
    tracing::info!(clients, deadline_s = deadline.as_secs_f32(), "draining; a second signal ends it at once");
    tokio::select! {
        () = drained(reception, deadline) => {
            life.send_replace(Life::Closing);
            tokio::time::sleep(LAST_REPLIES).await;
        }
        () = wait_for(signals) => {}
    }
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
