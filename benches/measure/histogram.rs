//! Latencies, counted in buckets whose width grows with them, as in an HDR histogram: never more than 1/64 from the truth.

#![allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]

use std::time::Duration;

/// Buckets of each power of two.
const FINE: u64 = 64;
const FINE_BITS: u32 = FINE.trailing_zeros();

/// Enough for 64 bits of nanoseconds.
const BUCKETS: usize = (64 - FINE_BITS as usize + 1) * FINE as usize;

/// Counted latencies.
#[derive(Debug, Clone)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0 }
    }
}

impl Histogram {
    /// Counts one.
    pub fn add(&mut self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(nanoseconds)] += 1;
        self.count += 1;
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latency that so many of a hundred do not exceed; zero where none was counted.
    pub fn percentile(&self, percent: f64) -> Duration {
        let wanted = (self.count as f64 * percent / 100.0).ceil().max(1.0);
        let mut seen = 0;
        for (place, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen as f64 >= wanted {
                return Duration::from_nanos(middle(place));
            }
        }
        Duration::ZERO
    }
}

/// The bucket of a number: itself below [`FINE`], then [`FINE`] buckets for each power of two.
fn bucket(number: u64) -> usize {
    let power = number.checked_ilog2().unwrap_or_default();
    let place = match power.checked_sub(FINE_BITS) {
        None => number,
        Some(shift) => FINE * u64::from(shift) + (number >> shift),
    };
    usize::try_from(place).unwrap_or(BUCKETS - 1)
}

/// The middle of a bucket.
fn middle(place: usize) -> u64 {
    let place = place as u64;
    match (place / FINE).checked_sub(1) {
        None | Some(0) => place,
        Some(shift) => ((place - FINE * shift) << shift) + (1 << (shift - 1)),
    }
}
