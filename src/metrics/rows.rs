//! The samples of one family, in the words of the `prometheus` crate.
//!
//! Owns the translation of plain numbers and buckets into that crate's model; must never know which family it fills.
//! A family with no row at all is left out of the scrape by the registry.

use super::cell::DURATION_BOUNDS_NANOS;
use prometheus::proto;

pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// Collects the samples of one family.
#[derive(Default)]
pub struct Rows(Vec<proto::Metric>);

impl Rows {
    pub fn counter(&mut self, labels: Labels<'_>, value: u64) {
        let mut counter = proto::Counter::default();
        counter.set_value(value as f64);
        self.row(labels).set_counter(counter);
    }

    pub fn gauge(&mut self, labels: Labels<'_>, value: f64) {
        let mut gauge = proto::Gauge::default();
        gauge.set_value(value);
        self.row(labels).set_gauge(gauge);
    }

    /// Durations observed in nanoseconds, shown in seconds.
    pub fn durations(&mut self, labels: Labels<'_>, counts: &[u64], sum_nanos: u64) {
        let bounds = DURATION_BOUNDS_NANOS.map(|nanos| nanos as f64 / 1e9);
        self.histogram(labels, &bounds, counts, sum_nanos as f64 / 1e9);
    }

    /// Sizes in buckets of powers of two.
    pub fn sizes(&mut self, labels: Labels<'_>, counts: &[u64], sum: u64) {
        let bounds: Vec<f64> = (0..counts.len() - 1).map(|i| (1u64 << i) as f64).collect();
        self.histogram(labels, &bounds, counts, sum as f64);
    }

    fn histogram(&mut self, labels: Labels<'_>, bounds: &[f64], counts: &[u64], sum: f64) {
        let mut total = 0;
        let mut buckets = Vec::with_capacity(bounds.len());
        for (bound, count) in bounds.iter().zip(counts) {
            total += count;
            let mut bucket = proto::Bucket::default();
            bucket.set_upper_bound(*bound);
            bucket.set_cumulative_count(total);
            buckets.push(bucket);
        }
        let mut histogram = proto::Histogram::default();
        histogram.set_bucket(buckets);
        histogram.set_sample_count(counts.iter().sum());
        histogram.set_sample_sum(sum);
        self.row(labels).set_histogram(histogram);
    }

    fn row(&mut self, labels: Labels<'_>) -> &mut proto::Metric {
        let pairs = labels.iter().map(|&(name, value)| pair(name, value)).collect();
        self.0.push(proto::Metric::from_label(pairs));
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    pub fn into_family(self, name: &str, help: &str, kind: proto::MetricType) -> proto::MetricFamily {
        let mut family = proto::MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        family.set_metric(self.0);
        family
    }
}

fn pair(name: &str, value: &str) -> proto::LabelPair {
    let mut pair = proto::LabelPair::default();
    pair.set_name(name.to_owned());
    pair.set_value(value.to_owned());
    pair
}
