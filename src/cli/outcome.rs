//! The result of a command.

use std::error::Error;

/// The result of a command. The program prints an error with its causes and exits with 1.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;
