//! How the values of one INFO field on several shards become one.
//!
//! The rule of a section holds unless the field is named here. New fields of new servers therefore get a sensible
//! answer: numbers are added up, text is the first shard's. Named are states (the worst), settings (the same
//! everywhere, so one of them), peaks and ages (the largest), and what is worked out of other fields.

use super::fields::{Field, Section};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Whole numbers are added up; of other numbers the largest, of text the first.
    Usual,
    First,
    Min,
    Max,
    /// Numbers with decimals, added up.
    Total,
    /// `ok`, unless one shard says otherwise.
    Worst,
    /// The field without `_human`, in a unit for people.
    Human,
    /// One field's sum divided by another's.
    Ratio(&'static str, &'static str),
    /// The same in percent.
    Percent(&'static str, &'static str),
    /// `a=1,b=2`: each number added up, means taken again.
    Pairs,
    /// `a=1.5,b=2`: each the largest.
    PairsMax,
    Drop,
}

/// The rule of a field in a section; sections that hold names of others' choice have one for all.
pub(super) fn of(section: &str, field: &str) -> Rule {
    match section {
        "Keyspace" if field == "db0" => Rule::Pairs,
        // Other databases can't be selected, so their keys are no client's.
        "Keyspace" | "Replication" => Rule::Drop,
        "Commandstats" | "Errorstats" => Rule::Pairs,
        "Latencystats" => Rule::PairsMax,
        "Modules" => Rule::First,
        "Server" if field.starts_with("listener") => Rule::Drop,
        "Server" => Rule::First,
        "CPU" => Rule::Total,
        _ if field.ends_with("_human") => Rule::Human,
        _ => named(field),
    }
}

fn named(field: &str) -> Rule {
    let entry = NAMED.iter().find(|(name, _)| *name == field);
    entry.map_or(Rule::Usual, |&(_, rule)| rule)
}

const NAMED: &[(&str, Rule)] = &[
    ("aof_current_rewrite_time_sec", Rule::Max),
    ("aof_enabled", Rule::Max),
    ("aof_last_bgrewrite_status", Rule::Worst),
    ("aof_last_rewrite_time_sec", Rule::Max),
    ("aof_last_write_status", Rule::Worst),
    ("aof_rewrite_in_progress", Rule::Max),
    ("aof_rewrite_scheduled", Rule::Max),
    ("active_defrag_running", Rule::Max),
    ("allocator_frag_ratio", Rule::Ratio("allocator_active", "allocator_allocated")),
    ("allocator_rss_ratio", Rule::Ratio("allocator_resident", "allocator_active")),
    ("async_loading", Rule::Max),
    ("client_recent_max_input_buffer", Rule::Max),
    ("client_recent_max_output_buffer", Rule::Max),
    ("current_cow_size_age", Rule::Max),
    ("current_eviction_exceeded_time", Rule::Max),
    ("current_active_defrag_time", Rule::Max),
    ("instantaneous_input_kbps", Rule::Total),
    ("instantaneous_input_repl_kbps", Rule::Total),
    ("instantaneous_output_kbps", Rule::Total),
    ("instantaneous_output_repl_kbps", Rule::Total),
    ("latest_fork_usec", Rule::Max),
    ("loading", Rule::Max),
    ("loading_eta_seconds", Rule::Max),
    ("loading_loaded_perc", Rule::Min),
    ("loading_start_time", Rule::Min),
    ("maxmemory_policy", Rule::First),
    ("mem_fragmentation_ratio", Rule::Ratio("used_memory_rss", "used_memory")),
    ("module_fork_in_progress", Rule::Max),
    ("number_of_cached_scripts", Rule::Max),
    ("number_of_functions", Rule::Max),
    ("number_of_libraries", Rule::Max),
    ("rdb_bgsave_in_progress", Rule::Max),
    ("rdb_current_bgsave_time_sec", Rule::Max),
    ("rdb_last_bgsave_status", Rule::Worst),
    ("rdb_last_bgsave_time_sec", Rule::Max),
    ("rdb_last_save_time", Rule::Min),
    ("total_system_memory", Rule::Max),
    ("used_memory_peak_perc", Rule::Percent("used_memory", "used_memory_peak")),
];

/// One value of those that the shards gave; a field is never without any.
pub(super) fn apply(rule: Rule, section: &Section<'_>, field: &Field<'_>) -> String {
    let values = &field.values;
    let ratio = |above: &str, below: &str| {
        let (above, below) = (section.sum(above)?, section.sum(below)?);
        (below != 0).then(|| above as f64 / below as f64)
    };
    let usual = || usual(values);
    match rule {
        Rule::First | Rule::Drop => first(values),
        Rule::Usual => usual(),
        Rule::Max => by_number(values, f64::gt),
        Rule::Min => by_number(values, f64::lt),
        Rule::Total => total(values).unwrap_or_else(usual),
        Rule::Worst => values.iter().find(|v| **v != "ok").map_or_else(|| first(values), |v| (*v).to_owned()),
        Rule::Human => human(section, field.name).unwrap_or_else(|| first(values)),
        Rule::Ratio(above, below) => ratio(above, below).map_or_else(usual, |ratio| format!("{ratio:.2}")),
        Rule::Percent(above, below) => {
            ratio(above, below).map_or_else(usual, |ratio| format!("{:.2}%", ratio * 100.0))
        }
        Rule::Pairs => pairs(values),
        Rule::PairsMax => pairs_max(values),
    }
}

pub(super) fn sum(values: &[&str]) -> Option<i64> {
    values.iter().try_fold(0i64, |sum, value| Some(sum.saturating_add(value.parse().ok()?)))
}

fn first(values: &[&str]) -> String {
    values.first().copied().unwrap_or_default().to_owned()
}

fn usual(values: &[&str]) -> String {
    sum(values).map_or_else(|| by_number(values, f64::gt), |sum| sum.to_string())
}

/// The value that is the largest or smallest as a number, as it was written; the first where one is none.
fn by_number(values: &[&str], better: fn(&f64, &f64) -> bool) -> String {
    let number = |text: &str| text.trim_end_matches('%').parse::<f64>().ok();
    let mut best: Option<(f64, &str)> = None;
    for value in values {
        let Some(n) = number(value) else {
            return first(values);
        };
        if best.is_none_or(|(held, _)| better(&n, &held)) {
            best = Some((n, value));
        }
    }
    best.map_or_else(String::new, |(_, value)| value.to_owned())
}

/// A sum of decimals, with as many of them as the first shard gave.
fn total(values: &[&str]) -> Option<String> {
    let sum = values.iter().try_fold(0.0, |sum, value| Some(sum + value.parse::<f64>().ok()?))?;
    let decimals = values.first()?.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Some(format!("{sum:.decimals$}"))
}

/// As servers write bytes for people: two decimals and a power of 1024.
fn human(section: &Section<'_>, field: &str) -> Option<String> {
    let base = field.strip_suffix("_human")?;
    // A machine's memory is no sum: whoever is not added up is not worked out again.
    if named(base) != Rule::Usual {
        return None;
    }
    let bytes = section.sum(base)?;
    let mut amount = bytes as f64;
    let mut unit = 'B';
    for larger in ['K', 'M', 'G', 'T', 'P'] {
        if amount < 1024.0 {
            break;
        }
        amount /= 1024.0;
        unit = larger;
    }
    Some(if unit == 'B' { format!("{bytes}B") } else { format!("{amount:.2}{unit}") })
}

/// Names and, for each, the values of all the shards that have it.
fn columns<'a>(values: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut columns: Vec<(&str, Vec<&str>)> = Vec::new();
    for pair in values.iter().flat_map(|value| value.split(',')) {
        let Some((name, value)) = pair.split_once('=') else { continue };
        match columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, column)) => column.push(value),
            None => columns.push((name, vec![value])),
        }
    }
    columns
}

fn joined(columns: &[(&str, Vec<&str>)], merged: impl Fn(&str, &[&str]) -> String) -> String {
    let pair = |(name, column): &(&str, Vec<&str>)| format!("{name}={}", merged(name, column));
    columns.iter().map(pair).collect::<Vec<_>>().join(",")
}

fn pairs_max(values: &[&str]) -> String {
    joined(&columns(values), |_, column| by_number(column, f64::gt))
}

fn pairs(values: &[&str]) -> String {
    let columns = columns(values);
    let numbers = |name: &str| {
        let column = columns.iter().find(|(known, _)| *known == name)?;
        column.1.iter().map(|value| value.parse::<f64>().ok()).collect::<Option<Vec<_>>>()
    };
    let mean = |name: &str| match name {
        "usec_per_call" => {
            let (usec, calls) = (numbers("usec")?, numbers("calls")?);
            let calls = calls.iter().sum::<f64>().max(1.0);
            Some(format!("{:.2}", usec.iter().sum::<f64>() / calls))
        }
        "avg_ttl" => Some(format!("{:.0}", weighted(&numbers("avg_ttl")?, &numbers("expires")?)?)),
        _ => None,
    };
    joined(&columns, |name, column| mean(name).unwrap_or_else(|| usual(column)))
}

/// A mean of means, each with its weight; `None` where they do not belong together one by one.
fn weighted(means: &[f64], weights: &[f64]) -> Option<f64> {
    if means.len() != weights.len() {
        return None;
    }
    let total: f64 = weights.iter().sum();
    let sum: f64 = means.iter().zip(weights).map(|(mean, weight)| mean * weight).sum();
    Some(if total > 0.0 { sum / total } else { 0.0 })
}
