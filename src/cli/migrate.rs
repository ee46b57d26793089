//! `orderql migrate`: prepares an operator's own database.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _};

use tokio_postgres::Client;

use crate::catalog::Catalog;
use crate::cli::database::{address, connect};
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::privileges::grants;
use crate::cli::schema;
use crate::database::connection::session::role_settings;
use crate::migration::kept_tables::KEPT_TABLES;
use crate::migration::migrate::{MigrateError, Migration};
use crate::migration::record::has_order_tables;
use crate::migration::removal::{self, Dependent};
use crate::migration::report::MigrationReport;
use crate::preflight::relations;

const SCHEMA_HELP: &str = "The schema file that will be served [default: the built-in schema] [env: ORDERQL_SCHEMA]";

/// Add what orderql needs to an OFBiz database, or create all tables in an empty one
///
/// Prints what was added: tables, columns, indexes, and in the schema orderql views, functions and triggers. Of OFBiz's nothing is
/// altered or dropped. What is orderql's own is brought into the form that this version declares. Run it as the owner of OFBiz's tables, while
/// OFBiz is idle: writers wait while an index of their table is built, and while rows are filled in. With --concurrently they wait a second at
/// most for each table. Running it again does nothing.
///
/// A database that has nothing to do with OFBiz needs the service's own tables only, in the schema `orderql`: accounts, groups,
/// grants, limits and the audit trail. `--only service` adds these; so does a schema file that names none of the tables and views
/// of the built-in schema, unless the database has the order tables already. Running it without them later adds the others.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    #[command(flatten)]
    database: DatabaseFlags,

    /// Add these tables alone
    #[arg(long, value_name = "TABLES")]
    only: Option<TableSet>,

    #[arg(long, value_name = "FILE", help = SCHEMA_HELP)]
    schema: Option<String>,

    /// Print what would be done: a summary, then the statements; change nothing
    #[arg(long)]
    dry_run: bool,

    /// Build indexes of tables that stand without stopping their writers; takes longer, and can be interrupted and run again
    #[arg(long, conflicts_with = "only")]
    concurrently: bool,

    /// Remove what migrations added: indexes, triggers, columns named orderql_, and the schema orderql with accounts and audits; asks first. Refuses if objects of others depend on them
    #[arg(long, conflicts_with_all = ["only", "concurrently"])]
    undo: bool,

    /// Answer the question of --undo with yes
    #[arg(long, requires = "undo")]
    yes: bool,

    /// Print the grants that the server's role needs, and change nothing
    #[arg(long, value_name = "ROLE")]
    print_grants: Option<String>,

    /// Print the settings that the server's role needs where startup-options is off, as statements, and change nothing
    #[arg(long, value_name = "ROLE")]
    print_role_settings: Option<String>,
}

/// Tables that can be migrated without the others.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TableSet {
    /// Accounts, groups, grants, limits and their audit trail
    Service,
}

/// Nobody agreed to the removal.
#[derive(Debug, thiserror::Error)]
#[error("nothing was removed: answer yes, or give --yes")]
struct NotRemoved;

/// Objects of others would be dropped too.
#[derive(Debug, thiserror::Error)]
#[error(
    "nothing was removed, because PostgreSQL would drop these objects too, which are not orderql's. Drop them, or change them, and run it \
     again:{}", lines(.0)
)]
struct InUse(Vec<Dependent>);

fn lines(dependents: &[Dependent]) -> String {
    let lines: Vec<_> = dependents.iter().map(|dependent| format!("\n  {dependent}")).collect();
    lines.concat()
}

/// Migrates the database and prints the report.
pub fn run(args: Args) -> Outcome {
    let Args { database, only, schema, dry_run, concurrently, undo, yes, print_grants, print_role_settings } = args;
    if let Some(role) = print_role_settings {
        return write(&role_settings(&role));
    }
    let config = database.settings(&[("schema", schema.as_ref())])?;
    let database_url = config.database()?;
    let catalog = schema::read(config.schema.as_deref())?;
    let is_of_own_tables = config.schema.is_some() && is_of_own_tables(&catalog)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut client = connect(&address(&database_url)?).await?;
        let is_service = match only {
            Some(TableSet::Service) => true,
            None => is_of_own_tables && !has_order_tables(&client).await?,
        };
        if let Some(role) = print_grants {
            let existing = existing(&client).await?;
            let has_orders = existing.contains("orderql.entity_id");
            let mut relations = relations(&catalog);
            relations.extend(catalog.feeds().iter().map(|feed| feed.table.clone()));
            // The views that the server compares beside its work.
            relations.extend(KEPT_TABLES.iter().map(|table| table.stale.to_owned()));
            return write(&grants(&role, &relations, has_orders, |name| existing.contains(name)));
        }
        if undo {
            let removed = remove(&mut client, dry_run, yes).await?;
            return write(&removed);
        }
        let migration = Migration::new(&catalog)?;
        let migration = if is_service { migration.of_service() } else { migration };
        // The tables of the built-in schema are not there.
        let migration = if is_service && !is_of_own_tables { migration.without_feeds() } else { migration };
        let migration = if concurrently { migration.concurrently() } else { migration };
        if dry_run {
            let planned = migration.dry_run(&client).await?;
            let nothing = "Nothing to do: the database is up to date.\n";
            return write(if planned.is_empty() { nothing } else { &planned });
        }
        write(&format!("{}\n", run_and_show(&migration, &mut client).await?))
    })
}

/// Runs a migration, and shows its steps if standard error is a terminal.
async fn run_and_show(migration: &Migration<'_>, client: &mut Client) -> Result<MigrationReport, MigrateError> {
    if !io::stderr().is_terminal() {
        return migration.run(client, &mut |_| {}).await;
    }
    let report = migration.run(client, &mut show).await;
    show("");
    report
}

/// Shows the next step, in the place of the step that was shown before.
fn show(step: &str) {
    eprint!("\r\x1b[K{step}");
}

/// The tables, views, sequences and own functions of the database, with their schemas.
async fn existing(client: &Client) -> Result<BTreeSet<String>, tokio_postgres::Error> {
    let select = "SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                  WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
                  UNION
                  SELECT nspname || '.' || proname FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
                  WHERE nspname = 'orderql'";
    client.query(select, &[]).await?.iter().map(|row| row.try_get(0)).collect()
}

/// Removes what migrations added, and says what was done. With `dry_run` it only says what it would run.
async fn remove(client: &mut Client, dry_run: bool, is_agreed: bool) -> Outcome<String> {
    let statements = removal::statements(client).await?;
    if statements.is_empty() {
        return Ok("Nothing to remove.\n".to_owned());
    }
    let text = statements.join(";\n") + ";\n";
    let dependents = removal::dependents(client).await?;
    if dry_run {
        let first: Vec<_> =
            dependents.iter().map(|dependent| format!("-- first: drop or change {dependent}\n")).collect();
        return Ok(first.concat() + &text);
    }
    if !dependents.is_empty() {
        return Err(InUse(dependents).into());
    }
    let filled = removal::filled_tables(client).await?;
    let rows: Vec<_> = filled.iter().map(|(table, rows)| format!("  {table}: {rows} rows\n")).collect();
    if !is_agreed && !agrees(&rows.concat())? {
        return Err(NotRemoved.into());
    }
    let dependents = removal::remove(client, &statements).await?;
    if !dependents.is_empty() {
        return Err(InUse(dependents).into());
    }
    Ok(format!("{text}Removed. Tables, reference rows, and columns that OFBiz may use stay in its schema.\n"))
}

/// Asks at a terminal.
fn agrees(rows: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("This removes the schema orderql, and cannot be undone without a backup:\n{rows}Remove it? (yes) ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

/// Whether a schema names none of the relations of the built-in one, except relations of change feeds.
fn is_of_own_tables(catalog: &Catalog) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    let mut built_in = relations(&Catalog::built_in()?);
    built_in.retain(|relation| !relation.starts_with("orderql.sync_"));
    Ok(built_in.is_disjoint(&relations(catalog)))
}
