//! Migrations: they add to a database everything that orderql needs, and drop nothing.
//!
//! The SQL files in `migrations/` are embedded. They work on an empty database and on an operator's OFBiz database. All
//! pending files run in one transaction, so a failed migration changes nothing.

use std::error::Error as _;

use refinery::error::Kind;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::database::migration_report::MigrationReport;
use crate::database::schema_objects::SchemaObjects;

mod embedded {
    refinery::embed_migrations!("src/database/migrations");
}

/// The oldest supported server, in the form of `server_version_num`.
const MIN_SERVER_VERSION: i32 = 140_000;

/// Refinery's table of applied migrations, in our schema rather than OFBiz's.
const HISTORY: &str = "orderql.schema_history";

/// The key of the advisory lock that serializes migrations: the bytes of "orderql".
const LOCK: i64 = 0x6f_7264_6572_716c;

/// Why a migration failed. Nothing was changed, except that back-fills which completed before the failure are kept.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The server is older than PostgreSQL 14.
    #[error("the server runs PostgreSQL {version}, and orderql needs 14 or later: upgrade the server")]
    ServerTooOld {
        /// The server's version.
        version: String,
    },
    /// The database has a migration that this version does not have, or has with another text.
    #[error(
        "the database was migrated by another version of orderql ({migration}): run the newest version, or restore a \
         backup of before"
    )]
    OtherVersion {
        /// The migration's name.
        migration: String,
    },
    /// Another session has locked a table.
    #[error(
        "a table to be changed is in use, and nothing was changed: stop OFBiz or wait for its work, then run again"
    )]
    TableInUse(#[source] Cause),
    /// The role lacks a privilege.
    #[error(
        "the database role lacks a right, and nothing was changed: run as the owner of OFBiz's tables, with CREATE on \
         the database"
    )]
    NotAllowed(#[source] Cause),
    /// Another statement of the migration failed.
    #[error("the migration failed, and nothing was changed")]
    Failed(#[source] Cause),
    /// The database cannot be reached, or a statement outside the migration files failed.
    #[error("the database cannot be migrated")]
    Database(#[source] tokio_postgres::Error),
}

/// PostgreSQL's error, wrapped in refinery's if a migration file failed.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Applies all pending migrations and back-fills, and returns what changed. May run at any time. Concurrent runs wait for
/// one another; the later ones find nothing to do.
///
/// Resets the session's settings to the role's defaults.
pub async fn migrate(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    check_server(client).await?;
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
    let result = migrate_locked(client).await;
    let reset = client
        .batch_execute(&format!("RESET search_path; RESET lock_timeout; SELECT pg_advisory_unlock({LOCK})"))
        .await;
    let report = result?;
    reset?;
    Ok(report)
}

/// A hash over all migrations, for caches of migrated databases.
pub fn fingerprint() -> u64 {
    embedded::migrations::runner()
        .get_migrations()
        .iter()
        .fold(0, |hash: u64, migration| hash.rotate_left(5) ^ migration.checksum())
}

async fn check_server(client: &Client) -> Result<(), MigrateError> {
    let row = client
        .query_one("SELECT current_setting('server_version_num')::int, current_setting('server_version')", &[])
        .await?;
    if row.try_get::<_, i32>(0)? < MIN_SERVER_VERSION {
        return Err(MigrateError::ServerTooOld { version: row.try_get(1)? });
    }
    Ok(())
}

async fn migrate_locked(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    // A role named orderql would otherwise search the schema of that name before OFBiz's. A statement that waits for a lock
    // blocks all later ones, so the wait is limited. Building an index may take any time.
    client.batch_execute("SET search_path TO public; SET lock_timeout TO '20s'; SET statement_timeout TO 0").await?;
    let before = SchemaObjects::read(client).await?;
    // Checked first, because IF NOT EXISTS needs the CREATE privilege even if the schema exists.
    if client.query_one("SELECT to_regnamespace('orderql') IS NULL", &[]).await?.try_get(0)? {
        client.batch_execute("CREATE SCHEMA orderql").await.map_err(statement_error)?;
    }
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    let applied = runner.run_async(client).await.map_err(migration_error)?;
    let after = SchemaObjects::read(client).await?;
    let report = MigrationReport {
        migrations: applied.applied_migrations().iter().map(ToString::to_string).collect(),
        ship_groups: count(client, "SELECT orderql.backfill_ship_groups()").await?,
        current_inventory: count(client, "SELECT orderql.backfill_current_inventory()").await?,
        parties: count(client, "SELECT orderql.backfill_parties()").await?,
        ..MigrationReport::added(&before, &after)
    };
    Ok(report)
}

async fn count(client: &Client, sql: &str) -> Result<i64, MigrateError> {
    let row = client.query_one(sql, &[]).await.map_err(statement_error)?;
    Ok(row.try_get(0)?)
}

fn migration_error(error: refinery::Error) -> MigrateError {
    if let Kind::DivergentVersion(migration, _) | Kind::MissingVersion(migration) = error.kind() {
        return MigrateError::OtherVersion { migration: migration.to_string() };
    }
    let code = error.source().and_then(|source| source.downcast_ref::<tokio_postgres::Error>()?.code().cloned());
    classify(code.as_ref(), error.into()).unwrap_or_else(MigrateError::Failed)
}

fn statement_error(error: tokio_postgres::Error) -> MigrateError {
    match error.code().cloned() {
        Some(code) => classify(Some(&code), error.into()).unwrap_or_else(MigrateError::Failed),
        None => MigrateError::Database(error),
    }
}

/// The error for a cause that the operator can fix; otherwise returns the cause.
fn classify(code: Option<&SqlState>, cause: Cause) -> Result<MigrateError, Cause> {
    match code {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(MigrateError::TableInUse(cause)),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(MigrateError::NotAllowed(cause)),
        _ => Err(cause),
    }
}

impl From<tokio_postgres::Error> for MigrateError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}
