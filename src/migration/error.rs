//! Why a migration failed.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::migration::partitions::UnsupportedPartitions;

/// Why a migration failed. What was done before stays only where indexes are built: another run goes on there.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The server is older than PostgreSQL 14.
    #[error("the server runs PostgreSQL {version}, and orderql needs 14 or later: upgrade the server")]
    ServerTooOld {
        /// The server's version.
        version: String,
    },
    /// The database was migrated by a later version.
    #[error("the database was migrated by orderql {version}, and this is {}: run that version, or a later one", env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The later version.
        version: String,
    },
    /// The tables of the service alone are to be migrated in a database that has the order tables.
    #[error("the database has the order tables too: run without `--only service`")]
    HasOrderTables,
    /// A table is partitioned so that it cannot be served.
    #[error("{0}; nothing was changed")]
    Partitions(UnsupportedPartitions),
    /// Another session has locked a table.
    #[error(
        "a table to be changed is in use: stop OFBiz or wait for its work, then run again, which goes on from here"
    )]
    TableInUse(#[source] tokio_postgres::Error),
    /// The role lacks a privilege.
    #[error("the role {role} lacks a right: run as {owner}, with CREATE on the database")]
    NotAllowed {
        /// The role that migrates.
        role: String,
        /// The owner of the tables.
        owner: String,
        /// PostgreSQL's error.
        source: tokio_postgres::Error,
    },
    /// A statement failed.
    #[error("the migration failed at: {step}")]
    Failed {
        /// The title of the step.
        step: String,
        /// PostgreSQL's error.
        source: tokio_postgres::Error,
    },
    /// The database cannot be reached, or cannot be examined.
    #[error("the database cannot be migrated")]
    Database(#[from] tokio_postgres::Error),
    /// The built-in schema cannot be read.
    #[error("the built-in schema cannot be read: {0}")]
    Schema(String),
}

impl MigrateError {
    /// The error of a statement.
    pub(super) async fn of(client: &Client, step: &str, source: tokio_postgres::Error) -> Self {
        match source.code() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => Self::TableInUse(source),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Self::not_allowed(client, source).await,
            Some(_) => Self::Failed { step: step.to_owned(), source },
            None => Self::Database(source),
        }
    }

    /// The error of a role that lacks a right, with the name of the role that has it.
    async fn not_allowed(client: &Client, source: tokio_postgres::Error) -> Self {
        let select = "SELECT current_user::text, (SELECT relowner::regrole::text FROM pg_class
                                                  WHERE oid = to_regclass('public.order_header'))";
        let row = client.query_one(select, &[]).await.ok();
        let name = |column| row.as_ref().and_then(|row| row.try_get::<_, Option<String>>(column).ok().flatten());
        let owner = name(1).map_or_else(String::new, |owner| format!("{owner}, "));
        Self::NotAllowed {
            role: name(0).unwrap_or_else(|| "of the address".to_owned()),
            owner: format!("{owner}the owner of OFBiz's tables"),
            source,
        }
    }
}
