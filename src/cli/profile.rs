//! `orderql profile`: the limits of single users.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgGroup, ArgMatches};
use serde_json::{Map, Value, json};

use crate::access::manage::profiles;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::table::{Table, report};
use crate::config::value_parser::{SIZE, TIME};
use crate::limits::{LIMITS, Limit, Unit};

/// Give single users limits of their own
///
/// Running servers apply changes at once. A max-cost above the bucket-size is rejected, because such a query could never
/// run. Where the profile has only one of them, the other is the server's default: this command reads it from the same
/// environment variables and configuration file as the server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Give a user limits of its own; those that are not named stay as they are
    Set {
        /// The name of the user
        user: String,
        #[command(flatten)]
        limits: ProfileFlags,
    },
    /// Show a user's own limits
    Show {
        /// The name of the user
        user: String,
    },
    /// Give a user the server's default limits again
    Unset {
        /// The name of the user
        user: String,
        /// The limits; without any, all of them
        #[arg(value_name = "LIMIT", value_parser = PossibleValuesParser::new(LIMITS.iter().map(|limit| limit.name)))]
        limits: Vec<String>,
    },
}

/// The largest number of credits: JSON parsers that use doubles read it exactly.
const MOST_CREDITS: i64 = 1 << 53;

/// The limits that were given on the command line, a flag each.
#[derive(Debug, Clone, Default)]
struct ProfileFlags {
    given: Vec<(&'static Limit, Option<i64>)>,
}

impl clap::Args for ProfileFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let names = LIMITS.iter().map(|limit| limit.name);
        let at_least_one = ArgGroup::new("limits").required(true).multiple(true).args(names);
        command.args(LIMITS.iter().map(flag)).group(at_least_one)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ProfileFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let number = |limit: &Limit| matches.get_one::<i64>(limit.name).copied();
        let given = LIMITS.iter().filter_map(|limit| Some((limit, Some(number(limit)?))));
        self.given = given.collect();
        Ok(())
    }
}

fn flag(limit: &'static Limit) -> Arg {
    let help = limit.help.trim().trim_end_matches('.');
    let arg = Arg::new(limit.name).long(limit.name).allow_negative_numbers(true);
    match limit.unit {
        Unit::Credits => arg.value_name("CREDITS").value_parser(whole_number(MOST_CREDITS)).help(help),
        Unit::Count => arg.value_name("COUNT").value_parser(whole_number(1_000_000)).help(help),
        Unit::Time => arg
            .value_name("TIME")
            .value_parser(ValueParser::new(milliseconds))
            .help(format!("{help}, such as 500ms, 10s or 5m")),
        Unit::Bytes => arg
            .value_name("SIZE")
            .value_parser(ValueParser::new(bytes))
            .help(format!("{help}; such as 65536, 64KiB or 1MiB")),
    }
}

fn whole_number(most: i64) -> ValueParser {
    clap::value_parser!(i64).range(1..=most).into()
}

fn milliseconds(text: &str) -> Result<i64, String> {
    let time = TIME.read(text)?;
    Ok(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

fn bytes(text: &str) -> Result<i64, String> {
    Ok(i64::try_from(SIZE.read(text)?).unwrap_or(i64::MAX))
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command } = args;
    let json = admin.json;
    // The defaults of a user without a profile, as far as the environment and the configuration file show.
    let defaults = admin.database.settings(&[])?.limits;
    admin.run(async |operator| {
        match command {
            Command::Set { user, limits } => {
                let changed = profiles::change(operator, &user, &limits.given, &defaults).await?;
                report(json, &format!("{user} has these limits"), changed, &[("user", &user)])?;
            }
            Command::Show { user } => {
                let limits = profiles::show(&operator.client, &user).await?.limits();
                let shown = limits.map(|(limit, number)| (limit.name, shown(limit, number)));
                if json {
                    let object: Map<_, _> = shown.map(|(name, value)| (name.to_owned(), value)).collect();
                    write(&format!("{:#}\n", Value::Object(object)))?;
                } else {
                    let rows = shown.map(|(name, value)| {
                        let value = if value.is_null() { json!("the server's default") } else { value };
                        [json!(name), value]
                    });
                    Table { columns: ["limit", "value"], rows: rows.collect() }.print(false)?;
                }
            }
            Command::Unset { user, limits } => {
                let is_named = |limit: &&Limit| limits.is_empty() || limits.iter().any(|name| name == limit.name);
                let unset: Vec<_> = LIMITS.iter().filter(is_named).map(|limit| (limit, None)).collect();
                let changed = profiles::change(operator, &user, &unset, &defaults).await?;
                report(json, &format!("{user} has the server's defaults there"), changed, &[("user", &user)])?;
            }
        }
        Ok(())
    })
}

/// A limit's number as JSON; null for the server's default.
fn shown(limit: &Limit, number: Option<i64>) -> Value {
    match (number, limit.unit) {
        (None, _) => Value::Null,
        (Some(number), Unit::Credits | Unit::Count | Unit::Bytes) => json!(number),
        (Some(milliseconds), Unit::Time) => json!(format!("{milliseconds}ms")),
    }
}
