//! `orderql manual`: the manual pages.

use std::fs;
use std::path::PathBuf;

use clap::Command;

use crate::cli::outcome::Outcome;

/// Write the manual pages of all commands into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes a page for this program, and one for each command.
pub(crate) fn run(args: &Args, program: Command) -> Outcome {
    fs::create_dir_all(&args.folder)?;
    Ok(clap_mangen::generate_to(program, &args.folder)?)
}
