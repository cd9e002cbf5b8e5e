//! /api/shards: the page's figures as JSON, for people's own scripts too.
//!
//! Counters since the start; who wants a rate asks twice and divides by the difference of `uptime_s`. The same figures
//! as /metrics, from the same cells.

use super::{Shared, State as Readiness};
use crate::metrics::{ShardGauge, ShardTotals};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

#[derive(Serialize)]
struct Answer<'a> {
    version: &'static str,
    state: &'static str,
    uptime_s: f64,
    connections: u64,
    workers: usize,
    /// What applications paid and saved by their own pipelining.
    client: Side,
    /// What onetrip paid and saved at the shards.
    shard: Side,
    /// Busiest shard ÷ mean over the last minute; null without commands.
    imbalance_ratio: Option<f64>,
    shards: Vec<Shard<'a>>,
}

#[derive(Serialize)]
struct Side {
    commands: u64,
    round_trips: u64,
    round_trips_saved: u64,
}

#[derive(Serialize)]
struct Shard<'a> {
    id: usize,
    name: &'a str,
    /// null before the first try.
    up: Option<bool>,
    commands: u64,
    round_trips: u64,
    bytes_sent: u64,
    bytes_received: u64,
    in_flight: u64,
    oldest_in_flight_s: f64,
    reconnects: u64,
    outcome_unknown: u64,
    /// The rest is null where nobody has looked it up.
    keys: Option<f64>,
    slots: Option<f64>,
    memory_bytes: Option<f64>,
    busy_ratio: Option<f64>,
}

pub async fn shards(State(shared): State<Arc<Shared>>) -> Response {
    match serde_json::to_string(&answer(&shared)) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

fn answer(shared: &Shared) -> Answer<'_> {
    let facts = &shared.facts;
    let totals = facts.metrics.totals();
    let gauges = facts.metrics.shard_gauges();
    let named = facts.shard_names.iter().zip(&totals.shards).zip(gauges).enumerate();
    Answer {
        version: env!("CARGO_PKG_VERSION"),
        state: match facts.health.state() {
            Readiness::Starting => "starting",
            Readiness::Serving => "serving",
            Readiness::Draining => "draining",
        },
        uptime_s: facts.started.elapsed().as_secs_f64(),
        connections: totals.connections,
        workers: facts.metrics.worker_count(),
        client: Side {
            commands: totals.client_commands,
            round_trips: totals.client_trips,
            round_trips_saved: totals.client_trips_saved,
        },
        shard: Side {
            commands: totals.shards.iter().map(|shard| shard.commands).sum(),
            round_trips: totals.shard_trips(),
            round_trips_saved: totals.shard_trips_saved(),
        },
        imbalance_ratio: facts.metrics.imbalance(Instant::now()),
        shards: named.map(|(id, ((name, totals), gauge))| shard(id, name, totals, gauge)).collect(),
    }
}

fn shard<'a>(id: usize, name: &'a str, totals: &ShardTotals, gauge: &ShardGauge) -> Shard<'a> {
    Shard {
        id,
        name,
        up: totals.up,
        commands: totals.commands,
        round_trips: totals.trips,
        bytes_sent: totals.bytes_sent,
        bytes_received: totals.bytes_received,
        in_flight: totals.in_flight,
        oldest_in_flight_s: totals.oldest_in_flight_nanos as f64 / 1e9,
        reconnects: totals.reconnects,
        outcome_unknown: totals.outcome_unknown,
        keys: gauge.keys.get(),
        slots: gauge.slots.get(),
        memory_bytes: gauge.memory_bytes.get(),
        busy_ratio: gauge.busy_ratio.get(),
    }
}
