//! Migrations: a database is given everything that orderql needs, and loses nothing.
//!
//! The SQL is in `migrations/`, embedded. It serves an empty database and an operator's OFBiz database alike. All
//! pending files are applied in one transaction, so that a migration that fails leaves nothing behind.

use std::error::Error as _;
use std::fmt;

use refinery::error::Kind;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::schema_objects::SchemaObjects;

mod embedded {
    refinery::embed_migrations!("src/database/migrations");
}

/// The oldest PostgreSQL that the statements are written for, as `server_version_num` has it.
const OLDEST_SERVER: i32 = 140_000;

/// Where refinery keeps what it has applied: with the rest of ours, out of OFBiz's sight.
const HISTORY: &str = "orderql.schema_history";

/// The advisory lock that one migration at a time holds: the bytes of "orderql".
const LOCK: i64 = 0x6f_7264_6572_716c;

/// What a migration did. Printed, it is a report for the operator.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// The migration files that were applied, `V1__foundation` and so on.
    pub migrations: Vec<String>,
    /// Tables made.
    pub tables: Vec<String>,
    /// Columns added to tables that stood, as `table.column`.
    pub columns: Vec<String>,
    /// Indexes added to tables that stood, as `table.index`.
    pub indexes: Vec<String>,
    /// Views made.
    pub views: Vec<String>,
    /// Functions made.
    pub functions: Vec<String>,
    /// Rows of reference added, by table.
    pub rows: Vec<(String, i64)>,
    /// Order items that were put into their ship group.
    pub ship_groups: i64,
    /// Pairs of product and facility that were pointed to their inventory item.
    pub current_inventory: i64,
    /// Parties that OFBiz's tables had otherwise than ours.
    pub parties: i64,
}

/// Why a database could not be migrated. In every case nothing has been changed, but for back-fills already told.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The server is older than the statements are written for.
    #[error("the server runs PostgreSQL {version}, and orderql needs 14 or later: upgrade the server")]
    ServerTooOld {
        /// What the server calls itself.
        version: String,
    },
    /// The database has a migration that this program has not, or another text of it.
    #[error(
        "the database was migrated by another version of orderql ({migration}): run the newest version, or restore a \
         backup of before"
    )]
    OtherVersion {
        /// The migration in question.
        migration: String,
    },
    /// A table is held by somebody else.
    #[error(
        "a table to be changed is in use, and nothing was changed: stop OFBiz or wait for its work, then run again"
    )]
    TableInUse(#[source] Cause),
    /// The role may not change the tables.
    #[error(
        "the database role lacks a right, and nothing was changed: run as the owner of OFBiz's tables, with CREATE on \
         the database"
    )]
    NotAllowed(#[source] Cause),
    /// Some other statement failed.
    #[error("the migration failed, and nothing was changed")]
    Failed(#[source] Cause),
    /// The database cannot be talked to, or refused a statement around the migration.
    #[error("the database cannot be migrated")]
    Database(#[source] tokio_postgres::Error),
}

/// What went wrong underneath: PostgreSQL's error, and refinery's around it where a migration file failed.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Brings the database to the newest state, and tells what that took. Safe to run at any time and by several at once: they
/// wait for one another, and whoever comes second finds nothing to do.
///
/// The session's settings are the role's own again afterwards.
pub async fn migrate(client: &mut Client) -> Result<Migrated, MigrateError> {
    check_server(client).await?;
    client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await?;
    let outcome = migrate_alone(client).await;
    let restored = client
        .batch_execute(&format!("RESET search_path; RESET lock_timeout; SELECT pg_advisory_unlock({LOCK})"))
        .await;
    let migrated = outcome?;
    restored?;
    Ok(migrated)
}

/// A number that differs between any two sets of migrations.
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
    if row.try_get::<_, i32>(0)? < OLDEST_SERVER {
        return Err(MigrateError::ServerTooOld { version: row.try_get(1)? });
    }
    Ok(())
}

async fn migrate_alone(client: &mut Client) -> Result<Migrated, MigrateError> {
    // A role named orderql would otherwise find the schema of that name before OFBiz's. A statement that waits for a lock
    // makes everybody else wait behind it: better to give up and say so. But an index may take its time to build.
    client.batch_execute("SET search_path TO public; SET lock_timeout TO '20s'; SET statement_timeout TO 0").await?;
    let before = SchemaObjects::read(client).await?;
    // Asked first, since IF NOT EXISTS wants the right to create even where there is nothing to be created.
    if client.query_one("SELECT to_regnamespace('orderql') IS NULL", &[]).await?.try_get(0)? {
        client.batch_execute("CREATE SCHEMA orderql").await.map_err(refused)?;
    }
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    let applied = runner.run_async(client).await.map_err(not_applied)?;
    let after = SchemaObjects::read(client).await?;
    let migrated = Migrated {
        migrations: applied.applied_migrations().iter().map(ToString::to_string).collect(),
        ship_groups: count(client, "SELECT orderql.backfill_ship_groups()").await?,
        current_inventory: count(client, "SELECT orderql.backfill_current_inventory()").await?,
        parties: count(client, "SELECT orderql.backfill_parties()").await?,
        ..added(&before, &after)
    };
    Ok(migrated)
}

async fn count(client: &Client, sql: &str) -> Result<i64, MigrateError> {
    let row = client.query_one(sql, &[]).await.map_err(refused)?;
    Ok(row.try_get(0)?)
}

/// What stands after and did not before. The columns and indexes of a new table go without saying.
fn added(before: &SchemaObjects, after: &SchemaObjects) -> Migrated {
    let of_old_table = |name: &&String| name.rsplit_once('.').is_some_and(|(table, _)| before.tables.contains(table));
    Migrated {
        tables: after.tables.difference(&before.tables).cloned().collect(),
        columns: after.columns.difference(&before.columns).filter(of_old_table).cloned().collect(),
        indexes: after.indexes.difference(&before.indexes).filter(of_old_table).cloned().collect(),
        views: after.views.difference(&before.views).cloned().collect(),
        functions: after.functions.difference(&before.functions).cloned().collect(),
        rows: after
            .rows
            .iter()
            .map(|(table, rows)| ((*table).to_owned(), rows - before.rows.get(table).unwrap_or(&0)))
            .filter(|(_, rows)| *rows > 0)
            .collect(),
        ..Migrated::default()
    }
}

fn not_applied(error: refinery::Error) -> MigrateError {
    if let Kind::DivergentVersion(migration, _) | Kind::MissingVersion(migration) = error.kind() {
        return MigrateError::OtherVersion { migration: migration.to_string() };
    }
    let code = error.source().and_then(|source| source.downcast_ref::<tokio_postgres::Error>()?.code().cloned());
    classified(code.as_ref(), error.into()).unwrap_or_else(MigrateError::Failed)
}

fn refused(error: tokio_postgres::Error) -> MigrateError {
    match error.code().cloned() {
        Some(code) => classified(Some(&code), error.into()).unwrap_or_else(MigrateError::Failed),
        None => MigrateError::Database(error),
    }
}

/// The error for a state that the operator can mend, else the cause again.
fn classified(code: Option<&SqlState>, cause: Cause) -> Result<MigrateError, Cause> {
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

impl Migrated {
    /// Whether there was nothing to do.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Migrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nothing() {
            return f.write_str("Nothing to do: the database is up to date.");
        }
        let rows: Vec<String> = self.rows.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let mut separator = "";
        for (names, what) in [
            (&self.migrations, "migrations applied"),
            (&self.tables, "tables made"),
            (&self.columns, "columns added to tables that stood"),
            (&self.indexes, "indexes added to tables that stood"),
            (&self.views, "views made"),
            (&self.functions, "functions made"),
            (&rows, "reference tables given rows"),
        ] {
            if !names.is_empty() {
                write!(f, "{separator}{} {what}:", names.len())?;
                write_wrapped(f, names)?;
                separator = "\n";
            }
        }
        for (count, what) in [
            (self.ship_groups, "order items put into their ship group"),
            (self.current_inventory, "products at facilities pointed to their inventory item"),
            (self.parties, "parties brought up to date"),
        ] {
            if count > 0 {
                write!(f, "{separator}{count} {what}")?;
                separator = "\n";
            }
        }
        Ok(())
    }
}

/// The names, indented, separated by commas, in lines of about a hundred characters.
fn write_wrapped(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    const WIDTH: usize = 100;
    let mut column = WIDTH;
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        if column + name.len() + 1 >= WIDTH {
            write!(f, "\n  {name}{comma}")?;
            column = 2 + name.len() + comma.len();
        } else {
            write!(f, " {name}{comma}")?;
            column += 1 + name.len() + comma.len();
        }
    }
    Ok(())
}
