//! `orderql audit`: who signed in, and who changed users, groups, grants and profiles.

use serde_json::{Value, json};

use crate::access::audit;
use crate::access::manage::error::ManageError;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::cli::table::Table;

/// Show who signed in, and who changed users, groups, grants and profiles
///
/// The latest events come last.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,

    /// Show events from this time on, such as 2026-05-01, 2026-05-01T12:00Z, yesterday or '1 hour ago'
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// How many events to show at most; the latest ones are shown
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,

    /// The old name of `--limit`, accepted for one version
    #[arg(long, value_name = "COUNT", hide = true, value_parser = clap::value_parser!(i64).range(1..))]
    most: Option<i64>,
}

/// Prints the events.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, since, limit, most } = args;
    if most.is_some() {
        settings::warn("--most is now called --limit; the old name will be removed in the next version");
    }
    let limit = most.unwrap_or(limit);
    admin.run(async |client, _| {
        // A date begins at midnight in UTC, because the times are shown in UTC.
        client.batch_execute("SET TimeZone = 'UTC'").await?;
        let since = match since {
            Some(text) => Some(read_time(client, &text).await?),
            None => None,
        };
        let events = audit::list(client, since.as_deref(), limit).await.map_err(ManageError::from)?;
        let rows = events.into_iter().map(|event| {
            let details = serde_json::from_str(&event.details).unwrap_or(Value::String(event.details));
            let details = if admin.json { details } else { as_text(&details) };
            [
                json!(event.at),
                json!(event.actor),
                json!(event.address),
                json!(event.action),
                json!(event.subject),
                details,
            ]
        });
        let columns = ["at", "actor", "address", "action", "subject", "details"];
        Table { columns, rows: rows.collect() }.print(admin.json)?;
        Ok(())
    })
}

/// The time that the text says, in PostgreSQL's form. `… ago` counts from now.
async fn read_time(client: &tokio_postgres::Client, text: &str) -> Result<String, ManageError> {
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
