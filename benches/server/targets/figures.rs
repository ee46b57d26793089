//! What is measured of a target.

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use crate::client::Endpoint;
use crate::driver::{Arrivals, Load, Requests, run};
use crate::error::Result;
use crate::report::Row;
use crate::statistics::median;
use crate::usage::{CpuMeter, resident_mib};

/// What one target did with one workload. CPU times are those of a request.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Responses a second.
    pub per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub postgresql_cpu_ms: Option<f64>,
    pub server_cpu_ms: Option<f64>,
    pub resident_mib: Option<f64>,
    pub response_bytes: Option<f64>,
    pub connections: usize,
}

impl Figures {
    /// The median of each figure.
    pub fn median(rounds: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(rounds.iter().map(figure));
        let known = |figure: fn(&Self) -> Option<f64>| {
            let known: Vec<_> = rounds.iter().filter_map(figure).collect();
            (!known.is_empty()).then(|| median(known))
        };
        Self {
            per_second: of(|figures| figures.per_second),
            p50_ms: of(|figures| figures.p50_ms),
            p99_ms: of(|figures| figures.p99_ms),
            postgresql_cpu_ms: known(|figures| figures.postgresql_cpu_ms),
            server_cpu_ms: known(|figures| figures.server_cpu_ms),
            resident_mib: known(|figures| figures.resident_mib),
            response_bytes: known(|figures| figures.response_bytes),
            connections: rounds.last().map_or(0, |figures| figures.connections),
        }
    }

    /// A row of a table that begins with other cells.
    pub fn row(&self, mut row: Row) -> Row {
        row.extend([
            ("per_second", json!(self.per_second)),
            ("p50_ms", json!(self.p50_ms)),
            ("p99_ms", json!(self.p99_ms)),
            ("postgresql_cpu_ms", json!(self.postgresql_cpu_ms)),
            ("server_cpu_ms", json!(self.server_cpu_ms)),
            ("resident_mib", json!(self.resident_mib)),
            ("response_bytes", json!(self.response_bytes)),
            ("connections", json!(self.connections)),
        ]);
        row
    }
}

/// How long a measurement takes.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Before responses are recorded.
    pub warm_up: Duration,
    /// While they are recorded.
    pub time: Duration,
    /// When requests are sent.
    pub arrivals: Arrivals,
}

impl Window {
    /// In a closed loop.
    pub const fn closed(warm_up: Duration, time: Duration) -> Self {
        Self { warm_up, time, arrivals: Arrivals::Closed }
    }
}

/// Measures a load that must not get errors, with the CPU times of the server and of PostgreSQL.
pub fn measure(
    endpoint: Endpoint,
    requests: &Requests,
    connections: usize,
    Window { warm_up, time, arrivals }: Window,
    server: Option<u32>,
    postmaster: Option<u32>,
) -> Result<Figures> {
    let load =
        Load { endpoint, requests: Rc::clone(requests), connections, arrivals, warm_up, time, tolerates_errors: false };
    let (mut server_cpu, mut postgresql_cpu) = (CpuMeter::new(server), CpuMeter::new(postmaster));
    let recorded = run(&load, || {
        server_cpu.look();
        postgresql_cpu.look();
    })?;
    let responses = recorded.latencies.count();
    Ok(Figures {
        per_second: recorded.rate(responses),
        p50_ms: recorded.latencies.percentile_ms(50.0),
        p99_ms: recorded.latencies.percentile_ms(99.0),
        postgresql_cpu_ms: postgresql_cpu.ms_per_request(responses),
        server_cpu_ms: server_cpu.ms_per_request(responses),
        resident_mib: server.and_then(resident_mib),
        response_bytes: (responses > 0).then(|| recorded.bytes as f64 / responses as f64),
        connections,
    })
}
