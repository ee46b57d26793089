//! Why a benchmark ends early, or leaves out a target.

use std::io;

use hdrhistogram::CreationError;
use orderql::access::accounts::AccountError;
use orderql::access::password::PasswordError;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::migration::migrate::MigrateError;
use orderql::private_cluster::error::ClusterError;
use orderql::schema_file::error::SchemaError;

pub type Result<T, E = BenchError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("cannot {action}")]
    Io { action: String, source: io::Error },
    #[error("the private PostgreSQL does not start")]
    Cluster(#[from] ClusterError),
    #[error("the database cannot be migrated")]
    Migrate(#[from] MigrateError),
    #[error("the database rejected a statement")]
    Database(#[from] tokio_postgres::Error),
    #[error("a user account cannot be created")]
    Account(#[from] AccountError),
    #[error("a password cannot be hashed")]
    Password(#[from] PasswordError),
    #[error("the built-in schema is not valid")]
    Schema(#[from] SchemaError),
    #[error("a query is not valid: {errors}\n{query}")]
    Query { errors: GraphqlErrors, query: String },
    #[error("a plan has parameters that the benchmarks do not know")]
    Plan,
    #[error("a histogram cannot be created")]
    Histogram(#[from] CreationError),
    #[error("JSON cannot be read or written")]
    Json(#[from] serde_json::Error),
    #[error("{0} is not installed")]
    NotInstalled(&'static str),
    #[error("{program} failed: {output}")]
    Program { program: String, output: String },
    #[error("{server} responded: {response}")]
    Response { server: String, response: String },
    /// Two targets respond differently to the same query.
    #[error("{0}")]
    Mismatch(String),
    /// The database or the system lacks what is to be measured.
    #[error("{0}")]
    Data(String),
    #[error("{what} could not be measured")]
    Measurement { what: String, source: Box<BenchError> },
}

impl BenchError {
    /// An I/O error, with what was tried.
    pub fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action: action.into(), source }
    }
}
