//! Migrations: they add to a database everything that orderql needs, and drop nothing.
//!
//! The SQL files in `migrations/` are embedded. They work on an empty database and on an operator's OFBiz database. All
//! pending files run in one transaction, so a failed migration changes nothing.
//!
//! A database without orders gets the tables of the service alone: accounts, groups, grants, limits and their audit trail. Those
//! files run with a history of their own, because the other one only grows at its end. They add what is missing, so all files can
//! run after them.

use std::error::Error as _;

use refinery::error::Kind;
use refinery::{Migration, Runner};
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

/// The table of applied migrations of a database that has only the tables of the service.
const SERVICE_HISTORY: &str = "orderql.service_history";

/// The migrations of the service's tables that concern nothing else, by their number.
const OF_SERVICE_ALONE: [i32; 4] = [15, 26, 27, 28];

/// The parts for the service's tables of migrations that concern others as well.
const PARTS_OF_SERVICE: [(&str, &str); 2] = [
    ("V21__caller_limits", include_str!("service_migrations/V21__caller_limits.sql")),
    ("V31__update_rate", include_str!("service_migrations/V31__update_rate.sql")),
];

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
    /// The tables of the service alone are to be migrated in a database that has the order tables.
    #[error("the database has the order tables too: run without `--only service`")]
    HasOrderTables,
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

/// Which tables are migrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    Service,
}

/// Applies all pending migrations and back-fills, and returns what changed. May run at any time. Concurrent runs wait for
/// one another; the later ones find nothing to do.
///
/// Resets the session's settings to the role's defaults.
pub async fn migrate(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    migrate_scope(client, Scope::All).await
}

/// The same for the tables of the service alone. Fails if the database has the order tables.
pub async fn migrate_service(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    migrate_scope(client, Scope::Service).await
}

/// Whether the order tables of a database were migrated.
pub async fn has_order_tables(client: &Client) -> Result<bool, tokio_postgres::Error> {
    // Not `to_regclass`, which fails for a schema that the role may not use.
    let exists = "SELECT EXISTS (
                      SELECT FROM pg_class
                      WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'orderql')
                        AND relname = 'order_update'
                  )";
    client.query_one(exists, &[]).await?.try_get(0)
}

/// The names of the migrations that the database lacks.
pub(crate) async fn pending(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let (migrations, history) = if has_order_tables(client).await? {
        (embedded::migrations::runner().get_migrations().clone(), HISTORY)
    } else {
        // They are part of the program, so that they can be read.
        (service_migrations().unwrap_or_default(), SERVICE_HISTORY)
    };
    let is_there = "SELECT to_regclass($1) IS NOT NULL";
    let applied: Vec<i32> = if client.query_one(is_there, &[&history]).await?.try_get(0)? {
        let rows = client.query(&format!("SELECT version FROM {history}"), &[]).await?;
        rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?
    } else {
        Vec::new()
    };
    let missing = migrations.iter().filter(|migration| !applied.contains(&migration.version()));
    Ok(missing.map(ToString::to_string).collect())
}

async fn migrate_scope(client: &mut Client, scope: Scope) -> Result<MigrationReport, MigrateError> {
    check_server(client).await?;
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
    let result = migrate_locked(client, scope).await;
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

/// The migrations of the service's tables, in order.
fn service_migrations() -> Result<Vec<Migration>, refinery::Error> {
    let all = embedded::migrations::runner();
    let alone = all.get_migrations().iter().filter(|migration| OF_SERVICE_ALONE.contains(&migration.version()));
    let parts = PARTS_OF_SERVICE.iter().map(|(name, sql)| Migration::unapplied(name, sql));
    alone.cloned().map(Ok).chain(parts).collect()
}

async fn migrate_locked(client: &mut Client, scope: Scope) -> Result<MigrationReport, MigrateError> {
    // A role named orderql would otherwise search the schema of that name before OFBiz's. A statement that waits for a lock
    // blocks all later ones, so the wait is limited. Building an index may take any time.
    client.batch_execute("SET search_path TO public; SET lock_timeout TO '20s'; SET statement_timeout TO 0").await?;
    if scope == Scope::Service && has_order_tables(client).await? {
        return Err(MigrateError::HasOrderTables);
    }
    let before = SchemaObjects::read(client).await?;
    // Checked first, because IF NOT EXISTS needs the CREATE privilege even if the schema exists.
    if client.query_one("SELECT to_regnamespace('orderql') IS NULL", &[]).await?.try_get(0)? {
        client.batch_execute("CREATE SCHEMA orderql").await.map_err(statement_error)?;
    }
    let (runner, history) = match scope {
        Scope::All => (embedded::migrations::runner(), HISTORY),
        Scope::Service => (Runner::new(&service_migrations().map_err(migration_error)?), SERVICE_HISTORY),
    };
    let mut runner = runner.set_grouped(true);
    runner.set_migration_table_name(history);
    let applied = runner.run_async(client).await.map_err(migration_error)?;
    let after = SchemaObjects::read(client).await?;
    let report = MigrationReport {
        migrations: applied.applied_migrations().iter().map(ToString::to_string).collect(),
        ..MigrationReport::added(&before, &after)
    };
    match scope {
        Scope::Service => Ok(report),
        Scope::All => Ok(MigrationReport {
            ship_groups: count(client, "SELECT orderql.backfill_ship_groups()").await?,
            current_inventory: count(client, "SELECT orderql.backfill_current_inventory()").await?,
            parties: count(client, "SELECT orderql.backfill_parties()").await?,
            open_ship_groups: count(client, "SELECT orderql.backfill_open_ship_groups()").await?,
            ..report
        }),
    }
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
