//! `orderql migrate`: prepares an operator's own database.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use serde_json::Value;
use tokio_postgres::Client;

use crate::catalog::Catalog;
use crate::catalog::feed::Feed;
use crate::change_feed::install;
use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::privileges::grants;
use crate::cli::{schema, settings};
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::config::value_parser::DATABASE;
use crate::database::connection::session::role_settings;
use crate::database::migrate::{has_order_tables, migrate, migrate_concurrently, migrate_service, planned};
use crate::database::removal::{self, Dependent};
use crate::preflight::relations;

const DATABASE_HELP: &str =
    "The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…` [env: ORDERQL_DATABASE_URL]";
const SCHEMA_HELP: &str = "The schema file that will be served [default: the built-in schema] [env: ORDERQL_SCHEMA]";
const CONFIG_HELP: &str = "The server's configuration file, for the database and the schema file [env: ORDERQL_CONFIG]";

/// Add what orderql needs to an OFBiz database, or create all tables in an empty one
///
/// Prints what was added: tables, columns and indexes. Nothing that exists is altered or dropped, but indexes of its own that were
/// changed or dropped are made again. Run it as the owner of
/// OFBiz's tables, while OFBiz is idle: tables are locked for a moment, and larger ones while an index is built. Running it
/// again does nothing.
///
/// A database that has nothing to do with OFBiz needs the service's own tables only, in the schema `orderql`: accounts, groups,
/// grants, limits and the audit trail. `--only service` adds these; so does a schema file that names none of the tables and views
/// of the built-in schema, unless the database has the order tables already. Running it without them later adds the others.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    #[arg(long, value_name = "URL", help = DATABASE_HELP, value_parser = |text: &str| DATABASE.read(text).map(|_| text.to_owned()))]
    database_url: Option<String>,

    /// Add these tables alone
    #[arg(long, value_name = "TABLES")]
    only: Option<Tables>,

    #[arg(long, value_name = "FILE", help = SCHEMA_HELP)]
    schema: Option<String>,

    #[arg(long, value_name = "FILE", help = CONFIG_HELP)]
    config: Option<PathBuf>,

    /// Print the statements that would be run, and change nothing
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
enum Tables {
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
    let Args {
        database_url,
        only,
        schema,
        config,
        dry_run,
        concurrently,
        undo,
        yes,
        print_grants,
        print_role_settings,
    } = args;
    if let Some(role) = print_role_settings {
        return write(&role_settings(&role));
    }
    let given = [("database-url", database_url), ("schema", schema)];
    let values = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let config = Config::read(&settings::gather(&Flags { file: config, values })?)?;
    let database_url = config.database()?;
    let catalog = schema::read(config.schema.as_deref())?;
    let is_of_own_tables = config.schema.is_some() && is_of_own_tables(&catalog)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut client = connect(&address(&database_url)?).await?;
        let is_service = match only {
            Some(Tables::Service) => true,
            None => is_of_own_tables && !has_order_tables(&client).await?,
        };
        // The tables of the built-in schema are not there.
        let declared = if is_service && !is_of_own_tables { &[] } else { catalog.feeds() };
        if let Some(role) = print_grants {
            let existing = existing(&client).await?;
            let has_orders = existing.contains("orderql.entity_id");
            let mut relations = relations(&catalog);
            relations.extend(catalog.feeds().iter().map(|feed| feed.table.clone()));
            return write(&grants(&role, &relations, has_orders, |name| existing.contains(name)));
        }
        if undo {
            let removed = remove(&mut client, dry_run, yes).await?;
            return write(&removed);
        }
        if dry_run {
            let planned = planned(&client, is_service).await?;
            return write(&(describe(&planned) + &describe(&feeds(&client, declared, &planned).await?)));
        }
        let migrated = if is_service {
            migrate_service(&mut client).await
        } else if concurrently {
            migrate_concurrently(&mut client).await
        } else {
            migrate(&mut client).await
        };
        write(&format!("{}\n", migrated?))?;
        match install::make(&client, declared).await? {
            0 => Ok(()),
            made => write(&format!("{made} tables given the triggers of change feeds\n")),
        }
    })
}

/// The statements that make the change feeds of the schema file, as far as these migrations do not.
async fn feeds(
    client: &Client,
    declared: &[Feed],
    planned: &[(String, String)],
) -> Result<Vec<(String, String)>, tokio_postgres::Error> {
    let missing = install::missing(client, declared).await?;
    let is_planned = |feed: &Feed| {
        let definitions = planned.iter().flat_map(|(_, sql)| definitions(sql));
        definitions.into_iter().any(|planned| planned == feed.definition())
    };
    let statements: String = missing.into_iter().filter(|feed| !is_planned(feed)).map(install::statement).collect();
    Ok(if statements.is_empty() {
        Vec::new()
    } else {
        vec![("change feeds of the schema file".to_owned(), statements)]
    })
}

/// The definitions of change feeds that statements make.
fn definitions(sql: &str) -> Vec<Value> {
    sql.split("$feed$").skip(1).step_by(2).filter_map(|text| serde_json::from_str(text).ok()).collect()
}

/// The tables, views and sequences of the database, with their schemas.
async fn existing(client: &Client) -> Result<BTreeSet<String>, tokio_postgres::Error> {
    let select = "SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                  WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')";
    client.query(select, &[]).await?.iter().map(|row| row.try_get(0)).collect()
}

/// The statements of a migration, below what deserves attention.
fn describe(planned: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, sql) in planned {
        let mut triggers = Vec::new();
        for statement in sql.split("CREATE OR REPLACE TRIGGER ").skip(1) {
            let mut words = statement.split_whitespace();
            let trigger = words.next().unwrap_or_default();
            // Up to FOR EACH; columns come before the table.
            let table = words.skip_while(|word| *word != "ON").nth(1).unwrap_or_default();
            // Of a statement that a function composes, nobody knows the names yet.
            if !table.starts_with('%') {
                triggers.push(format!("{trigger} on {table}"));
            }
        }
        for definition in definitions(sql) {
            let tables: BTreeSet<_> = definition["parts"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|part| &part["relation"])
                .filter_map(Value::as_str)
                .collect();
            let feed = definition["feed"].as_str().unwrap_or_default();
            triggers.extend(tables.into_iter().map(|table| format!("orderql_{feed} on {table}")));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "-- {name}");
        if !triggers.is_empty() {
            let _ = writeln!(text, "-- puts triggers on tables: {}", triggers.join(", "));
        }
        let _ = writeln!(text, "{sql}");
    }
    text
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

/// Whether a schema names none of the relations of the built-in one.
fn is_of_own_tables(catalog: &Catalog) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    let built_in = Catalog::built_in()?;
    Ok(relations(&built_in).is_disjoint(&relations(catalog)))
}
