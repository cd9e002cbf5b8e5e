//! The cells that counting is made of: `Counter`, `Gauge`, `Reading` and histograms with fixed buckets.
//!
//! A cell has one writer, the worker that owns it, and any number of readers. That is why `add` may be a relaxed load
//! and a relaxed store, which costs what a plain addition costs: with a second writer it would lose counts, so handing
//! one cell to two threads is a bug. Each cell on its own only grows (counters), so a reader never sees it go back;
//! two cells read one after the other may differ by what happened in between.
//!
//! Histograms take a bucket that was computed once for many observations: a turn's replies share their time.

use std::marker::PhantomData;
use std::ops::Index;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that only grows. One writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A level that goes up and down. One writer.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub fn add(&self, n: u64) {
        self.set(self.get().wrapping_add(n));
    }

    /// Takes `n` off. A level below zero is a bug of the caller; it is held at zero, not wrapped to 2^64.
    #[inline]
    pub fn sub(&self, n: u64) {
        debug_assert!(self.get() >= n, "a gauge would go below zero");
        self.set(self.get().saturating_sub(n));
    }

    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A value that somebody looks up now and then; unknown until the first time.
#[derive(Debug)]
pub struct Reading(AtomicU64);

impl Default for Reading {
    fn default() -> Reading {
        Reading(AtomicU64::new(f64::NAN.to_bits()))
    }
}

impl Reading {
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Relaxed);
    }

    pub fn get(&self) -> Option<f64> {
        let value = f64::from_bits(self.0.load(Relaxed));
        (!value.is_nan()).then_some(value)
    }
}

/// One cell for each variant of `K`, which is an enum made by `labels!`.
#[derive(Debug)]
pub struct By<K, T, const N: usize>([T; N], PhantomData<fn(K)>);

impl<K, T: Default, const N: usize> Default for By<K, T, N> {
    fn default() -> By<K, T, N> {
        By(std::array::from_fn(|_| T::default()), PhantomData)
    }
}

impl<K: Into<usize>, T, const N: usize> Index<K> for By<K, T, N> {
    type Output = T;

    #[inline]
    fn index(&self, key: K) -> &T {
        &self.0[key.into()]
    }
}

/// Upper bounds of the duration buckets, 50 µs … 5 s.
pub const DURATION_BOUNDS_NANOS: [u64; 16] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
];
const DURATION_BUCKETS: usize = DURATION_BOUNDS_NANOS.len() + 1;
/// Sizes are bucketed by powers of two: 1, 2, 4 … 4,096, and more.
const SIZE_BUCKETS: usize = 14;

pub type DurationHistogram = Histogram<DURATION_BUCKETS>;
pub type SizeHistogram = Histogram<SIZE_BUCKETS>;

/// Bucket of a duration.
#[inline]
pub fn duration_bucket(nanos: u64) -> usize {
    DURATION_BOUNDS_NANOS.partition_point(|&bound| bound < nanos)
}

/// Bucket of a size: the exponent of the power of two at or above it.
#[inline]
pub fn size_bucket(size: u64) -> usize {
    let exponent = (u64::BITS - size.saturating_sub(1).leading_zeros()) as usize;
    exponent.min(SIZE_BUCKETS - 1)
}

/// Counts per bucket (the last one has no upper bound) and the sum of what was observed, in the unit observed.
#[derive(Debug)]
pub struct Histogram<const N: usize> {
    buckets: [Counter; N],
    sum: Counter,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Histogram<N> {
        Histogram { buckets: std::array::from_fn(|_| Counter::default()), sum: Counter::default() }
    }
}

impl<const N: usize> Histogram<N> {
    /// `n` observations of one bucket that add up to `sum`.
    #[inline]
    pub fn observe_bucket(&self, bucket: usize, sum: u64, n: u64) {
        self.buckets[bucket].add(n);
        self.sum.add(sum);
    }

    pub fn counts(&self) -> [u64; N] {
        std::array::from_fn(|i| self.buckets[i].get())
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().map(Counter::get).sum()
    }

    pub fn sum(&self) -> u64 {
        self.sum.get()
    }
}

impl DurationHistogram {
    #[inline]
    pub fn observe_nanos(&self, nanos: u64) {
        self.observe_bucket(duration_bucket(nanos), nanos, 1);
    }
}

impl SizeHistogram {
    #[inline]
    pub fn observe_size(&self, size: u64) {
        self.observe_bucket(size_bucket(size), size, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_own_bucket() {
        for (i, &bound) in DURATION_BOUNDS_NANOS.iter().enumerate() {
            assert_eq!(duration_bucket(bound), i);
            assert_eq!(duration_bucket(bound + 1), i + 1);
        }
        for exponent in 0..SIZE_BUCKETS - 1 {
            assert_eq!(size_bucket(1 << exponent), exponent);
            assert_eq!(size_bucket((1 << exponent) + 1), exponent + 1);
        }
        assert_eq!(size_bucket(u64::MAX), SIZE_BUCKETS - 1);
    }

    #[test]
    fn a_histogram_adds_up() {
        let sizes = SizeHistogram::default();
        sizes.observe_size(1);
        sizes.observe_bucket(size_bucket(100), 300, 3);
        assert_eq!((sizes.count(), sizes.sum()), (4, 301));
    }

    #[test]
    fn a_reading_is_unknown_until_it_is_set() {
        let reading = Reading::default();
        assert_eq!(reading.get(), None);
        reading.set(0.0);
        assert_eq!(reading.get(), Some(0.0));
    }
}
