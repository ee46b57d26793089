//! `orderql audit`: who signed in, and who changed users, groups, grants, profiles and keys.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_postgres::Client;

use crate::access::audit::{self, Action, AuditEvent};
use crate::access::audit_retention::trails;
use crate::access::manage::error::ManageError;
use crate::access::manage::operator::Operator;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::cli::table::Table;
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::config::value_parser::TIME;

/// Show who signed in, and who changed users, groups, grants, profiles and keys
///
/// The latest events come last.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,

    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Show events from this time on, such as 2026-05-01, 2026-05-01T12:00Z, yesterday or '1 hour ago'
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// How many events to show at most; the latest ones are shown
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Remove old rows of the audit trails: of this one, and of the order updates
    Prune(PruneArgs),
}

#[derive(Debug, clap::Args)]
struct PruneArgs {
    /// Remove rows older than this, such as 90d [default: the setting audit-keep of the environment or 365d]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| TIME.read(text))]
    older_than: Option<Duration>,

    /// Only count the rows
    #[arg(long)]
    dry_run: bool,
}

/// Why nothing is pruned.
#[derive(Debug, thiserror::Error)]
#[error("audit-keep is forever; say with --older-than which rows to remove")]
struct KeptForever;

/// Prints the events, or removes old ones.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command, list } = args;
    admin.run(async |operator| match command {
        Some(Command::Prune(prune)) => self::prune(operator, &prune, admin.json).await,
        None => show(&operator.client, &list, admin.json).await,
    })
}

async fn show(client: &Client, args: &ListArgs, json: bool) -> Outcome {
    // A date begins at midnight in UTC, because the times are shown in UTC.
    client.batch_execute("SET TimeZone = 'UTC'").await?;
    let since = match &args.since {
        Some(text) => Some(read_time(client, text).await?),
        None => None,
    };
    let events = audit::list(client, since.as_deref(), args.limit).await.map_err(ManageError::from)?;
    let rows = events.into_iter().map(|event| {
        let details = serde_json::from_str(&event.details).unwrap_or(Value::String(event.details));
        let details = if json { details } else { as_text(&details) };
        [json!(event.at), json!(event.actor), json!(event.address), json!(event.action), json!(event.subject), details]
    });
    let columns = ["at", "actor", "address", "action", "subject", "details"];
    Table { columns, rows: rows.collect() }.print(json)?;
    Ok(())
}

/// Removes old rows and records it, or counts them. Prints how many each table had.
async fn prune(Operator { client, name }: &Operator, args: &PruneArgs, json: bool) -> Outcome {
    let keep = match args.older_than {
        Some(keep) => keep,
        None => Config::read(&settings::gather(&Flags::default())?)?.audit_keep.ok_or(KeptForever)?,
    };
    let mut rows = Vec::new();
    let mut details = Map::from_iter([("olderThanSeconds".to_owned(), json!(keep.as_secs()))]);
    for trail in trails(client).await.map_err(ManageError::from)? {
        let count = if args.dry_run { trail.count(client, keep).await } else { trail.remove(client, keep).await };
        let count = count.map_err(ManageError::from)?;
        details.insert(trail.table.to_owned(), json!(count));
        rows.push([json!(trail.table), json!(count), json!(!args.dry_run)]);
    }
    if !args.dry_run {
        let (actor, action) = (name.clone(), Action::AuditPruned);
        audit::store(client, &[AuditEvent { actor, address: None, action, subject: None, details }]).await?;
    }
    Table { columns: ["table", "oldRows", "removed"], rows }.print(json)?;
    Ok(())
}

/// The time that the text says, in PostgreSQL's form. `… ago` counts from now.
async fn read_time(client: &Client, text: &str) -> Result<String, ManageError> {
    let select = match text.trim().strip_suffix(" ago") {
        Some(_) => "SELECT (now() + $1::text::interval)::text",
        None => "SELECT ($1::text::timestamptz)::text",
    };
    Ok(client.query_one(select, &[&text.trim()]).await?.try_get(0)?)
}

/// `{"group": "API"}` as `group API`.
fn as_text(details: &Value) -> Value {
    let Value::Object(pairs) = details else { return details.clone() };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!(pairs.iter().map(|(key, value)| format!("{key} {}", word(value))).collect::<Vec<_>>().join(", "))
}
