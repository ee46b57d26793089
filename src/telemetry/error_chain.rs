//! An error with all its causes on one line, for the log and for the terminal.

use std::error::Error;
use std::fmt;

/// Displays an error and its causes, separated by colons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorChain<'a>(pub(crate) &'a dyn Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
