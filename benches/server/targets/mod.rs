//! What is measured: orderql, the limits, and the peers.
//!
//! - [`http`]: servers that speak GraphQL over HTTP
//! - [`peers`]: how the programs of others are built and started
//! - [`floor`]: a bare HTTP server
//! - [`pgbench`]: the limit (a1)
//! - [`pipelined`]: the limit (a2), and its [`messages`]

pub mod http;
pub mod peers;
pub mod floor;
pub mod pgbench;
pub mod pipelined;
mod messages;

use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::client::Endpoint;
use crate::database::Database;
use crate::driver::{Arrivals, Load, Requests, run};
use crate::error::Result;
use crate::keys::{Key, Keys};
use crate::usage::{CpuMeter, resident_mib};
use crate::workload::Workload;

/// Connections to every server.
pub const CONNECTIONS: usize = 32;

/// The numbers of connections that the limits are tried with; the best one counts.
const TRIED_CONNECTIONS: [usize; 5] = [2, 4, 8, 16, 32];

/// A target's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// The complete service
    Orderql,
    /// A limit: pgbench with a statement that returns the finished JSON
    A1,
    /// A limit: the statements of orderql's own plan, pipelined, with all keys known
    A2,
    /// A peer: async-graphql with a data loader, and deadpool-postgres
    AsyncGraphql,
    /// A peer: `PostGraphile` 5, two workers
    Postgraphile,
    /// The floor of HTTP: a bare hyper server with a constant response of the same size
    Floor,
}

impl Name {
    /// The name, also of a peer's folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orderql => "orderql",
            Self::A1 => "a1",
            Self::A2 => "a2",
            Self::AsyncGraphql => "async-graphql",
            Self::Postgraphile => "postgraphile",
            Self::Floor => "floor",
        }
    }

    /// Whether it is a program of `benches/peers` that cargo builds.
    pub const fn is_rust_peer(self) -> bool {
        matches!(self, Self::AsyncGraphql | Self::Floor)
    }

    /// The name in tables.
    pub const fn legend(self) -> &'static str {
        match self {
            Self::Orderql => "orderql: the complete service",
            Self::A1 => "a1: JSON built in the database, no HTTP",
            Self::A2 => "a2: our plan's plain columns, pipelined, no HTTP",
            Self::AsyncGraphql => "b: async-graphql + DataLoader",
            Self::Postgraphile => "c: PostGraphile 5, two workers",
            Self::Floor => "d: bare hyper, constant response",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What targets are measured on.
pub struct Context<'a> {
    /// The database.
    pub database: &'a Database,
    /// What is asked for.
    pub keys: &'a Keys,
    /// Flags for orderql.
    pub server_flags: &'a [String],
    /// The folder of the peers' programs, if they could be built.
    pub peers: Result<&'a Path, String>,
    /// Rounds of every measurement.
    pub rounds: usize,
    /// How long a measurement takes.
    pub time: Duration,
    /// Seed of random turns.
    pub seed: u64,
}

/// What one target did with one workload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Responses a second.
    pub per_second: f64,
    /// The median latency, in milliseconds.
    pub p50_ms: f64,
    /// The latency that one in a hundred exceeds, in milliseconds.
    pub p99_ms: f64,
    /// The server's CPU time a request, in milliseconds.
    pub server_cpu_ms: Option<f64>,
    /// PostgreSQL's CPU time a request, in milliseconds.
    pub postgresql_cpu_ms: Option<f64>,
    /// The server's resident memory when the measurement ended, in MiB.
    pub resident_mib: Option<f64>,
    /// Bytes of a response.
    pub response_bytes: Option<f64>,
    /// Connections.
    pub clients: usize,
}

/// Something that can be measured with every workload.
pub trait Target {
    /// Its name.
    fn name(&self) -> Name;

    /// The `data` of its response for a key; `None` where its responses are not its own.
    fn data(&mut self, _workload: Workload, _key: &Key) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Does beforehand what is not measured.
    fn prepare(&mut self, _workload: Workload) -> Result<()> {
        Ok(())
    }

    /// Measures a workload.
    fn measure(&mut self, workload: Workload, warm_up: Duration, time: Duration) -> Result<Figures>;
}

/// Measures a closed loop that must not get errors, with the CPU times of the server and of PostgreSQL.
pub fn measure(
    endpoint: Endpoint,
    requests: &Requests,
    connections: usize,
    (warm_up, time): (Duration, Duration),
    server: Option<u32>,
    postmaster: Option<u32>,
) -> Result<Figures> {
    let (requests, arrivals) = (Rc::clone(requests), Arrivals::Closed);
    let load = Load { endpoint, requests, connections, arrivals, warm_up, time, tolerates_errors: false };
    let (mut server_cpu, mut postgresql_cpu) = (CpuMeter::new(server), CpuMeter::new(postmaster));
    let recorded = run(&load, || {
        server_cpu.look();
        postgresql_cpu.look();
    })?;
    let responses = recorded.latencies.count();
    Ok(Figures {
        per_second: recorded.per_second(),
        p50_ms: recorded.latencies.percentile_ms(50.0),
        p99_ms: recorded.latencies.percentile_ms(99.0),
        server_cpu_ms: server_cpu.ms_per_request(responses),
        postgresql_cpu_ms: postgresql_cpu.ms_per_request(responses),
        resident_mib: server.and_then(resident_mib),
        response_bytes: (responses > 0).then(|| recorded.bytes as f64 / responses as f64),
        clients: connections,
    })
}
