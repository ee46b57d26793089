//! `orderql schema`: prints what a schema file publishes, checks it against a database, compares it with another, and drafts one.

mod diff;
mod draft;
mod schema_file;

use std::error::Error;
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use thiserror::Error;
use tokio_postgres::Client;

use crate::catalog::Catalog;
use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::config::value_parser::CONSTRAINTS;
use crate::outline::Outline;
use crate::preflight::foreign_tables;
use crate::preflight::mismatch::Mismatch;
use crate::preflight::needless_bounds::needless_bounds;
use crate::preflight::window_search::window_searches;
use crate::preflight::{Constraints, Inspection, inspect};

pub(crate) use schema_file::{file, parse, read, text};

/// Print the published schema, check a schema against a database, compare two, or draft one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check a schema against a database, and list everything that does not fit
    ///
    /// That is tables and columns that are missing or of another type, joins of columns that cannot be compared, sort
    /// keys, search keys and connections without an index, keys and non-null fields that no constraint guarantees, and
    /// privileges that the role lacks. Only PostgreSQL's own tables are read, so it may be run at any time. Searches that no
    /// index serves are listed as well. Exits with 1 if something does not fit: the server would not start.
    Check(Box<CheckArgs>),
    /// Compare two schema files by what changes for the operations of clients. Needs no database
    ///
    /// Each operation is compiled against both, and listed if it breaks (it is refused now), changes silently (other rows, columns,
    /// types, orders or grants), costs more or less, takes more of the database, or uses what is deprecated. Credits are from the
    /// smallest pages to the largest, and from an empty search to one by every key. Exits with 1 if an operation breaks or
    /// changes silently, and with --max-increase if one becomes more expensive by more.
    Diff(Box<diff::Args>),
    /// Print a schema file for the tables, keys, foreign keys, indexes and comments of a database
    ///
    /// It has a type for each table with a key, and fields, connections, searches and sort orders as far as an index serves them.
    /// What is left out stands there as a comment, with the reason and the index that would bring it. Only PostgreSQL's own tables
    /// are read.
    Draft(Box<draft::Args>),
    /// Print the published SDL: types, arguments, search keys and sort keys, without tables and columns
    Print(Print),
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    database: DatabaseFlags,

    /// Whether constraints of the database must guarantee the schema's keys and non-null fields: required, or trusted
    /// [env: `ORDERQL_SCHEMA_CONSTRAINTS`]
    #[arg(long, value_name = "REQUIRED", value_parser = |text: &str| CONSTRAINTS.read(text))]
    schema_constraints: Option<Constraints>,

    /// The schema file [default: that of the settings, or the built-in schema] [env: `ORDERQL_SCHEMA`]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Print {
    /// Print a short form for language models and for a first look: no descriptions, and what all connections have is left out
    #[arg(long)]
    short: bool,

    /// The schema file [default: the built-in schema]
    #[arg(value_name = "FILE", env = "ORDERQL_SCHEMA")]
    file: Option<PathBuf>,
}

/// The database does not fit the schema.
#[derive(Debug, Error)]
pub(crate) struct Unfit {
    mismatches: Vec<Mismatch>,
}

impl Unfit {
    /// The first mismatch, and how many others there are.
    pub(crate) fn first(&self) -> String {
        let first = self.mismatches.first().map(ToString::to_string).unwrap_or_default();
        match self.mismatches.len().saturating_sub(1) {
            0 => first,
            others => format!("{first} (and {others} more)"),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the database does not fit the schema")?;
        self.mismatches.iter().try_for_each(|mismatch| write!(f, "\n- {mismatch}"))
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Check(check) => {
            let settings = check.database.settings(&[])?;
            let catalog = read(non_empty(check.file.as_deref()).or(settings.schema.as_deref()))?;
            let constraints = check.schema_constraints.unwrap_or(settings.schema_constraints);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let (trusted, needless) = runtime.block_on(async {
                let client = connect(&check.database.address()?).await?;
                let trusted = check_database(&client, &catalog, constraints).await?;
                let mismatches = foreign_tables::unreachable(&client, &catalog).await?;
                if !mismatches.is_empty() {
                    return Err(Unfit { mismatches }.into());
                }
                Outcome::Ok((trusted, needless_bounds(&client, &catalog).await?))
            })?;
            let mut text = "The database fits the schema.\n".to_owned();
            for mismatch in trusted {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "- trusted: {mismatch}");
            }
            for (list, argument) in needless {
                let _ = writeln!(text, "- {list}: an index has its rows in order, so that it needs no `{argument}`");
            }
            write(&(text + &describe_window_searches(&catalog)))
        }
        Command::Diff(args) => diff::run(args),
        Command::Draft(args) => draft::run(args),
        Command::Print(print) => {
            let catalog = read(non_empty(print.file.as_deref()))?;
            write(&if print.short { Outline::parse(catalog.sdl())?.short_sdl() } else { catalog.sdl().to_owned() })
        }
    }
}

/// The searches that only a window serves, a line each; empty if there are none.
fn describe_window_searches(catalog: &Catalog) -> String {
    let searches = window_searches(catalog);
    if searches.is_empty() {
        return String::new();
    }
    let mut text =
        "\nNo index serves these searches. Their pages may end before they are full (see --search-window):\n"
            .to_owned();
    for search in searches {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {search}");
    }
    text
}

/// Checks a schema against a database. Fails with all mismatches that are not accepted. Returns the accepted ones: promises that are trusted,
/// and mismatches of tables that stood before the migration.
pub(crate) async fn check_database(
    client: &Client,
    catalog: &Catalog,
    constraints: Constraints,
) -> Result<Vec<Mismatch>, Box<dyn Error + Send + Sync>> {
    let is_accepted = |mismatch: &Mismatch| mismatch.is_of_standing_table() || is_trusted(mismatch, constraints);
    Ok(accept(client, catalog, is_accepted).await?.mismatches)
}

/// Checks whether a schema can be served from a database. Fails with the mismatches that stand in the way. Otherwise the other
/// mismatches are promises that are trusted, and mismatches with which the schema can be served.
pub(crate) async fn check_to_serve(
    client: &Client,
    catalog: &Catalog,
    constraints: Constraints,
) -> Result<Inspection, Box<dyn Error + Send + Sync>> {
    accept(client, catalog, |mismatch| mismatch.can_be_served() || is_trusted(mismatch, constraints)).await
}

fn is_trusted(mismatch: &Mismatch, constraints: Constraints) -> bool {
    constraints == Constraints::Trusted && mismatch.is_missing_guarantee()
}

async fn accept(
    client: &Client,
    catalog: &Catalog,
    is_accepted: impl Fn(&Mismatch) -> bool,
) -> Result<Inspection, Box<dyn Error + Send + Sync>> {
    let Inspection { mismatches, stored } = inspect(client, catalog).await?;
    let (accepted, mismatches): (Vec<_>, Vec<_>) = mismatches.into_iter().partition(is_accepted);
    if mismatches.is_empty() {
        Ok(Inspection { mismatches: accepted, stored })
    } else {
        Err(Unfit { mismatches }.into())
    }
}

/// `None` for an empty path, which an empty environment variable makes.
fn non_empty(file: Option<&Path>) -> Option<&Path> {
    file.filter(|path| !path.as_os_str().is_empty())
}
