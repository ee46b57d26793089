//! The program's commands, a file each.

use std::error::Error;

/// What a command comes to: nothing, or an error that is printed with its causes before the program exits with 1.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

pub mod migrate;
