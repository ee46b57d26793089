//! `orderql sync`: how far the change feeds are, and what to do after a restore or an upgrade.

use std::io::{self, BufRead as _, IsTerminal as _};

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::change_feed::check::{ForeignIds, exist, faults, has_foreign_ids};
use crate::change_feed::status::FeedStatus;
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
    admin.run(async |operator| {
        if !exist(&operator.client).await? {
            return Err(SyncError::NoFeeds.into());
        }
        match command {
            Command::Status => status(&operator.client, admin.json).await,
            Command::Reset { yes } => reset(&mut operator.client, yes).await,
            Command::Adopt => adopt(&operator.client).await,
        }
    })
}

async fn status(client: &Client, json: bool) -> Outcome {
    let FeedStatus { epoch, timeline, is_standby, ticks, lag, oldest_writer, marks } = FeedStatus::read(client).await?;
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

/// Whether the ids are from here; and the ticks that servers wrote here under an epoch of its own: how many, from when to when.
const SEEN: &str = "
    SELECT home = orderql.sync_here(), count(tick_id), min(at)::timestamptz(0)::text, max(at)::timestamptz(0)::text
    FROM orderql.sync_state LEFT JOIN orderql.sync_tick ON epoch = (SELECT epoch FROM orderql.sync_epoch())
    GROUP BY home";

/// When the newest tick of the epoch was written.
const NEWEST: &str = "
    SELECT at::timestamptz(0)::text FROM orderql.sync_tick WHERE epoch = (SELECT epoch FROM orderql.sync_epoch())
    ORDER BY tick_id DESC LIMIT 1";

async fn adopt(client: &Client) -> Outcome {
    if has_foreign_ids(client).await? {
        return Err(ForeignIds.into());
    }
    let seen = client.query_one(SEEN, &[]).await?;
    if seen.try_get(0)? {
        return write("Nothing to adopt: the epoch's transaction ids are those of this cluster already.\n");
    }
    if !client.query_one("SELECT orderql.sync_adopt()", &[]).await?.try_get::<_, bool>(0)? {
        return Err(SyncError::NothingToAdopt.into());
    }
    let newest: String = client.query_one(NEWEST, &[]).await?.try_get(0)?;
    let ticks: i64 = seen.try_get(1)?;
    let between = match [seen.try_get::<_, Option<&str>>(2)?, seen.try_get(3)?] {
        [Some(first), Some(last)] => format!(
            "A server ran here before this command: it wrote {ticks} ticks of another epoch, from {first} to {last}. Clients that \
             read changes meanwhile have tokens of that epoch: they get SYNC_TOKEN_INVALID, and have to copy everything once more. \
             Stop the servers before pg_upgrade, and start them after this command.\n"
        ),
        _ => String::new(),
    };
    write(&format!(
        "The epoch of before goes on from its newest tick, of {newest}. Clients read once more what changed since \
         (SYNC_REWOUND).\n{between}"
    ))
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
