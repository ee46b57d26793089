//! Who is timed.

use std::io;

/// One who reads documents.
pub trait Contestant {
    /// Its name, and what it does.
    fn name(&self) -> &'static str;

    /// Reads a document as its users do, and says whether that is the work it does for valid ones.
    fn read(&self, document: &str) -> bool;
}

/// Why somebody cannot be timed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The schema is not one to them.
    #[error("the schema cannot be read: {0}")]
    Schema(String),
    /// A program is not installed, or does not run.
    #[error("{program} does not run")]
    Start {
        /// The program.
        program: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {said}")]
    Failed {
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
    /// A program answered with something else than times.
    #[error("times cannot be read")]
    Times(#[from] serde_json::Error),
}
