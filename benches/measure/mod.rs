//! What the benches measure with: a private database full of orders, a driver that loads servers, their CPU time and
//! memory, histograms.
//!
//! - [`random`]: numbers that are the same in every run
//! - [`histogram`]: counted latencies
//! - [`statistics`]: the middle of numbers, and whether two go together
//! - [`framing`]: where an answer ends, and whether it is a good one
//! - [`driver`]: many connections that ask one request after the other
//! - [`open`]: requests that come whether or not earlier ones are answered
//! - [`exchange`]: single requests
//! - [`process`]: CPU time and memory of a process with its children
//! - [`spawned`]: servers that are started, and ended
//! - [`store`]: the private database
//! - [`service`]: our own server
//! - [`steps`]: the steps of a plan, outside it
//! - [`machine`]: what the figures were taken on
//! - [`command`]: what the benches' commands have in common
//! - [`svg`]: how pictures are written

#![allow(dead_code, unreachable_pub, reason = "each bench uses its part")]

pub mod random;
pub mod histogram;
pub mod statistics;
pub mod framing;
pub mod driver;
pub mod open;
pub mod exchange;
pub mod process;
pub mod spawned;
pub mod store;
pub mod service;
pub mod steps;
pub mod machine;
pub mod command;
pub mod svg;

use std::io;

use orderql::access::accounts::AccountError;
use orderql::access::password::PasswordError;
use orderql::database::error::ClusterError;
use orderql::database::migrate::MigrateError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A file, folder, socket or program of the system.
    #[error("{what}")]
    System {
        /// What was tried.
        what: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The private PostgreSQL does not run.
    #[error("the private PostgreSQL does not run")]
    Cluster(#[from] ClusterError),
    /// The database cannot be given its tables.
    #[error("the database cannot be migrated")]
    Migrate(#[from] MigrateError),
    /// The database refused a statement.
    #[error("the database refused a statement")]
    Database(#[from] tokio_postgres::Error),
    /// There is no user to ask as.
    #[error("the bench's user cannot be made")]
    Account(#[from] AccountError),
    /// There is no user to ask as.
    #[error("the bench's password cannot be hashed")]
    Password(#[from] PasswordError),
    /// A program failed.
    #[error("{program} failed: {said}")]
    Program {
        /// The program.
        program: String,
        /// What it said.
        said: String,
    },
    /// An answer is not what it should be.
    #[error("{from} answered {what}")]
    Answer {
        /// Who gave it.
        from: String,
        /// What it was.
        what: String,
    },
    /// Somebody could not be measured.
    #[error("{who} could not be measured with {what}")]
    Measurement {
        /// Who.
        who: String,
        /// The workload.
        what: String,
        /// Why.
        #[source]
        source: Box<Fault>,
    },
    /// Two that should answer the same do not.
    #[error("{0}")]
    Unequal(String),
    /// The data have not what is to be measured.
    #[error("{0}")]
    Data(String),
}

impl Fault {
    /// A reason of the system's, with what was tried.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what: what.into(), source }
    }
}
