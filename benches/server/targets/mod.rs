//! What is measured: orderql, the limits, and the peers.
//!
//! - [`figures`]: what is measured of them
//! - [`http`]: servers that speak GraphQL over HTTP
//! - [`peers`]: how the programs of others are built and started
//! - [`floor`]: a bare HTTP server
//! - [`pgbench`]: the limit (a1)
//! - [`pipelined`]: the limit (a2), and its [`messages`]

pub mod figures;
pub mod http;
pub mod peers;
pub mod floor;
pub mod pgbench;
pub mod pipelined;
mod messages;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::database::Database;
use crate::error::Result;
use crate::keys::Keys;
use crate::workload::{Key, Workload};
use figures::{Figures, Window};

/// Connections to every server, unless a run says otherwise.
pub const CONNECTIONS: usize = 32;

/// The numbers of connections that the limits are tried with; the best one counts.
const TRIED_CONNECTIONS: [usize; 5] = [2, 4, 8, 16, 32];

/// A target's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// The complete service
    Orderql,
    /// Another build of it, which --other names
    Other,
    /// A limit: pgbench with a statement that returns the finished JSON
    A1,
    /// A limit: the statement of orderql's own plan, with nothing else
    A2,
    /// A peer with a data loader, and deadpool-postgres
    AsyncGraphql,
    /// A peer on Node, with two workers
    Postgraphile,
    /// The floor of HTTP: a bare hyper server with a constant response of the same size
    Floor,
}

impl Name {
    /// The name, also of a peer's folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orderql => "orderql",
            Self::Other => "other",
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
            Self::Other => "other: the other build of it",
            Self::A1 => "a1: JSON built in the database, no HTTP",
            Self::A2 => "a2: our plan's statement alone, no HTTP",
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
    /// Another build of orderql, if there is one to compare with.
    pub other: Option<&'a Path>,
    /// The folder of the peers' programs, if they could be built.
    pub peers: Result<&'a Path, String>,
    /// Rounds of every measurement.
    pub rounds: usize,
    /// Connections to every server under load.
    pub connections: usize,
    /// How long a measurement takes.
    pub time: Duration,
    /// Seed of random turns.
    pub seed: u64,
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

    /// Measures a workload over so many connections, unless the target has a number of its own that is best.
    fn measure(&mut self, workload: Workload, connections: usize, window: Window) -> Result<Figures>;
}
