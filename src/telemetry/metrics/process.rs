//! Metrics of the process from the system, under the names that Prometheus's clients use. They are read from `/proc`; where there is none,
//! the metrics have no values.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

use crate::telemetry::metrics::reading::{Description, Metric, MetricKind, Series, SeriesValue};

/// A figure of the process.
struct Figure {
    description: Description,
    read: fn() -> Option<SeriesValue>,
}

/// The figures of the process.
pub(crate) static FIGURES: &[&dyn Metric] = &[
    &figure("process_cpu_seconds_total", MetricKind::Counter, "Time that the process has taken of the cores.", || {
        let stat = Stat::read()?;
        Some(SeriesValue::Real(seconds(stat.field(11)? + stat.field(12)?)))
    }),
    &figure(
        "process_start_time_seconds",
        MetricKind::Gauge,
        "When the process started, in seconds since 1970.",
        || {
            let uptime: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let age = Duration::try_from_secs_f64(uptime - seconds(Stat::read()?.field(19)?)).ok()?;
            Some(SeriesValue::Real(now.checked_sub(age)?.as_secs_f64().round()))
        },
    ),
    &figure("process_resident_memory_bytes", MetricKind::Gauge, "Memory of the process that is resident.", || {
        Some(SeriesValue::Whole(Stat::read()?.field(21)? * page_size() as u64))
    }),
    &figure("process_virtual_memory_bytes", MetricKind::Gauge, "Virtual memory of the process.", || {
        Some(SeriesValue::Whole(Stat::read()?.field(20)?))
    }),
    &figure("process_threads", MetricKind::Gauge, "Threads of the process.", || {
        Some(SeriesValue::Whole(Stat::read()?.field(17)?))
    }),
    &figure("process_open_fds", MetricKind::Gauge, "File descriptors that the process has open.", || {
        Some(SeriesValue::Whole(fs::read_dir("/proc/self/fd").ok()?.count() as u64))
    }),
    &figure("process_max_fds", MetricKind::Gauge, "File descriptors that the process may have open.", || {
        getrlimit(Resource::Nofile).current.map(SeriesValue::Whole)
    }),
];

const fn figure(name: &'static str, kind: MetricKind, help: &'static str, read: fn() -> Option<SeriesValue>) -> Figure {
    Figure { description: Description { name, help, kind, labels: &[] }, read }
}

impl Metric for Figure {
    fn description(&self) -> Description {
        self.description
    }

    fn series(&self) -> Vec<Series> {
        (self.read)().map(Series::only).unwrap_or_default()
    }
}

/// `/proc/self/stat` after the program's name, which may have spaces and brackets.
struct Stat(String);

impl Stat {
    fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        Some(Self(stat.rsplit_once(") ")?.1.to_owned()))
    }

    /// A field, by its index after the name.
    fn field(&self, index: usize) -> Option<u64> {
        self.0.split(' ').nth(index)?.parse().ok()
    }
}

/// Ticks of the system's clock in seconds.
#[allow(clippy::cast_precision_loss, reason = "the ticks of centuries are exact")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    #[allow(clippy::cast_precision_loss, reason = "the figures are compared roughly")]
    fn reads_plausible_figures() {
        let value = |name: &str| {
            let figure = FIGURES.iter().find(|figure| figure.description().name == name).unwrap();
            match figure.series()[0].value {
                SeriesValue::Whole(number) => number as f64,
                SeriesValue::Real(number) => number,
                SeriesValue::Histogram { .. } => panic!("it is a number"),
            }
        };
        assert!(value("process_resident_memory_bytes") > 1e5);
        assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 3.0 && value("process_open_fds") <= value("process_max_fds"));
        assert!(value("process_threads") >= 1.0 && value("process_cpu_seconds_total") < 3600.0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let age = now - value("process_start_time_seconds");
        assert!((-2.0..3600.0).contains(&age), "{age}");
    }
}
