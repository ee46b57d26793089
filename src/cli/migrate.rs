//! `orderql migrate`: prepares an operator's own database.

use std::path::PathBuf;

use crate::catalog::Catalog;
use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::{schema, settings};
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::config::value_parser::DATABASE;
use crate::database::connection::session::role_settings;
use crate::database::migrate::{has_order_tables, migrate, migrate_service};
use crate::preflight::relations;

const DATABASE_HELP: &str =
    "The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…` [env: ORDERQL_DATABASE_URL]";
const SCHEMA_HELP: &str = "The schema file that will be served [default: the built-in schema] [env: ORDERQL_SCHEMA]";
const CONFIG_HELP: &str = "The server's configuration file, for the database and the schema file [env: ORDERQL_CONFIG]";

/// Add what orderql needs to an OFBiz database, or create all tables in an empty one
///
/// Prints what was added: tables, columns and indexes. Nothing that exists is altered or dropped. Run it as the owner of
/// OFBiz's tables, while OFBiz is idle: tables are locked for a moment, and larger ones while an index is built. Running it
/// again does nothing.
///
/// A database that has nothing to do with OFBiz needs the service's own tables only, in the schema `orderql`: accounts, groups,
/// grants, limits and the audit trail. `--only service` adds these; so does a schema file that names none of the tables and views
/// of the built-in schema, unless the database has the order tables already. Running it without them later adds the others.
#[derive(Debug, clap::Args)]
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

/// Migrates the database and prints the report.
pub fn run(args: Args) -> Outcome {
    let Args { database_url, only, schema, config, print_role_settings } = args;
    if let Some(role) = print_role_settings {
        print!("{}", role_settings(&role));
        return Ok(());
    }
    let given = [("database-url", database_url), ("schema", schema)];
    let values = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let config = Config::read(&settings::gather(&Flags { file: config, values })?)?;
    let database_url = config.database()?;
    let is_of_own_tables = match &config.schema {
        Some(file) => is_of_own_tables(&schema::read(Some(file))?)?,
        None => false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let migrated = runtime.block_on(async {
        let mut client = connect(&address(&database_url)?).await?;
        let is_service = match only {
            Some(Tables::Service) => true,
            None => is_of_own_tables && !has_order_tables(&client).await?,
        };
        let migrated = if is_service { migrate_service(&mut client).await } else { migrate(&mut client).await };
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(migrated?)
    })?;
    println!("{migrated}");
    Ok(())
}

/// Whether a schema names none of the relations of the built-in one.
fn is_of_own_tables(catalog: &Catalog) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    let built_in = Catalog::built_in()?;
    Ok(relations(&built_in).is_disjoint(&relations(catalog)))
}
