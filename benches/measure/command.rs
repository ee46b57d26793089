//! What the benches' commands have in common: which sample they measure on, where they write, how they end.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Fault;
use super::store;

/// Which sample is measured on, as arguments say it.
#[derive(Debug, Clone, Args)]
pub struct Sample {
    /// Orders in the database
    #[arg(long, value_name = "N", default_value_t = 300_000, global = true)]
    pub orders: u64,

    /// What everything random is made from: orders, what is asked for, turns
    #[arg(long, value_name = "S", default_value_t = 1, global = true)]
    pub seed: u64,

    /// Where the private PostgreSQL keeps its data [default: bench-data in the target folder]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub data: Option<PathBuf>,

    /// Fill the private PostgreSQL anew, such as when the sample orders have changed
    #[arg(long, global = true)]
    pub fresh: bool,
}

impl Sample {
    /// The store that has them.
    pub fn store(&self) -> store::Options {
        store::Options {
            orders: self.orders,
            seed: self.seed,
            folder: self.data.clone().unwrap_or_else(|| target().join("bench-data")),
            is_fresh: self.fresh,
        }
    }
}

/// Where cargo builds.
pub fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("target"))
}

/// The folder for what the benches write, made where it is missing.
pub fn folder() -> Result<PathBuf, Fault> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder).map_err(Fault::system(format!("{} cannot be made", folder.display())))?;
    Ok(folder)
}

/// What asks the database between measurements.
pub fn runtime() -> Result<tokio::runtime::Runtime, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(Fault::system("no runtime"))
}

/// Stores a report as JSON.
pub fn store(report: &impl Serialize, out: &Path) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(report).map_err(|error| Fault::Data(error.to_string()))?;
    fs::write(out, text).map_err(Fault::system(format!("{} cannot be written", out.display())))?;
    eprintln!("stored in {}", out.display());
    Ok(())
}

/// Stores a picture beside a report.
pub fn draw(picture: &str, out: &Path) -> Result<(), Fault> {
    let out = out.with_extension("svg");
    fs::write(&out, picture).map_err(Fault::system(format!("{} cannot be written", out.display())))?;
    eprintln!("drawn in {}", out.display());
    Ok(())
}

/// Ends a bench; a fault is told with its causes.
pub fn end(outcome: Result<(), Fault>) -> ExitCode {
    let Err(fault) = outcome else { return ExitCode::SUCCESS };
    eprint!("{fault}");
    let mut cause = fault.source();
    while let Some(because) = cause {
        eprint!(": {because}");
        cause = because.source();
    }
    eprintln!();
    ExitCode::FAILURE
}
