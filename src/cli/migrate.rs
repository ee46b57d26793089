//! `orderql migrate`: prepares an operator's own database.

use std::path::PathBuf;

use tokio_postgres::Config;

use crate::catalog::Catalog;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::database::connect::connect;
use crate::database::connection_string;
use crate::database::migrate::{has_order_tables, migrate, migrate_service};
use crate::preflight::relations;

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
    /// The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…`.
    #[arg(long, env = "ORDERQL_DATABASE_URL", hide_env_values = true, value_name = "URL", value_parser = connection_string::parse)]
    database_url: Config,

    /// Add these tables alone
    #[arg(long, value_name = "TABLES")]
    only: Option<Tables>,

    /// The schema file that will be served [default: the built-in schema]
    #[arg(long, value_name = "FILE", env = "ORDERQL_SCHEMA")]
    schema: Option<PathBuf>,
}

/// Tables that can be migrated without the others.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Tables {
    /// Accounts, groups, grants, limits and their audit trail
    Service,
}

/// Migrates the database and prints the report.
pub fn run(args: Args) -> Outcome {
    let Args { database_url, only, schema } = args;
    let is_of_own_tables = match schema.as_deref().filter(|file| !file.as_os_str().is_empty()) {
        Some(file) => is_of_own_tables(&schema::read(Some(file))?)?,
        None => false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let migrated = runtime.block_on(async {
        let mut client = connect(&database_url).await?;
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
