//! `orderql profile`: the limits of single users.

use std::time::Duration;

use clap::ArgGroup;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::access::accounts::Profile;
use crate::access::manage::profiles::{self, Limit};
use crate::cli::Outcome;
use crate::cli::manage::Common;
use crate::cli::table::{Table, tell};
use crate::config::value_parser::TIME;

/// Hold single users to other limits than everybody. Running servers follow at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Give a user limits of its own; those that are not named stay as they are
    Set {
        /// The user
        user: String,
        #[command(flatten)]
        limits: Box<Limits>,
    },
    /// Show a user's own limits
    Show {
        /// The user
        user: String,
    },
    /// Hold a user to the server's defaults again
    Unset {
        /// The user
        user: String,
        /// The limits; without any, all of them
        #[arg(value_name = "LIMIT", value_parser = PossibleValuesParser::new(NAMES))]
        limits: Vec<String>,
    },
}

/// The limits' names on the command line, in the order of [`Profile::COLUMNS`].
const NAMES: [&str; Profile::COLUMNS.len()] =
    ["max-cost", "max-page-size", "max-depth", "bucket-size", "restore-rate", "deadline", "concurrent-queries"];

#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("limits").required(true).multiple(true))]
struct Limits {
    /// Credits that one query may be estimated at
    #[arg(long, group = "limits", value_name = "CREDITS", value_parser = clap::value_parser!(i64).range(1..=MOST))]
    max_cost: Option<i64>,
    /// Rows that a page may have
    #[arg(long, group = "limits", value_name = "COUNT", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    max_page_size: Option<i64>,
    /// Levels of object nesting
    #[arg(long, group = "limits", value_name = "COUNT", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    max_depth: Option<i64>,
    /// Credits in a full bucket
    #[arg(long, group = "limits", value_name = "CREDITS", value_parser = clap::value_parser!(i64).range(1..=MOST))]
    bucket_size: Option<i64>,
    /// Credits that come back every second
    #[arg(long, group = "limits", value_name = "CREDITS", value_parser = clap::value_parser!(i64).range(1..=MOST))]
    restore_rate: Option<i64>,
    /// The time a query may take, such as 500ms, 10s or 5m
    #[arg(long, group = "limits", value_name = "TIME", value_parser = time)]
    deadline: Option<Duration>,
    /// Queries that run at the same time
    #[arg(long, group = "limits", value_name = "COUNT", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    concurrent_queries: Option<i64>,
}

/// A number of credits that JSON's readers still take exactly.
const MOST: i64 = 1 << 53;

fn time(text: &str) -> Result<Duration, String> {
    (TIME.parse)(text).ok_or_else(|| format!("expected {}", TIME.wanted))
}

impl Limits {
    /// In the order of [`NAMES`].
    fn values(&self) -> [Option<i64>; NAMES.len()] {
        [
            self.max_cost,
            self.max_page_size,
            self.max_depth,
            self.bucket_size,
            self.restore_rate,
            self.deadline.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
            self.concurrent_queries,
        ]
    }
}

/// Does what is asked.
pub fn run(args: Args) -> Outcome {
    let Args { common, command } = args;
    let json = common.json;
    common.run(async |client, operator| {
        match command {
            Command::Set { user, limits } => {
                let values = limits.values();
                let given = Limit::all().map(|limit| (limit, values[limit.place()]));
                let limits: Vec<_> = given.filter(|(_, value)| value.is_some()).collect();
                let changed = profiles::change(client, operator, &user, &limits).await?;
                tell(json, &format!("{user} has these limits"), changed, &[("user", &user)])?;
            }
            Command::Show { user } => {
                let values = profiles::show(client, &user).await?;
                let shown = |limit: Limit| match values[limit.place()] {
                    None => Value::Null,
                    Some(milliseconds) if NAMES[limit.place()] == "deadline" => json!(format!("{milliseconds}ms")),
                    Some(value) => json!(value),
                };
                if json {
                    let object: serde_json::Map<_, _> =
                        Limit::all().map(|limit| (NAMES[limit.place()].to_owned(), shown(limit))).collect();
                    println!("{:#}", Value::Object(object));
                } else {
                    let rows = Limit::all().map(|limit| {
                        let value = shown(limit);
                        let value = if value.is_null() { json!("the server's default") } else { value };
                        [json!(NAMES[limit.place()]), value]
                    });
                    Table { columns: ["limit", "value"], rows: rows.collect() }.print(false)?;
                }
            }
            Command::Unset { user, limits } => {
                let named = |limit: &Limit| limits.is_empty() || limits.iter().any(|name| name == NAMES[limit.place()]);
                let limits: Vec<_> = Limit::all().filter(named).map(|limit| (limit, None)).collect();
                let changed = profiles::change(client, operator, &user, &limits).await?;
                tell(json, &format!("{user} is held to the server's defaults there"), changed, &[("user", &user)])?;
            }
        }
        Ok(())
    })
}
