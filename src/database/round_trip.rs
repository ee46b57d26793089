//! How long a round trip to the database takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::database::options::OneRoundTrip;

/// For how long the shortest round trip counts: between one and two of these.
const PERIOD: Duration = Duration::from_secs(10);

/// The shortest round trip of late. Longer ones have waited for a core or for other statements, not for the network.
#[derive(Debug)]
pub(super) struct RoundTrip {
    setting: OneRoundTrip,
    start: Instant,
    /// The number of the current period.
    period: AtomicU64,
    /// The shortest one of the current period, in microseconds.
    current: AtomicU64,
    /// That of the period before.
    previous: AtomicU64,
}

impl RoundTrip {
    pub(super) fn new(setting: OneRoundTrip) -> Self {
        let none = || AtomicU64::new(u64::MAX);
        Self { setting, start: Instant::now(), period: none(), current: none(), previous: none() }
    }

    /// Records one. Two at the same time may lose one of them, which the next makes up for.
    pub(super) fn record(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let period = self.start.elapsed().as_secs() / PERIOD.as_secs();
        if self.period.swap(period, Ordering::Relaxed) == period {
            self.current.fetch_min(took, Ordering::Relaxed);
        } else {
            self.previous.store(self.current.swap(took, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The time that a request can save by one round trip less: zero as long as none is known.
    pub(super) fn time(&self) -> Duration {
        match self.setting {
            OneRoundTrip::Never => Duration::ZERO,
            OneRoundTrip::Always => Duration::MAX,
            OneRoundTrip::Auto => {
                let shortest = self.current.load(Ordering::Relaxed).min(self.previous.load(Ordering::Relaxed));
                if shortest == u64::MAX { Duration::ZERO } else { Duration::from_micros(shortest) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_one_counts() {
        let trip = RoundTrip::new(OneRoundTrip::Auto);
        assert_eq!(trip.time(), Duration::ZERO);
        for (micros, shortest) in [(300, 300), (900, 300), (120, 120), (121, 120)] {
            trip.record(Duration::from_micros(micros));
            assert_eq!(trip.time(), Duration::from_micros(shortest));
        }
    }

    #[test]
    fn the_setting_decides_without_measuring() {
        for (setting, time) in [(OneRoundTrip::Never, Duration::ZERO), (OneRoundTrip::Always, Duration::MAX)] {
            let trip = RoundTrip::new(setting);
            trip.record(Duration::from_micros(500));
            assert_eq!(trip.time(), time);
        }
    }
}
