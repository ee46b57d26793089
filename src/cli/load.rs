//! `orderql load`: loads data files into a database.

use std::fmt;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use thiserror::Error;
use tokio_postgres::Client;

use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::load::error::LoadError;
use crate::load::finish::{check_ready, finish};
use crate::load::input::InputFile;
use crate::load::loader::{LoadProgress, load_file};
use crate::load::report::FileReport;
use crate::telemetry::error_chain::ErrorChain;

/// Load data files of OFBiz or Moqui into an OFBiz database
///
/// The files are XML with the root element `<entity-engine-xml>`, OFBiz's, or `<entity-facade-xml>`, Moqui's. Each file is one
/// transaction. Bad records are skipped and reported. A file that cannot be read or is not well-formed is skipped altogether;
/// the other files are loaded, and the command fails at the end. Rows that exist are updated if they differ, so loading a file
/// twice changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the rows are written.
    #[command(flatten)]
    pub database: DatabaseFlags,

    /// List every entity's inserted, updated, unchanged and deleted rows
    #[arg(long, short)]
    pub verbose: bool,

    /// Data files in the order to load them; a folder stands for the files that its `LOAD_ORDER.txt` names
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Some records or files were skipped; all others are loaded.
#[derive(Debug, Default, Error)]
pub(crate) struct Incomplete {
    /// The number of records that were left out.
    pub bad: u64,
    /// Why files were not loaded.
    pub failed: Vec<LoadError>,
    /// The number of all files.
    pub files: usize,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bad, failed, files } = self;
        if *bad > 0 {
            write!(out, "{bad} bad records were left out; they are listed above")?;
        }
        if !failed.is_empty() {
            let separator = if *bad > 0 { "; " } else { "" };
            write!(out, "{separator}{} of {files} files not loaded", failed.len())?;
            for (index, error) in failed.iter().enumerate() {
                write!(out, "{}{}", if index == 0 { ": " } else { "\n" }, ErrorChain(error))?;
            }
        }
        Ok(())
    }
}

/// The database failed. The files before this one are loaded.
#[derive(Debug, Error)]
#[error("the load ended at {file}, of which nothing is loaded")]
pub(crate) struct Ended {
    /// The file's name.
    pub file: String,
    source: LoadError,
}

/// Loads the files, then updates sums and links. Prints a line for each file. Shows a progress bar if standard error is a
/// terminal.
pub fn run(args: Args) -> Outcome {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(load_all(args))
}

async fn load_all(args: Args) -> Outcome {
    let mut client = connect(&args.database.address()?).await?;
    check_ready(&client).await?;
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")?;
    // It is drawn on a terminal only.
    let bar = ProgressBar::new(0).with_style(style);
    let loaded = load_files(&mut client, &args, &bar).await;
    bar.finish_and_clear();
    let incomplete = loaded?;
    println!("{}", finish(&mut client).await?);
    if incomplete.bad == 0 && incomplete.failed.is_empty() { Ok(()) } else { Err(incomplete.into()) }
}

/// Loads one file after the other. Returns what was left out. Fails if the database does.
async fn load_files(client: &mut Client, args: &Args, bar: &ProgressBar) -> Result<Incomplete, Ended> {
    let mut incomplete = Incomplete::default();
    for path in &args.files {
        let inputs = match InputFile::from_path(path) {
            Ok(inputs) => inputs,
            Err(error) => {
                incomplete.files += 1;
                incomplete.add_failed(error, bar);
                continue;
            }
        };
        for input in inputs {
            incomplete.files += 1;
            let file = input.name();
            match load_with_progress(client, input, bar).await {
                Ok(report) => {
                    incomplete.bad += report.bad_rows();
                    bar.suspend(|| if args.verbose { println!("{report:#}") } else { println!("{report}") });
                }
                Err(source @ LoadError::Database(_)) => return Err(Ended { file, source }),
                Err(error) => incomplete.add_failed(error, bar),
            }
        }
    }
    Ok(incomplete)
}

impl Incomplete {
    /// Adds a file and prints why it was not loaded.
    fn add_failed(&mut self, error: LoadError, bar: &ProgressBar) {
        bar.suspend(|| println!("{}; nothing of it is loaded", ErrorChain(&error)));
        self.failed.push(error);
    }
}

async fn load_with_progress(client: &mut Client, input: InputFile, bar: &ProgressBar) -> Result<FileReport, LoadError> {
    bar.set_message(input.name());
    bar.set_position(0);
    let mut show = |progress: LoadProgress| {
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    };
    load_file(client, input, &mut show).await
}
