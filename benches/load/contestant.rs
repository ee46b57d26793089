//! Who is measured, and what is measured of them.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::keys::Key;
use crate::measure::Fault;
use crate::workload::Workload;

/// A contestant's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// The complete service.
    Orderql,
    /// A limit: pgbench with a statement that returns the finished JSON.
    A1,
    /// A limit: the plain-column statements of our own plan, pipelined, with keys known.
    A2,
    /// A peer: async-graphql with a data loader, and deadpool-postgres.
    AsyncGraphql,
    /// A peer: `PostGraphile` 5, two workers.
    Postgraphile,
    /// The floor of HTTP: a bare hyper server that answers a constant of the same size.
    Floor,
}

impl Name {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 6] = [Self::Orderql, Self::A1, Self::A2, Self::AsyncGraphql, Self::Postgraphile, Self::Floor];

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

    /// What it is, in a few words.
    pub const fn legend(self) -> &'static str {
        match self {
            Self::Orderql => "orderql: the complete service",
            Self::A1 => "a1: JSON built in the database, no HTTP",
            Self::A2 => "a2: our plan's plain columns, pipelined, no HTTP",
            Self::AsyncGraphql => "b: async-graphql + DataLoader",
            Self::Postgraphile => "c: PostGraphile 5, two workers",
            Self::Floor => "d: bare hyper, constant answer",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How long a measurement takes.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Before it counts.
    pub warm_up: Duration,
    /// While it counts.
    pub time: Duration,
}

/// What one contestant did with one workload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Good answers a second.
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
    /// Bytes of an answer.
    pub answer_bytes: Option<f64>,
    /// Connections that asked.
    pub clients: usize,
}

/// Somebody who can be measured.
pub trait Contestant {
    /// Its name.
    fn name(&self) -> Name;

    /// Its answer to a key, as GraphQL's `data`; nothing where it makes no answers of its own.
    fn answer(&mut self, workload: Workload, key: &Key) -> Result<Option<Value>, Fault>;

    /// Makes ready for a workload: what takes time, and is not measured.
    fn prepare(&mut self, workload: Workload) -> Result<(), Fault>;

    /// Measures a workload.
    fn measure(&mut self, workload: Workload, window: Window) -> Result<Figures, Fault>;
}
