//! Instruments that record values: counters, gauges and histograms, all of atomic numbers.

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::telemetry::metrics::reading::{MetricKind, SeriesValue};

/// Whether anything is recorded.
const IS_RECORDED: bool = !cfg!(feature = "unmeasured");

/// Something that values are recorded in.
pub(crate) trait Instrument: Sync {
    /// Its kind.
    const KIND: MetricKind;
    /// An instrument without values.
    const NEW: Self;

    /// Its value; `None` if nothing was recorded and there is nothing to show.
    fn read(&self) -> Option<SeriesValue>;
}

/// Counts what happens.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Counts this many more.
    pub(crate) fn add(&self, count: u64) {
        if IS_RECORDED {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl Instrument for Counter {
    const KIND: MetricKind = MetricKind::Counter;
    const NEW: Self = Self(AtomicU64::new(0));

    fn read(&self) -> Option<SeriesValue> {
        Some(SeriesValue::Whole(self.0.load(Ordering::Relaxed)))
    }
}

/// How many there are now.
#[derive(Debug)]
pub(crate) struct Gauge(AtomicU64);

/// An object that a gauge counts, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(&'static Gauge);

impl Gauge {
    /// Counts one more until the guard is dropped.
    pub(crate) fn count(&'static self) -> Counted {
        if IS_RECORDED {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Counted(self)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if IS_RECORDED {
            self.0.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Instrument for Gauge {
    const KIND: MetricKind = MetricKind::Gauge;
    const NEW: Self = Self(AtomicU64::new(0));

    fn read(&self) -> Option<SeriesValue> {
        Some(SeriesValue::Whole(self.0.load(Ordering::Relaxed)))
    }
}

/// The unit and the ranges of a histogram.
pub(crate) trait Scale: Sync + 'static {
    /// The upper bounds of the ranges but the last, in the unit that is recorded; at most [`MAX_BOUNDS`].
    const BOUNDS: &'static [u64];
    /// How many of the units that are recorded make one that is shown.
    const PER_UNIT: f64;
}

/// The most bounds of a scale.
const MAX_BOUNDS: usize = 15;

/// Durations, recorded in nanoseconds and shown in seconds.
#[derive(Debug)]
pub(crate) struct Seconds;

impl Scale for Seconds {
    // OpenTelemetry's bounds, with finer ones below, because most queries take a few milliseconds, and fewer above.
    const BOUNDS: &'static [u64] = &[
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
        10_000_000_000,
    ];
    const PER_UNIT: f64 = 1e9;
}

#[derive(Debug)]
pub(crate) struct Credits;

impl Scale for Credits {
    const BOUNDS: &'static [u64] = &[0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
    const PER_UNIT: f64 = 1.0;
}

/// Counts values by ranges. Takes little memory until the first value.
#[derive(Debug)]
pub(crate) struct Histogram<S>(OnceLock<Box<Ranges>>, PhantomData<S>);

#[derive(Debug, Default)]
struct Ranges {
    /// The values up to each bound and above the one before it. The one after the last bound counts all above it.
    counts: [AtomicU64; MAX_BOUNDS + 1],
    sum: AtomicU64,
}

impl<S: Scale> Histogram<S> {
    /// Adds a value.
    pub(crate) fn record(&self, value: u64) {
        if !IS_RECORDED {
            return;
        }
        let ranges = self.0.get_or_init(Box::default);
        let range = S::BOUNDS.iter().position(|bound| value <= *bound).unwrap_or(S::BOUNDS.len());
        ranges.counts[range].fetch_add(1, Ordering::Relaxed);
        ranges.sum.fetch_add(value, Ordering::Relaxed);
    }
}

impl Histogram<Seconds> {
    /// Adds a duration.
    pub(crate) fn record_time(&self, time: Duration) {
        self.record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }
}

impl<S: Scale> Instrument for Histogram<S> {
    const KIND: MetricKind = MetricKind::Histogram;
    const NEW: Self = {
        assert!(S::BOUNDS.len() <= MAX_BOUNDS);
        Self(OnceLock::new(), PhantomData)
    };

    fn read(&self) -> Option<SeriesValue> {
        let ranges = self.0.get()?;
        let bounds = S::BOUNDS.iter().map(|bound| shown(*bound, S::PER_UNIT)).chain([f64::INFINITY]);
        let buckets = bounds.zip(&ranges.counts).map(|(bound, count)| (bound, count.load(Ordering::Relaxed))).collect();
        Some(SeriesValue::Histogram { sum: shown(ranges.sum.load(Ordering::Relaxed), S::PER_UNIT), buckets })
    }
}

/// A recorded value in the unit that is shown.
#[allow(clippy::cast_precision_loss, reason = "a metric is not exact beyond 15 digits")]
fn shown(value: u64, per_unit: f64) -> f64 {
    value as f64 / per_unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_a_value_in_the_range_up_to_its_bound() {
        let histogram = Histogram::<Seconds>::NEW;
        assert_eq!(histogram.read(), None);
        for microseconds in [0, 250, 251, 10_000_000, 10_000_001] {
            histogram.record_time(Duration::from_micros(microseconds));
        }
        let Some(SeriesValue::Histogram { sum, buckets }) = histogram.read() else { panic!("it has values") };
        assert!((sum - 20.000_502).abs() < 1e-9, "{sum}");
        let counts: Vec<_> = buckets.iter().filter(|(_, count)| *count > 0).copied().collect();
        assert_eq!(counts, [(0.000_25, 2), (0.000_5, 1), (10.0, 1), (f64::INFINITY, 1)]);
    }

    #[test]
    fn a_gauge_counts_what_is_not_dropped() {
        static GAUGE: Gauge = Gauge::NEW;
        let guards: Vec<_> = (0..3).map(|_| GAUGE.count()).collect();
        assert_eq!(GAUGE.read(), Some(SeriesValue::Whole(3)));
        drop(guards);
        assert_eq!(GAUGE.read(), Some(SeriesValue::Whole(0)));
    }
}
