//! The committed figures: a file of the workloads' instructions, under each of two profiles.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, Result};
use crate::output;
use crate::workload::Workload;

/// How much a figure may differ, as a part of the expected one.
pub const TOLERANCE: f64 = 0.03;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/server/instructions/expected.toml");

const HEADING: &str = "# Instructions a request under each profile; `./dev bench instructions --update` writes them.\n";

/// Cargo's profile of the server whose instructions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The one that is released
    Release,
    /// The one that the tests run, which is built much sooner
    Test,
}

/// The figures of the file, by profiles and the names of workloads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expected(BTreeMap<Profile, BTreeMap<String, u64>>);

impl Expected {
    /// Reads the file.
    pub fn read() -> Result<Self> {
        let text = fs::read_to_string(FILE).map_err(BenchError::io(format!("read {FILE}")))?;
        toml::from_str(&text).map_err(|error| BenchError::Data(format!("{FILE} is not valid: {error}")))
    }

    /// Writes the file.
    pub fn write(&self) -> Result<()> {
        let tables = toml::to_string(self).map_err(|error| BenchError::Data(error.to_string()))?;
        output::write(Path::new(FILE), &(HEADING.to_owned() + &tables))
    }

    /// The figure of a workload, if it has one.
    pub fn of(&self, profile: Profile, workload: Workload) -> Option<u64> {
        self.0.get(&profile)?.get(workload.name()).copied()
    }

    /// Replaces a figure.
    pub fn set(&mut self, profile: Profile, workload: Workload, figure: u64) {
        self.0.entry(profile).or_default().insert(workload.name().to_owned(), figure);
    }
}
