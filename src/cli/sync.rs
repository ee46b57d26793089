//! `orderql sync`: how far the change feeds are, and what to do after a restore or an upgrade.

use std::io::{self, BufRead as _, IsTerminal as _};

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::change_feed::check::{ForeignIds, exist, faults, has_foreign_ids};
use crate::change_feed::status::Status;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::table::Table;

/// Show how far the change feeds are, begin them anew, or go on after an upgrade of PostgreSQL
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the epoch, the ticks, the oldest transaction that writes, and how many marks are kept
    Status,
    /// Forget all marks and begin a new epoch: clients have to copy everything once more; asks first
    ///
    /// For a database that was restored from a dump, or whose triggers were off for a time.
    Reset {
        /// Answer the question with yes
        #[arg(long)]
        yes: bool,
    },
    /// Go on with the epoch of before, after `pg_upgrade`, which keeps the ids of transactions
    ///
    /// Never for a database that was restored from a dump.
    Adopt,
}

/// Why a command does nothing.
#[derive(Debug, thiserror::Error)]
enum SyncError {
    #[error("the database has no change feeds: run `orderql migrate`")]
    NoFeeds,
    #[error("nothing was reset: answer yes, or give --yes")]
    NotReset,
    #[error("there is no tick of before, so that nobody knows how far clients are: run `orderql sync reset`")]
    NothingToAdopt,
}

/// Runs the command.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command } = args;
    admin.run(async |client, _| {
        if !exist(client).await? {
            return Err(SyncError::NoFeeds.into());
        }
        match command {
            Command::Status => status(client, admin.json).await,
            Command::Reset { yes } => reset(client, yes).await,
            Command::Adopt => adopt(client).await,
        }
    })
}

async fn status(client: &Client, json: bool) -> Outcome {
    let Status { epoch, timeline, is_standby, ticks, lag, oldest_writer, marks } = Status::read(client).await?;
    let seconds = |seconds: Option<f64>| seconds.map_or(Value::Null, |seconds| json!(seconds.round()));
    let faults: Vec<_> =
        faults(client).await?.into_iter().map(|fault| format!("{} on {}", fault.name, fault.relation)).collect();
    let mut rows = vec![
        // A number of JSON would lose digits.
        [json!("epoch"), json!(epoch.to_string())],
        [json!("timeline"), json!(timeline)],
        [json!("standby"), json!(is_standby)],
        [json!("ticks"), json!(ticks)],
        [json!("lagSeconds"), seconds(lag)],
        [json!("oldestWriterSeconds"), seconds(oldest_writer)],
        [json!("triggersOff"), json!(faults)],
        [json!("foreignIds"), json!(has_foreign_ids(client).await?)],
    ];
    rows.extend(marks.into_iter().map(|(feed, marks)| [json!(format!("marks of {feed}")), json!(marks)]));
    Table { columns: ["name", "value"], rows }.print(json)
}

async fn reset(client: &mut Client, is_agreed: bool) -> Outcome {
    if !is_agreed && !agrees()? {
        return Err(SyncError::NotReset.into());
    }
    let transaction = client.transaction().await?;
    transaction.batch_execute("SET LOCAL lock_timeout TO '20s'; SELECT orderql.sync_reset()").await?;
    transaction.commit().await?;
    write("A new epoch has begun. Clients have to copy everything once more.\n")
}

async fn adopt(client: &Client) -> Outcome {
    if has_foreign_ids(client).await? {
        return Err(ForeignIds.into());
    }
    if !client.query_one("SELECT orderql.sync_adopt()", &[]).await?.try_get::<_, bool>(0)? {
        return Err(SyncError::NothingToAdopt.into());
    }
    write("The epoch of before goes on.\n")
}

/// Asks at a terminal.
fn agrees() -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("All clients of the change feeds have to copy everything once more. Begin a new epoch? (yes) ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
