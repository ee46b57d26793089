//! Why a benchmark ends early.

use std::io;

use hdrhistogram::CreationError;
use orderql::access::accounts::AccountError;
use orderql::access::password::PasswordError;
use orderql::catalog::error::SchemaError;
use orderql::database::error::ClusterError;
use orderql::database::migrate::MigrateError;
use orderql::error::graphql_error::GraphqlErrors;

/// A result of the benchmarks.
pub type Result<T, E = BenchError> = std::result::Result<T, E>;

/// Why a benchmark ends early, or why a target is left out.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file, socket or program cannot be used.
    #[error("cannot {action}")]
    Io {
        /// What was tried.
        action: String,
        /// The reason.
        source: io::Error,
    },
    /// The private PostgreSQL does not start.
    #[error("the private PostgreSQL does not start")]
    Cluster(#[from] ClusterError),
    /// The database cannot be migrated.
    #[error("the database cannot be migrated")]
    Migrate(#[from] MigrateError),
    /// The database rejected a statement.
    #[error("the database rejected a statement")]
    Database(#[from] tokio_postgres::Error),
    /// A user account cannot be created.
    #[error("a user account cannot be created")]
    Account(#[from] AccountError),
    /// A password cannot be hashed.
    #[error("a password cannot be hashed")]
    Password(#[from] PasswordError),
    /// The built-in schema is not valid.
    #[error("the built-in schema is not valid")]
    Schema(#[from] SchemaError),
    /// A query of the benchmarks is not valid.
    #[error("a query is not valid: {errors}\n{query}")]
    Query {
        /// What is wrong with it.
        errors: GraphqlErrors,
        /// Its text.
        query: String,
    },
    /// A plan has parameters that the benchmarks cannot fill in.
    #[error("a plan has parameters that the benchmarks do not know")]
    Plan,
    /// The histogram's bounds are not valid.
    #[error("a histogram cannot be created")]
    Histogram(#[from] CreationError),
    /// Results cannot be written as JSON.
    #[error("the results cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A program is not installed.
    #[error("{0} is not installed")]
    NotInstalled(&'static str),
    /// A program failed.
    #[error("{program} failed: {output}")]
    Program {
        /// The program.
        program: String,
        /// What it printed.
        output: String,
    },
    /// A server sent something else than what was asked for.
    #[error("{server} responded: {response}")]
    Response {
        /// The server.
        server: String,
        /// The response, or what is wrong with it.
        response: String,
    },
    /// Two targets respond differently to the same query.
    #[error("{0}")]
    Mismatch(String),
    /// The data do not have what is to be measured.
    #[error("{0}")]
    Data(String),
    /// A measurement failed.
    #[error("{what} could not be measured")]
    Measurement {
        /// The target and its workload, or the query.
        what: String,
        /// The reason.
        source: Box<BenchError>,
    },
}

impl BenchError {
    /// An I/O error, with what was tried.
    pub fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action: action.into(), source }
    }
}
