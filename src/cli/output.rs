//! Standard output, which its reader may close before all of it is written.

use std::io::{self, Write as _};

use crate::cli::outcome::Outcome;

/// Writes a text. A reader that closed its end needs no more.
pub(crate) fn write(text: &str) -> Outcome {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
