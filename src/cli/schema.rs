//! `orderql schema`: what a schema file publishes, and whether a database fits it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use thiserror::Error;
use tokio_postgres::{Client, Config};

use crate::catalog::{BUILT_IN, Catalog, SchemaError};
use crate::cli::Outcome;
use crate::database::connect::connect;
use crate::preflight::check;
use crate::preflight::mismatch::Mismatch;

/// Look at a schema file: the one that `serve` would take, or another.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Hold a schema against a database, and name everything that does not fit
    ///
    /// Tables and columns that are missing or of another type, joins that do not compare, sort keys, search keys and
    /// connections that no index serves, rights that the role lacks. Only PostgreSQL's own tables are read, so it may be
    /// run at any time. Exits with 1 where something does not fit: the server would not start.
    Check(Box<Check>),
    /// Print the SDL that is published: types, arguments, search keys and sort keys, without what binds them
    Print(Print),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The database, such as `postgresql://ofbiz@localhost/ofbiz` or `host=/run/postgresql dbname=ofbiz`
    #[arg(long, env = "ORDERQL_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Config,

    /// The schema file [default: the built-in schema]
    #[arg(value_name = "FILE", env = "ORDERQL_SCHEMA")]
    file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Print {
    /// The schema file [default: the built-in schema]
    #[arg(value_name = "FILE", env = "ORDERQL_SCHEMA")]
    file: Option<PathBuf>,
}

/// Why a schema file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum SchemaFileError {
    /// It is not there, or not text.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It is no schema; the cause says where.
    #[error("{} is no schema", .0.display())]
    NotASchema(PathBuf, #[source] SchemaError),
}

/// A database that does not fit a schema.
#[derive(Debug, Error)]
pub(crate) struct Unfit {
    mismatches: Vec<Mismatch>,
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
            let catalog = read(given(check.file.as_deref()))?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async { hold(&connect(&check.database_url).await?, &catalog).await })?;
            write("The database fits the schema.\n")
        }
        Command::Print(print) => write(read(given(print.file.as_deref()))?.sdl()),
    }
}

/// The catalog of a schema file, or of the built-in one.
pub(crate) fn read(file: Option<&Path>) -> Result<Catalog, SchemaFileError> {
    let (text, path) = match file {
        None => (BUILT_IN.to_owned(), Path::new("the built-in schema")),
        Some(path) => match fs::read_to_string(path) {
            Ok(text) => (text, path),
            Err(error) => return Err(SchemaFileError::Unreadable(path.to_owned(), error)),
        },
    };
    Catalog::parse(&text).map_err(|error| SchemaFileError::NotASchema(path.to_owned(), error))
}

/// Holds a schema against a database; what does not fit is the error.
pub(crate) async fn hold(client: &Client, catalog: &Catalog) -> Outcome {
    match check(client, catalog).await? {
        mismatches if mismatches.is_empty() => Ok(()),
        mismatches => Err(Unfit { mismatches }.into()),
    }
}

/// An empty path, as an empty variable makes it, is none.
fn given(file: Option<&Path>) -> Option<&Path> {
    file.filter(|path| !path.as_os_str().is_empty())
}

fn write(text: &str) -> Outcome {
    match io::stdout().write_all(text.as_bytes()) {
        // Whoever closed the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
