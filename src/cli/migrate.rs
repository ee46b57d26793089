//! `orderql migrate`: prepares an operator's own database.

use tokio_postgres::Config;

use crate::cli::outcome::Outcome;
use crate::database::connect::connect;
use crate::database::connection_string;
use crate::database::migrate::migrate;

/// Add what orderql needs to an OFBiz database, or create all tables in an empty one
///
/// Prints what was added: tables, columns and indexes. Nothing that exists is altered or dropped. Run it as the owner of
/// OFBiz's tables, while OFBiz is idle: tables are locked for a moment, and larger ones while an index is built. Running it
/// again does nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…`.
    #[arg(long, env = "ORDERQL_DATABASE_URL", hide_env_values = true, value_name = "URL", value_parser = connection_string::parse)]
    database_url: Config,
}

/// Migrates the database and prints the report.
pub fn run(args: Args) -> Outcome {
    let Args { database_url } = args;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let migrated = runtime.block_on(async {
        let mut client = connect(&database_url).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(migrate(&mut client).await?)
    })?;
    println!("{migrated}");
    Ok(())
}
