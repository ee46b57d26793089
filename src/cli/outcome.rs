//! The result of a command.

use std::error::Error;

/// The result of a command or of a part of one. The program prints an error with its causes and exits with 1.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;
