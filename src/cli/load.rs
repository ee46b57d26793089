//! `orderql load`: loads OFBiz data files into a database.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use thiserror::Error;
use tokio_postgres::Client;

use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::database::address::connection_string::ConnectionString;
use crate::load::error::LoadError;
use crate::load::finish::{check_ready, finish};
use crate::load::input::InputFile;
use crate::load::loader::{Progress, load_file};

/// Load OFBiz entity-engine XML files into an OFBiz database
///
/// Each file is one transaction. Bad records are skipped and reported; a file that is not well-formed is skipped
/// altogether. Rows that exist are updated if they differ, so loading a file twice changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The database, such as `postgresql://ofbiz@localhost/ofbiz` or `host=/run/postgresql dbname=ofbiz`
    #[arg(long, env = "ORDERQL_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: ConnectionString,

    /// List every entity's inserted, updated, unchanged and deleted rows
    #[arg(long, short)]
    pub verbose: bool,

    /// Data files in the order to load them; a folder stands for the files that its `LOAD_ORDER.txt` names
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Some records were skipped; all others are loaded.
#[derive(Debug, Error)]
#[error("{bad} bad records were left out; they are listed above")]
pub struct BadRecords {
    /// How many.
    pub bad: u64,
}

/// Loads the files, then updates sums and links. Prints a line for each file. Shows a progress bar if standard error is a
/// terminal.
pub fn run(args: Args) -> Outcome {
    let inputs = args.files.iter().map(|path| InputFile::from_path(path)).collect::<Result<Vec<_>, _>>()?.concat();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(load_all(args, inputs))
}

async fn load_all(args: Args, inputs: Vec<InputFile>) -> Outcome {
    let mut client = connect(&address(&args.database_url)?).await?;
    check_ready(&client).await?;
    let bar = bar()?;
    let loaded = load_files(&mut client, inputs, &bar, args.verbose).await;
    bar.finish_and_clear();
    // A file that cannot be loaded ends the run. The sums and links of the files before it are updated all the same.
    if !matches!(loaded, Err(LoadError::Database(_))) {
        println!("{}", finish(&mut client).await?);
    }
    match loaded? {
        0 => Ok(()),
        bad => Err(BadRecords { bad }.into()),
    }
}

/// Loads one file after the other. Returns the number of bad records.
async fn load_files(
    client: &mut Client,
    inputs: Vec<InputFile>,
    bar: &ProgressBar,
    verbose: bool,
) -> Result<u64, LoadError> {
    let mut bad = 0;
    for input in inputs {
        bar.set_message(input.name());
        bar.set_position(0);
        let mut show = |progress: Progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.bytes);
        };
        let report = load_file(client, input, &mut show).await?;
        bad += report.bad_rows();
        bar.suspend(|| if verbose { println!("{report:#}") } else { println!("{report}") });
    }
    Ok(bad)
}

/// A progress bar that is drawn on a terminal only.
fn bar() -> Result<ProgressBar, indicatif::style::TemplateError> {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")?;
    Ok(ProgressBar::with_draw_target(Some(0), target).with_style(style))
}
