//! The table of metric families: name, type, labels, help text, and the function that fills it from all workers.
//!
//! What stands here is what dashboards and alerts rely on: rows may be added, none changes its meaning. The help texts
//! carry the definitions (what a trip is, what "saved" means), so that the figures can be checked by whoever reads
//! them. A family is here only when something feeds it.

use super::cell::Histogram;
use super::collect::Metrics;
use super::rows::Rows;
use super::worker::{
    Backpressure, Buffer, Closed, Family as CommandFamily, LaneError, Listener, Outcome, Rejected,
    ShardGauge, ShardMetrics, Side, WorkerMetrics,
};
use prometheus::proto::MetricType::{self, COUNTER, GAUGE, HISTOGRAM};
use std::time::Instant;

/// A row of the table.
pub struct Family {
    pub name: &'static str,
    pub kind: MetricType,
    pub labels: &'static [&'static str],
    pub help: &'static str,
    pub fill: fn(&Metrics, &mut Rows),
}

const fn row(
    name: &'static str,
    kind: MetricType,
    labels: &'static [&'static str],
    fill: fn(&Metrics, &mut Rows),
    help: &'static str,
) -> Family {
    Family { name, kind, labels, help, fill }
}

#[rustfmt::skip]
pub const FAMILIES: &[Family] = &[
    row("onetrip_build_info", GAUGE, &["version", "revision"], build_info,
        "Always 1; the labels say what is running."),
    row("onetrip_client_connections", GAUGE, &["listener"], connections,
        "Client connections open now."),
    row("onetrip_client_connections_total", COUNTER, &["listener"], connections_total,
        "Client connections accepted since the start."),
    row("onetrip_client_connections_rejected_total", COUNTER, &["listener", "reason"], rejected,
        "Client connections refused, by reason."),
    row("onetrip_client_connections_closed_total", COUNTER, &["reason"], closed,
        "Client connections that ended, by reason."),
    row("onetrip_commands_total", COUNTER, &["command", "result"], commands,
        "Commands answered, by name and by how they ended. unknown_outcome: the reply was lost and the command may \
         have been executed."),
    row("onetrip_command_duration_seconds", HISTOGRAM, &["family"], command_duration,
        "From the turn in which a request was read to the turn in which its reply was written. Taken once a turn, so \
         the commands of one turn share it."),
    row("onetrip_pipeline_depth", HISTOGRAM, &[], pipeline_depth,
        "Commands per client trip: what the applications' own pipelining puts into one wait."),
    row("onetrip_shard_batch_commands", HISTOGRAM, &["shard"], batch_commands,
        "Commands per shard trip: what onetrip puts into one write to a shard, over all clients."),
    row("onetrip_round_trips_total", COUNTER, &["side"], trips,
        "Round trips paid. side=client: begins with the first request read after any reply was written to that \
         client, and ends with that reply's turn; it is what the application waited for. side=shard: one flush of a \
         lane that carries one or more commands (a partial write counts once), or one hand-over to an engine. The two \
         sides are never added; neither counts packets nor measures time."),
    row("onetrip_round_trips_saved_total", COUNTER, &["side"], trips_saved,
        "Round trips saved. side=client: commands minus client trips, the work of the applications' own pipelining. \
         side=shard: commands sent to shards minus shard trips, the work of onetrip. The two sides are never added."),
    row("onetrip_shard_commands_total", COUNTER, &["shard"], shard_commands,
        "Commands sent to a shard."),
    row("onetrip_shard_bytes_total", COUNTER, &["shard", "direction"], shard_bytes,
        "Bytes sent to and received from a shard."),
    row("onetrip_shard_in_flight", GAUGE, &["shard"], in_flight,
        "Commands sent to a shard and not answered yet."),
    row("onetrip_shard_oldest_in_flight_seconds", GAUGE, &["shard"], oldest_in_flight,
        "Age of the oldest of them; 0 when there is none."),
    row("onetrip_shard_request_duration_seconds", HISTOGRAM, &["shard"], request_duration,
        "From the trip that carried a command to the turn in which the shard's reply was read."),
    row("onetrip_shard_up", GAUGE, &["shard"], up,
        "1 while every worker that tried reaches the shard, 0 when one of them does not; absent before the first try."),
    row("onetrip_shard_reconnects_total", COUNTER, &["shard"], reconnects,
        "Times that a lane to a shard was opened anew after a loss."),
    row("onetrip_shard_busy_ratio", GAUGE, &["shard"], |m, rows| readings(m, rows, |g| g.busy_ratio.get()),
        "CPU share of the shard's one core, 0 to 1, where onetrip runs the shard itself."),
    row("onetrip_shard_keys", GAUGE, &["shard"], |m, rows| readings(m, rows, |g| g.keys.get()),
        "Keys that a shard holds."),
    row("onetrip_shard_slots", GAUGE, &["shard"], |m, rows| readings(m, rows, |g| g.slots.get()),
        "Hash slots that a shard owns."),
    row("onetrip_shard_memory_bytes", GAUGE, &["shard"], |m, rows| readings(m, rows, |g| g.memory_bytes.get()),
        "Memory that a shard's data takes."),
    row("onetrip_shard_imbalance_ratio", GAUGE, &[], imbalance,
        "Commands of the busiest shard divided by the mean of all shards, over the last minute; 1 is even. Absent \
         without commands."),
    row("onetrip_backend_errors_total", COUNTER, &["shard", "reason"], backend_errors,
        "Failures of a shard or of the way to it; error replies of a healthy shard are not among them."),
    row("onetrip_outcome_unknown_total", COUNTER, &["shard"], outcome_unknown,
        "Commands that may have been executed and whose reply was lost."),
    row("onetrip_protocol_errors_total", COUNTER, &["side"], protocol_errors,
        "Bytes that are not the protocol, from a client or from a shard."),
    row("onetrip_buffer_bytes", GAUGE, &["kind"], buffer_bytes,
        "Bytes held in buffers."),
    row("onetrip_memory_claimed_bytes", GAUGE, &[], memory_claimed,
        "What is held for clients and what they may draw with what they have asked for; as it nears limits.memory_total_bytes the heaviest wait."),
    row("onetrip_backpressure_total", COUNTER, &["kind"], backpressure,
        "Times that a socket was not read because of a bound."),
];

fn build_info(_: &Metrics, rows: &mut Rows) {
    let revision = option_env!("ONETRIP_REVISION").unwrap_or("unknown");
    rows.gauge(&[("version", env!("CARGO_PKG_VERSION")), ("revision", revision)], 1.0);
}

fn connections(m: &Metrics, rows: &mut Rows) {
    for &listener in Listener::ALL {
        let open = m.sum(|w| w.connections[listener].get());
        rows.gauge(&[("listener", listener.label())], open as f64);
    }
}

fn connections_total(m: &Metrics, rows: &mut Rows) {
    for &listener in Listener::ALL {
        let accepted = m.sum(|w| w.connections_total[listener].get());
        rows.counter(&[("listener", listener.label())], accepted);
    }
}

fn rejected(m: &Metrics, rows: &mut Rows) {
    for &listener in Listener::ALL {
        for &reason in Rejected::ALL {
            let labels = [("listener", listener.label()), ("reason", reason.label())];
            rows.counter(&labels, m.rejected[listener][reason].get());
        }
    }
}

fn closed(m: &Metrics, rows: &mut Rows) {
    for &reason in Closed::ALL {
        rows.counter(&[("reason", reason.label())], m.sum(|w| w.closed[reason].get()));
    }
}

/// Four hundred commands times three results would drown a scrape: only what was seen is shown.
fn commands(m: &Metrics, rows: &mut Rows) {
    for (id, name) in m.commands().iter().enumerate() {
        for &outcome in Outcome::ALL {
            let count = m.sum(|w| w.command_count(id, outcome));
            if count > 0 {
                rows.counter(&[("command", name), ("result", outcome.label())], count);
            }
        }
    }
}

/// A family of commands shows from its first command on.
fn command_duration(m: &Metrics, rows: &mut Rows) {
    for &family in CommandFamily::ALL {
        let (counts, sum) = merged(m.workers().map(|w| w.command_duration(family)));
        if counts.iter().any(|&count| count > 0) {
            rows.durations(&[("family", family.label())], &counts, sum);
        }
    }
}

fn pipeline_depth(m: &Metrics, rows: &mut Rows) {
    let (counts, sum) = merged(m.workers().map(WorkerMetrics::pipeline_depth));
    rows.sizes(&[], &counts, sum);
}

fn batch_commands(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        let (counts, sum) = merged(m.shard(i).map(ShardMetrics::batch_commands));
        rows.sizes(&[("shard", shard)], &counts, sum);
    }
}

fn request_duration(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        let (counts, sum) = merged(m.shard(i).map(|s| &s.request_duration));
        rows.durations(&[("shard", shard)], &counts, sum);
    }
}

fn trips(m: &Metrics, rows: &mut Rows) {
    let totals = m.totals();
    rows.counter(&[("side", "client")], totals.client_trips);
    rows.counter(&[("side", "shard")], totals.shard_trips());
}

fn trips_saved(m: &Metrics, rows: &mut Rows) {
    let totals = m.totals();
    rows.counter(&[("side", "client")], totals.client_trips_saved);
    rows.counter(&[("side", "shard")], totals.shard_trips_saved());
}

fn shard_commands(m: &Metrics, rows: &mut Rows) {
    per_shard(m, rows, |s| s.batch_commands().sum());
}

fn shard_bytes(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        let sent = m.shard(i).map(ShardMetrics::bytes_sent).sum();
        let received = m.shard(i).map(|s| s.bytes_received.get()).sum();
        rows.counter(&[("shard", shard), ("direction", "sent")], sent);
        rows.counter(&[("shard", shard), ("direction", "received")], received);
    }
}

fn in_flight(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        let count: u64 = m.shard(i).map(|s| s.in_flight.get()).sum();
        rows.gauge(&[("shard", shard)], count as f64);
    }
}

fn oldest_in_flight(m: &Metrics, rows: &mut Rows) {
    let now = Instant::now();
    for (i, shard) in m.shard_labels().iter().enumerate() {
        rows.gauge(&[("shard", shard)], m.oldest_in_flight_nanos(i, now) as f64 / 1e9);
    }
}

fn up(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        if let Some(up) = m.shard_up(i) {
            rows.gauge(&[("shard", shard)], f64::from(u8::from(up)));
        }
    }
}

fn reconnects(m: &Metrics, rows: &mut Rows) {
    per_shard(m, rows, |s| s.reconnects.get());
}

fn outcome_unknown(m: &Metrics, rows: &mut Rows) {
    per_shard(m, rows, |s| s.outcome_unknown.get());
}

fn backend_errors(m: &Metrics, rows: &mut Rows) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        for &reason in LaneError::ALL {
            let count = m.shard(i).map(|s| s.errors[reason].get()).sum();
            rows.counter(&[("shard", shard), ("reason", reason.label())], count);
        }
    }
}

fn imbalance(m: &Metrics, rows: &mut Rows) {
    if let Some(ratio) = m.imbalance(Instant::now()) {
        rows.gauge(&[], ratio);
    }
}

fn protocol_errors(m: &Metrics, rows: &mut Rows) {
    for &side in Side::ALL {
        rows.counter(&[("side", side.label())], m.sum(|w| w.protocol_errors[side].get()));
    }
}

fn buffer_bytes(m: &Metrics, rows: &mut Rows) {
    for &kind in Buffer::ALL {
        rows.gauge(&[("kind", kind.label())], m.sum(|w| w.buffer_bytes[kind].get()) as f64);
    }
}

fn memory_claimed(m: &Metrics, rows: &mut Rows) {
    rows.gauge(&[], m.sum(|w| w.claimed_bytes.get()) as f64);
}

fn backpressure(m: &Metrics, rows: &mut Rows) {
    for &kind in Backpressure::ALL {
        rows.counter(&[("kind", kind.label())], m.sum(|w| w.backpressure[kind].get()));
    }
}

/// One counter per shard, over all workers.
fn per_shard(m: &Metrics, rows: &mut Rows, value: fn(&ShardMetrics) -> u64) {
    for (i, shard) in m.shard_labels().iter().enumerate() {
        rows.counter(&[("shard", shard)], m.shard(i).map(value).sum());
    }
}

/// One gauge per shard, where it is known.
fn readings(m: &Metrics, rows: &mut Rows, value: fn(&ShardGauge) -> Option<f64>) {
    for (gauge, shard) in m.shard_gauges().iter().zip(m.shard_labels()) {
        if let Some(value) = value(gauge) {
            rows.gauge(&[("shard", shard)], value);
        }
    }
}

/// Counts and sum of several histograms of one kind.
fn merged<'a, const N: usize>(histograms: impl Iterator<Item = &'a Histogram<N>>) -> ([u64; N], u64) {
    let mut counts = [0; N];
    let mut sum = 0;
    for histogram in histograms {
        for (total, count) in counts.iter_mut().zip(histogram.counts()) {
            *total += count;
        }
        sum += histogram.sum();
    }
    (counts, sum)
}
