//! Whether a pooler between the server and PostgreSQL can be used. A pooler that gives each transaction another connection has to
//! keep the statements that its clients have prepared. PgBouncer before 1.21 does not, and may crash when a statement is cancelled.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::database::address::connection_string::SessionTarget;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;

/// How often the backends of two connections are compared: each may have been given another one by chance.
const ATTEMPTS: usize = 5;

/// The oldest PgBouncer that can be used.
const OLDEST: (u32, u32) = (1, 21);

/// The database by which PgBouncer answers for itself, to roles that are named in `stats_users`.
const CONSOLE: &str = "pgbouncer";

/// Why a pooler cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PoolerError {
    /// It is too old.
    #[error("the pooler is {version}, which may crash when a statement is cancelled: upgrade it to 1.21 or later")]
    TooOld {
        /// Its name and version.
        version: String,
    },
    /// Prepared statements get lost between transactions.
    #[error(
        "the pooler gives each transaction another connection and does not keep prepared statements, as PgBouncer before version \
         1.21: upgrade it (and leave max_prepared_statements above 0), or set pool_mode = session"
    )]
    ForgetsStatements,
    /// The database reported an error, or cannot be reached.
    #[error("cannot find out what pooler is between")]
    Database(#[from] Error),
}

impl PoolerError {
    /// Whether it stays as it is until somebody changes the pooler.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Database(_))
    }
}

/// How connections reach PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Each has a backend of its own: there is no pooler, or it pools sessions.
    BySession,
    /// Each transaction may have another backend.
    ByTransaction,
}

/// Finds out how connections are pooled. Fails if they are so that queries would fail.
pub(crate) async fn examine(database: &DatabaseAddress) -> Result<Pooling, PoolerError> {
    let database = database.for_role(Role::Command);
    if let Some(version) = version(&database).await
        && is_too_old(&version)
    {
        return Err(PoolerError::TooOld { version });
    }
    let (first, second) = (connect(&database).await?, connect(&database).await?);
    for _ in 0..ATTEMPTS {
        if backend(&first).await? == backend(&second).await? {
            if !keeps_statements(&first).await? {
                return Err(PoolerError::ForgetsStatements);
            }
            return Ok(Pooling::ByTransaction);
        }
    }
    Ok(Pooling::BySession)
}

/// The name and version of a PgBouncer, if there is one that tells this role.
async fn version(database: &DatabaseAddress) -> Option<String> {
    let mut console = database.clone().with_target(SessionTarget::Any);
    console.config.dbname(CONSOLE);
    first_cell(&connect(&console).await.ok()?, "SHOW VERSION").await.ok()?
}

/// Whether a text such as `PgBouncer 1.18.0` names a version that is too old.
fn is_too_old(version: &str) -> bool {
    let numbers = version.strip_prefix("PgBouncer ").map(|version| version.split('.').map(str::parse::<u32>));
    let Some([Some(Ok(major)), Some(Ok(minor))]) = numbers.map(|mut numbers| [numbers.next(), numbers.next()]) else {
        return false;
    };
    (major, minor) < OLDEST
}

/// The process that serves the connection now.
async fn backend(client: &Client) -> Result<Option<String>, Error> {
    first_cell(client, "SELECT pg_backend_pid()").await
}

async fn first_cell(client: &Client, statement: &str) -> Result<Option<String>, Error> {
    let messages = client.simple_query(statement).await?;
    Ok(messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

/// Whether the pooler gives prepared statements names of its own, by which it prepares them again elsewhere.
async fn keeps_statements(client: &Client) -> Result<bool, Error> {
    let names = "SELECT 1 FROM pg_prepared_statements WHERE name LIKE 'PGBOUNCER\\_%' LIMIT 1";
    let found = async { client.query_opt(&client.prepare(names).await?, &[]).await };
    match found.await {
        Ok(found) => Ok(found.is_some()),
        // It was prepared on another one.
        Err(error) if error.code() == Some(&SqlState::INVALID_SQL_STATEMENT_NAME) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgbouncer_is_too_old_before_1_21() {
        for old in ["PgBouncer 1.18.0", "PgBouncer 1.9", "PgBouncer 0.99.1"] {
            assert!(is_too_old(old), "{old}");
        }
        for fine in ["PgBouncer 1.21.0", "PgBouncer 1.24.1", "PgBouncer 2.0", "PostgreSQL 15.3", "PgBouncer ?", ""] {
            assert!(!is_too_old(fine), "{fine}");
        }
    }
}
