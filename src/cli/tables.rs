//! `orderql tables`: checks what triggers keep, and repairs it.

use std::error::Error;

use thiserror::Error;

use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::migration::kept_tables::KEPT_TABLES;

/// Check that what triggers keep equals OFBiz's tables, and repair it
///
/// Triggers keep the table of all parties, the fulfilment queue, and the facility of an order item and the store of a return, by which
/// these are searched; also for rows that replication writes. An import that disables triggers leaves rows out. Exits with 1 if rows
/// differ and --repair is not given.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    database: DatabaseFlags,

    /// Make them equal; whoever writes these rows waits meanwhile
    #[arg(long)]
    repair: bool,
}

#[derive(Debug, Error)]
#[error("{0} differ from OFBiz's tables: run `orderql tables --repair`")]
struct RowsDiffer(String);

/// Checks or repairs the tables.
pub(crate) fn run(args: &Args) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let counts = runtime.block_on(async {
        let client = connect(&args.database.address()?).await?;
        let mut counts = Vec::new();
        for table in &KEPT_TABLES {
            let count = if args.repair { table.repair(&client).await? } else { table.differing(&client).await? };
            counts.push((table, count));
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(counts)
    })?;
    let mut differing = Vec::new();
    for (table, count) in counts {
        match (count, args.repair) {
            (0, _) => write(&format!("All {} equal OFBiz's tables.\n", table.rows))?,
            (repaired, true) => write(&format!("{repaired} {} repaired.\n", table.rows))?,
            (count, false) => differing.push(format!("{count} {} in {}", table.rows, table.name)),
        }
    }
    if differing.is_empty() { Ok(()) } else { Err(RowsDiffer(differing.join(" and ")).into()) }
}
