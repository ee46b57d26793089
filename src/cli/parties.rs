//! `orderql parties`: checks what triggers keep, and repairs it.

use std::error::Error;

use thiserror::Error;

use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::database::address::connection_string::ConnectionString;
use crate::database::parties;

/// Check that what triggers keep equals OFBiz's tables, and repair it
///
/// Triggers keep orderql.party, from which parties are read, and the facility of an order item and the store of a return, by which
/// these are searched; also for rows that replication writes. An import that disables triggers leaves rows out. Exits with 1 if
/// rows differ and --repair is not given.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…`.
    #[arg(long, env = "ORDERQL_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: ConnectionString,

    /// Make them equal; whoever writes these rows waits meanwhile
    #[arg(long)]
    repair: bool,
}

#[derive(Debug, Error)]
#[error("{0} parties, order items or returns differ from OFBiz's tables: run `orderql parties --repair`")]
struct PartiesDiffer(i64);

/// Checks or repairs the table.
pub(crate) fn run(args: &Args) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let count = runtime.block_on(async {
        let client = connect(&address(&args.database_url)?).await?;
        let count = if args.repair { parties::repair(&client).await? } else { parties::differing(&client).await? };
        Ok::<_, Box<dyn Error + Send + Sync>>(count)
    })?;
    match (count, args.repair) {
        (0, _) => write("All parties, order items and returns equal OFBiz's tables.\n"),
        (repaired, true) => write(&format!("{repaired} parties, order items and returns repaired.\n")),
        (differing, false) => Err(PartiesDiffer(differing).into()),
    }
}
