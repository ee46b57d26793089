//! The committed figures: a file of the workloads' instructions, under the release profile.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{BenchError, Result};
use crate::output;
use crate::workload::Workload;

/// How much a figure may differ, as a part of the expected one. The rows of *detail*'s statements arrive in more or fewer parts from one
/// run to the next, and each part wakes the server.
pub const fn own_tolerance(workload: Workload) -> f64 {
    match workload {
        Workload::Detail => 0.06,
        Workload::Page | Workload::Nested | Workload::Point => 0.03,
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/server/instructions/expected.toml");

const HEADING: &str =
    "# Instructions a request under the release profile; `./dev bench instructions --update` writes them.\n";

/// The figures of the file, by the names of workloads.
#[derive(Debug)]
pub struct Expected(BTreeMap<String, u64>);

impl Expected {
    /// Reads the file.
    pub fn read() -> Result<Self> {
        let text = fs::read_to_string(FILE).map_err(BenchError::io(format!("read {FILE}")))?;
        toml::from_str(&text).map(Self).map_err(|error| BenchError::Data(format!("{FILE} is not valid: {error}")))
    }

    /// Writes the file.
    pub fn write(&self) -> Result<()> {
        let lines = self.0.iter().map(|(workload, figure)| format!("{workload} = {figure}\n"));
        output::write(Path::new(FILE), &(HEADING.to_owned() + &lines.collect::<String>()))
    }

    /// The figure of a workload, if it has one.
    pub fn of(&self, workload: Workload) -> Option<u64> {
        self.0.get(workload.name()).copied()
    }

    /// Replaces a figure.
    pub fn set(&mut self, workload: Workload, figure: u64) {
        self.0.insert(workload.name().to_owned(), figure);
    }
}
