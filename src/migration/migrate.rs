//! Applies the declared state to a database.
//!
//! Tables, columns and objects are made in one transaction, then indexes, change feeds, and the rows that are filled in. If
//! indexes are built beside writers, each step is a transaction of its own. Such a step waits for a lock a second at most, so that writers
//! do not wait longer. The next run finishes an interrupted one.

use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage, Transaction};

use crate::catalog::Catalog;
use crate::catalog::feed::Feed;
use crate::change_feed::install;
use crate::database::vacuum::vacuum;
pub use crate::migration::declaration::fingerprint;
use crate::migration::declaration::{Declaration, OBSOLETE, TableScope};
use crate::migration::difference::Difference;
pub use crate::migration::error::MigrateError;
use crate::migration::index_build::make_missing;
use crate::migration::kept_tables::KEPT_TABLES;
use crate::migration::object::DeclaredKind;
use crate::migration::old_transactions;
use crate::migration::partitions;
use crate::migration::record::{AppliedRecord, has_order_tables};
use crate::migration::report::MigrationReport;
use crate::migration::steps::{MigrationStep, recreate};
use crate::migration::view_columns::ColumnsRead;
use crate::preflight::columns;

/// The oldest supported server, in the form of `server_version_num`.
const MIN_SERVER_VERSION: i32 = 140_000;

/// The key of the advisory lock that serializes migrations: the bytes of "orderql".
const LOCK: i64 = 0x6f_7264_6572_716c;

/// Between two attempts to get it, or to lock a table.
const LOCK_INTERVAL: Duration = Duration::from_millis(200);

/// A role named orderql would otherwise search the schema of that name before OFBiz's. Building an index may take any time. Functions may use
/// views that are made after them.
const SETTINGS: &str = "SET search_path TO public; SET statement_timeout TO 0; SET check_function_bodies TO off";

/// How often a step tries to lock its table while others write it. A statement that waits for a lock blocks all later ones.
const ATTEMPTS: usize = 300;

/// A migration: the declared state, with the objects for a schema file.
#[derive(Debug)]
pub(crate) struct Migration<'a> {
    scope: TableScope,
    concurrently: bool,
    feeds: &'a [Feed],
    read: ColumnsRead,
}

impl<'a> Migration<'a> {
    /// The migration for a schema file: its change feeds, and the columns that it reads.
    pub(crate) fn new(catalog: &'a Catalog) -> Result<Self, MigrateError> {
        let mut read = columns(&built_in()?);
        for (relation, columns) in columns(catalog) {
            read.entry(relation).or_default().extend(columns);
        }
        Ok(Self { scope: TableScope::All, concurrently: false, feeds: catalog.feeds(), read })
    }

    /// The tables of the service alone. Fails if the database has the order tables.
    #[must_use]
    pub(crate) fn of_service(self) -> Self {
        Self { scope: TableScope::Service, ..self }
    }

    /// Without change feeds, whose tables are not there.
    #[must_use]
    pub(crate) fn without_feeds(self) -> Self {
        Self { feeds: &[], ..self }
    }

    /// Beside writers: they wait for a lock of a table a second at most, and not for indexes.
    #[must_use]
    pub(crate) fn concurrently(self) -> Self {
        Self { concurrently: true, ..self }
    }

    /// Makes the missing objects, and returns what changed. May run at any time. Concurrent runs wait for one another; the later ones find
    /// nothing to do. `progress` is called before each step.
    ///
    /// Resets the session's settings to the role's defaults.
    pub(crate) async fn run(
        &self,
        client: &mut Client,
        progress: &mut dyn FnMut(&str),
    ) -> Result<MigrationReport, MigrateError> {
        check_server(client).await?;
        lock(client).await?;
        client.batch_execute(SETTINGS).await?;
        let result = self.run_locked(client, progress).await;
        let unlock = format!(
            "RESET search_path; RESET statement_timeout; RESET check_function_bodies; RESET lock_timeout; SELECT pg_advisory_unlock({LOCK})"
        );
        let reset = client.batch_execute(&unlock).await;
        let report = result?;
        reset?;
        Ok(report)
    }

    /// The statements that a run would execute, below notes for the operator.
    pub(crate) async fn dry_run(&self, client: &Client) -> Result<String, MigrateError> {
        let difference = self.difference(client).await?;
        let mut fills = Vec::new();
        for table in &KEPT_TABLES {
            let rows = if self.scope == TableScope::Service { 0 } else { table.rows_to_fill(client).await? };
            if rows > 0 {
                fills.push((table, rows));
            }
        }
        let filled: Vec<_> = fills.iter().map(|(table, rows)| (table.name.to_owned(), *rows)).collect();
        let feeds = install::missing(client, self.feeds).await?;
        let mut text = difference.summary(self.concurrently, &filled);
        if difference.may_have_obsolete() {
            text += "-- An earlier version migrated the database. What follows the first statements may depend on what they drop.\n";
            text += &obsolete().to_string();
        }
        let steps = difference.steps();
        let indexes = difference.indexes_to_build().map(|index| MigrationStep {
            title: format!("index {}", index.index.name),
            kind: None,
            statements: index.statements(self.concurrently),
        });
        let feeds = feeds.into_iter().map(|feed| MigrationStep {
            title: format!("change feed {}", feed.name),
            kind: None,
            statements: vec![install::statement(feed)],
        });
        let fills = fills.iter().map(|(table, _)| MigrationStep {
            title: format!("rows of {}", table.name),
            kind: None,
            statements: vec![table.repair_statement()],
        });
        let (tables, objects) = (steps.tables.into_iter(), steps.objects.into_iter());
        for step in tables.chain(indexes).chain(objects).chain(feeds).chain(fills) {
            text += &step.to_string();
        }
        Ok(text)
    }

    async fn difference(&self, client: &Client) -> Result<Difference, MigrateError> {
        let declaration = Declaration::of(self.scope);
        if self.scope == TableScope::All
            && let Some(found) = partitions::unsupported(client, &declaration.tables).await?
        {
            return Err(MigrateError::Partitions(found));
        }
        if let Some(record) = AppliedRecord::read(client).await?
            && record.is_newer()
        {
            return Err(MigrateError::OtherVersion { version: record.version });
        }
        if self.scope == TableScope::Service && has_order_tables(client).await? {
            return Err(MigrateError::HasOrderTables);
        }
        Ok(Difference::read(client, declaration, Some(&self.read)).await?)
    }

    async fn run_locked(
        &self,
        client: &mut Client,
        progress: &mut dyn FnMut(&str),
    ) -> Result<MigrationReport, MigrateError> {
        let mut difference = self.difference(client).await?;
        if difference.may_have_obsolete() {
            // The declaration depends on the columns that are left.
            self.run_patiently(client, &difference, &obsolete()).await?;
            difference = self.difference(client).await?;
        }
        let steps = difference.steps();
        let mut report = MigrationReport::of(&difference);
        if self.concurrently {
            for step in &steps.tables {
                progress(&step.title);
                self.run_patiently(client, &difference, step).await?;
            }
            report.indexes = self.make_indexes(client, progress).await?;
            for step in &steps.objects {
                progress(&step.title);
                let rows = self.run_patiently(client, &difference, step).await?;
                report.add_rows(step, rows);
            }
        } else {
            progress("tables, views, functions and triggers");
            let all: Vec<_> = steps.tables.iter().chain(&steps.objects).collect();
            let rows = run_at_once(client, &difference, &all).await?;
            all.iter().zip(rows).for_each(|(step, rows)| report.add_rows(step, rows));
            report.indexes = self.make_indexes(client, progress).await?;
        }
        report.fed = self.make_feeds(client, progress).await?;
        if self.scope == TableScope::All {
            report.filled = self.fill(client, progress).await?;
        }
        Ok(report)
    }

    /// Runs a step as soon as its tables can be locked.
    async fn run_patiently(
        &self,
        client: &mut Client,
        difference: &Difference,
        step: &MigrationStep,
    ) -> Result<u64, MigrateError> {
        for _ in 1..ATTEMPTS {
            match try_all(client, difference, &[step], "1s").await {
                Ok(rows) => return Ok(rows.into_iter().sum()),
                Err((_, error)) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    tokio::time::sleep(LOCK_INTERVAL).await;
                }
                Err((step, error)) => return Err(MigrateError::of(client, &step, error).await),
            }
        }
        run_at_once(client, difference, &[step]).await.map(|rows| rows.into_iter().sum())
    }

    /// Builds the indexes of tables that stood before, and returns their names.
    async fn make_indexes(&self, client: &Client, progress: &mut dyn FnMut(&str)) -> Result<Vec<String>, MigrateError> {
        match make_missing(client, self.concurrently, progress).await {
            Ok(made) => Ok(made),
            Err((name, error)) => Err(MigrateError::of(client, &name, error).await),
        }
    }

    async fn make_feeds(&self, client: &Client, progress: &mut dyn FnMut(&str)) -> Result<i32, MigrateError> {
        if self.feeds.is_empty() {
            return Ok(0);
        }
        progress("change feeds");
        let mut attempts = if self.concurrently { ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            let wait = if attempts > 0 { "1s" } else { "20s" };
            client.batch_execute(&format!("SET lock_timeout TO '{wait}'")).await?;
            match install::make(client, self.feeds).await {
                Err(error) if attempts > 0 && error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    tokio::time::sleep(LOCK_INTERVAL).await;
                }
                Ok(made) => return Ok(made),
                Err(error) => return Err(MigrateError::of(client, "change feeds", error).await),
            }
        }
    }

    /// Fills in what triggers keep, and returns the tables with the numbers of rows that differed.
    async fn fill(&self, client: &Client, progress: &mut dyn FnMut(&str)) -> Result<Vec<(String, i64)>, MigrateError> {
        if self.concurrently {
            progress("waiting for transactions that have begun before");
            old_transactions::wait(client).await?;
        }
        let mut filled = Vec::new();
        for table in &KEPT_TABLES {
            progress(table.name);
            match table.repair(client).await {
                Ok(rows) => filled.push((table.name, rows)),
                Err(error) => return Err(MigrateError::of(client, table.name, error).await),
            }
        }
        filled.retain(|(_, rows)| *rows > 0);
        let tables: Vec<_> = filled.iter().map(|(name, _)| *name).collect();
        vacuum(client, &tables).await?;
        Ok(filled.into_iter().map(|(name, rows)| (name.to_owned(), rows)).collect())
    }
}

/// Migrates for the built-in schema.
pub async fn migrate(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    Migration::new(&built_in()?)?.run(client, &mut |_| {}).await
}

/// Migrates for the built-in schema, and makes the indexes beside writers, which takes longer.
pub async fn migrate_concurrently(client: &mut Client) -> Result<MigrationReport, MigrateError> {
    Migration::new(&built_in()?)?.concurrently().run(client, &mut |_| {}).await
}

fn obsolete() -> MigrationStep {
    MigrationStep::new("what earlier versions made", vec![OBSOLETE.to_owned()])
}

fn built_in() -> Result<Catalog, MigrateError> {
    Catalog::built_in().map_err(|error| MigrateError::Schema(error.to_string()))
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

/// Waits until no other migration runs. Asks again and again, because a statement that waited would hold a snapshot, and the other
/// migration's concurrent index builds wait for older snapshots to end.
async fn lock(client: &Client) -> Result<(), tokio_postgres::Error> {
    while !client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?.try_get::<_, bool>(0)? {
        tokio::time::sleep(LOCK_INTERVAL).await;
    }
    Ok(())
}

/// Runs steps in one transaction, and returns the numbers of rows that they inserted.
async fn run_at_once(
    client: &mut Client,
    difference: &Difference,
    steps: &[&MigrationStep],
) -> Result<Vec<u64>, MigrateError> {
    match try_all(client, difference, steps, "20s").await {
        Ok(rows) => Ok(rows),
        Err((step, error)) => Err(MigrateError::of(client, &step, error).await),
    }
}

/// Runs steps in one transaction that waits this long for locks. An error has its step.
async fn try_all(
    client: &mut Client,
    difference: &Difference,
    steps: &[&MigrationStep],
    wait: &str,
) -> Result<Vec<u64>, (String, tokio_postgres::Error)> {
    let of_no_step = |error| (String::new(), error);
    let transaction = client.transaction().await.map_err(of_no_step)?;
    transaction.batch_execute(&format!("SET LOCAL lock_timeout TO '{wait}'")).await.map_err(of_no_step)?;
    let mut rows = Vec::new();
    for step in steps {
        rows.push(run_step(&transaction, difference, step).await.map_err(|error| (step.title.clone(), error))?);
    }
    transaction.commit().await.map_err(of_no_step)?;
    Ok(rows)
}

/// Runs a step, and returns the number of rows that its first statement inserted. A view that cannot be replaced, because it has lost
/// columns or changed their types, is made anew, together with the views that read it.
async fn run_step(
    transaction: &Transaction<'_>,
    difference: &Difference,
    step: &MigrationStep,
) -> Result<u64, tokio_postgres::Error> {
    let is_view = step.kind == Some(DeclaredKind::View);
    if is_view {
        transaction.batch_execute("SAVEPOINT view").await?;
    }
    let mut rows = None;
    for statement in &step.statements {
        match transaction.simple_query(statement).await {
            Err(error) if is_view && error.code() == Some(&SqlState::INVALID_TABLE_DEFINITION) => {
                transaction.batch_execute("ROLLBACK TO SAVEPOINT view").await?;
                let view = step.title.strip_prefix("view ").unwrap_or_default();
                transaction.batch_execute(&recreate(transaction, difference, view).await?).await?;
            }
            messages => {
                rows.get_or_insert(inserted(&messages?));
            }
        }
    }
    Ok(rows.unwrap_or_default())
}

fn inserted(messages: &[SimpleQueryMessage]) -> u64 {
    let counts = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
        _ => None,
    });
    counts.sum()
}
