//! Migrations: they add to a database everything that orderql needs, and drop nothing.
//!
//! The SQL files in `migrations/` are embedded. They work on an empty database and on an operator's OFBiz database. All
//! pending files run in one transaction, so a failed migration changes nothing.
//!
//! A database without orders gets the tables of the service alone: accounts, groups, grants, limits and their audit trail. Those
//! files run with a history of their own, because the other one only grows at its end. They add what is missing, so all files can
//! run after them.

use std::error::Error as _;
use std::time::Duration;

use refinery::error::Kind;
use refinery::{Migration, Runner};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::database::index_build::make_missing;
use crate::database::indexes::{self, MissingIndex};
use crate::database::migration_report::MigrationReport;
use crate::database::partitions::{self, UnsupportedPartitions};
use crate::database::schema_objects::SchemaObjects;
use crate::database::vacuum::vacuum;

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
const OF_SERVICE_ALONE: [i32; 10] = [15, 26, 27, 28, 32, 37, 39, 40, 41, 42];

/// The parts for the service's tables of migrations that concern others as well.
const PARTS_OF_SERVICE: [(&str, &str); 2] = [
    ("V21__caller_limits", include_str!("service_migrations/V21__caller_limits.sql")),
    ("V31__update_rate", include_str!("service_migrations/V31__update_rate.sql")),
];

/// The columns that indexes need, and that migrations add to OFBiz's tables: those of this migration, and of others.
const COLUMNS: &str = include_str!("migrations/V11__missing_columns.sql");
const OTHER_COLUMNS: [&str; 2] = [
    "ALTER TABLE shipment_status ADD COLUMN IF NOT EXISTS shipment_status_id VARCHAR(20) DEFAULT ''",
    "DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE return_header ADD COLUMN IF NOT EXISTS orderql_product_store_id ' || format_type(atttypid, atttypmod)
     FROM pg_attribute WHERE attrelid = 'order_header'::regclass AND attname = 'product_store_id'); END $$",
];

/// The key of the advisory lock that serializes migrations: the bytes of "orderql".
const LOCK: i64 = 0x6f_7264_6572_716c;

/// Between two attempts to get it.
const LOCK_INTERVAL: Duration = Duration::from_millis(200);

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
    /// A table is partitioned so that it cannot be served.
    #[error("{0}; nothing was changed")]
    Partitions(UnsupportedPartitions),
    /// Another session has locked a table.
    #[error(
        "a table to be changed is in use, and nothing was changed: stop OFBiz or wait for its work, then run again"
    )]
    TableInUse(#[source] Cause),
    /// The role lacks a privilege.
    #[error("the role {role} lacks a right, and nothing was changed: run as {owner}, with CREATE on the database")]
    NotAllowed {
        /// The role that migrates.
        role: String,
        /// Whose the tables are.
        owner: String,
        /// PostgreSQL's error.
        source: Cause,
    },
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
    migrate_scope(client, Scope::All, false).await
}

/// The same, but the indexes of tables that stand are built beside their writers, which takes longer. What an
/// interrupted run has built is kept, and what it has not finished is built again.
pub async fn migrate_concurrently(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    migrate_scope(client, Scope::All, true).await
}

/// The same for the tables of the service alone. Fails if the database has the order tables.
pub async fn migrate_service(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    migrate_scope(client, Scope::Service, false).await
}

/// The statements that a migration would run, and the names of their migrations. The statements of back-fills come last, and those
/// of indexes that were dropped.
pub(crate) async fn planned(client: &Client, is_service: bool) -> Result<Vec<(String, String)>, MigrateError> {
    let (migrations, history) = if is_service {
        (service_migrations().map_err(migration_error)?, SERVICE_HISTORY)
    } else {
        (embedded::migrations::runner().get_migrations().clone(), HISTORY)
    };
    let applied = applied(client, history).await?;
    let pending = migrations.iter().filter(|migration| !applied.contains(&migration.version()));
    let mut planned: Vec<_> =
        pending.map(|migration| (migration.to_string(), migration.sql().unwrap_or_default().to_owned())).collect();
    if !is_service {
        if planned.is_empty() {
            let missing = indexes::missing(client).await?;
            let statements = missing.iter().flat_map(MissingIndex::statements).map(|sql| format!("{sql};\n"));
            planned.push(("indexes that were dropped or changed".to_owned(), statements.collect()));
        }
        let back_fills = BACK_FILLS.map(|function| format!("SELECT orderql.{function}();\n")).concat();
        planned.push(("back-fills".to_owned(), back_fills));
    }
    planned.retain(|(_, sql)| !sql.is_empty());
    Ok(planned)
}

/// The functions that fill in what OFBiz knows otherwise.
const BACK_FILLS: [&str; 3] = ["backfill_parties", "backfill_search_columns", "backfill_item_places"];

/// How many orders' items are filled in by one transaction.
const ORDERS_AT_ONCE: i32 = 500;

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
    let applied = applied(client, history).await?;
    let missing = migrations.iter().filter(|migration| !applied.contains(&migration.version()));
    Ok(missing.map(ToString::to_string).collect())
}

/// The versions of the migrations that were applied.
async fn applied(client: &Client, history: &str) -> Result<Vec<i32>, tokio_postgres::Error> {
    let is_there = "SELECT to_regclass($1) IS NOT NULL";
    if !client.query_one(is_there, &[&history]).await?.try_get(0)? {
        return Ok(Vec::new());
    }
    let rows = client.query(&format!("SELECT version FROM {history}"), &[]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Waits until no other migration runs. Asks again and again, because a statement that waited would hold a snapshot, and the other one's
/// concurrent index builds wait for those who hold older snapshots.
async fn lock(client: &Client) -> Result<(), tokio_postgres::Error> {
    while !client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?.try_get::<_, bool>(0)? {
        tokio::time::sleep(LOCK_INTERVAL).await;
    }
    Ok(())
}

async fn migrate_scope(client: &mut Client, scope: Scope, concurrently: bool) -> Result<MigrationReport, MigrateError> {
    check_server(client).await?;
    if scope == Scope::All
        && let Some(found) = partitions::unsupported(client, &texts()).await?
    {
        return Err(MigrateError::Partitions(found));
    }
    lock(client).await?;
    let result = migrate_locked(client, scope, concurrently).await;
    let reset = client
        .batch_execute(&format!(
            "RESET search_path; RESET lock_timeout; RESET statement_timeout; SELECT pg_advisory_unlock({LOCK})"
        ))
        .await;
    let report = match result {
        Err(MigrateError::NotAllowed { source, .. }) => return Err(not_allowed(client, source).await),
        result => result?,
    };
    reset?;
    Ok(report)
}

/// The texts of all migrations.
pub(super) fn texts() -> Vec<String> {
    embedded::migrations::runner().get_migrations().iter().filter_map(Migration::sql).map(str::to_owned).collect()
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

async fn migrate_locked(
    client: &mut Client,
    scope: Scope,
    concurrently: bool,
) -> Result<MigrationReport, MigrateError> {
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
    if concurrently {
        build_beside_writers(client).await.map_err(statement_error)?;
    }
    let (runner, history) = match scope {
        Scope::All => (embedded::migrations::runner(), HISTORY),
        Scope::Service => (Runner::new(&service_migrations().map_err(migration_error)?), SERVICE_HISTORY),
    };
    let mut runner = runner.set_grouped(true);
    runner.set_migration_table_name(history);
    let applied = runner.run_async(client).await;
    if concurrently {
        client.batch_execute(&drop_placeholders()).await.map_err(statement_error)?;
    }
    let applied = applied.map_err(migration_error)?;
    let repaired = match scope {
        Scope::Service => Vec::new(),
        Scope::All => make_missing(client, concurrently).await.map_err(statement_error)?,
    };
    let after = SchemaObjects::read(client).await?;
    let report = MigrationReport {
        migrations: applied.applied_migrations().iter().map(ToString::to_string).collect(),
        ..MigrationReport::added(&before, &after)
    };
    if scope == Scope::Service {
        return Ok(report);
    }
    let filled_places = fill_item_places(client).await.map_err(statement_error)?;
    let mut counts = [0; 3];
    for (function, count) in BACK_FILLS.iter().zip(&mut counts) {
        let row = client.query_one(&format!("SELECT orderql.{function}()"), &[]).await.map_err(statement_error)?;
        *count = row.try_get(0)?;
    }
    let [parties, search_columns, differing_places] = counts;
    let item_places = filled_places + differing_places;
    let filled = [("orderql.party", parties), ("orderql.item_place", item_places), ("return_header", search_columns)];
    let filled: Vec<_> = filled.into_iter().filter_map(|(table, count)| (count > 0).then_some(table)).collect();
    vacuum(client, &filled).await.map_err(statement_error)?;
    Ok(MigrationReport { repaired, parties, search_columns, item_places, ..report })
}

/// Fills the empty table of the items in their groups, some orders in each transaction, so that writers of others need not wait. Returns the
/// number of rows.
async fn fill_item_places(client: &Client) -> Result<i64, tokio_postgres::Error> {
    if client.query_one("SELECT EXISTS (SELECT FROM orderql.item_place)", &[]).await?.try_get(0)? {
        return Ok(0);
    }
    let mut last = Some(String::new());
    while let Some(after) = last {
        let fill = "SELECT orderql.fill_item_places($1, $2)";
        last = client.query_one(fill, &[&after, &ORDERS_AT_ONCE]).await?.try_get(0)?;
    }
    client.query_one("SELECT count(*) FROM orderql.item_place", &[]).await?.try_get(0)
}

/// Builds the indexes of tables that stand before migrations need them, which then find them. Migrations make some that later ones
/// replace: views of their names keep these from being built.
async fn build_beside_writers(client: &Client) -> Result<(), tokio_postgres::Error> {
    if applied(client, HISTORY).await?.is_empty() {
        let lines = COLUMNS.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
        for statement in lines.split(';').chain(OTHER_COLUMNS) {
            match client.batch_execute(statement).await {
                // The migrations make the table.
                Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {}
                done => done?,
            }
        }
        for name in placeholders() {
            let is_free = "SELECT to_regclass($1) IS NULL";
            if client.query_one(is_free, &[&name]).await?.try_get(0)? {
                client.batch_execute(&format!("CREATE VIEW public.{name} AS SELECT 1 AS placeholder")).await?;
            }
        }
    }
    // Waits for transactions that have begun before, however long they take.
    client.batch_execute("SET lock_timeout TO 0").await?;
    make_missing(client, true).await?;
    client.batch_execute("SET lock_timeout TO '20s'").await
}

/// The names of indexes that migrations make and replace.
fn placeholders() -> Vec<String> {
    let runner = embedded::migrations::runner();
    let texts = runner.get_migrations().iter().filter_map(Migration::sql);
    indexes::replaced(texts).into_iter().map(str::to_owned).collect()
}

/// The statements that drop the views which kept indexes from being built.
fn drop_placeholders() -> String {
    let names = placeholders().into_iter().map(|name| {
        format!(
            "DO $$ BEGIN IF (SELECT relkind = 'v' FROM pg_class WHERE oid = to_regclass('public.{name}')) THEN \
             DROP VIEW public.{name}; END IF; END $$;\n"
        )
    });
    names.collect()
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

/// The error of a role that lacks a right, with the name of the role that has it.
async fn not_allowed(client: &Client, source: Cause) -> MigrateError {
    let select = "SELECT current_user::text, (SELECT relowner::regrole::text FROM pg_class
                                              WHERE oid = to_regclass('public.order_header'))";
    let row = client.query_one(select, &[]).await.ok();
    let name = |column| row.as_ref().and_then(|row| row.try_get::<_, Option<String>>(column).ok().flatten());
    let owner = name(1).map_or_else(String::new, |owner| format!("{owner}, "));
    MigrateError::NotAllowed {
        role: name(0).unwrap_or_else(|| "of the address".to_owned()),
        owner: format!("{owner}the owner of OFBiz's tables"),
        source,
    }
}

/// The error for a cause that the operator can fix; otherwise returns the cause.
fn classify(code: Option<&SqlState>, cause: Cause) -> Result<MigrateError, Cause> {
    match code {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(MigrateError::TableInUse(cause)),
        // The names are filled in when the session can be asked again.
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            Ok(MigrateError::NotAllowed { role: String::new(), owner: String::new(), source: cause })
        }
        _ => Err(cause),
    }
}

impl From<tokio_postgres::Error> for MigrateError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}
