//! Opens the log: standard error, as text on a terminal and as JSON lines elsewhere.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, fmt};

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format of a line.
    pub format: Format,
    /// A level or directives, such as `info` or `warn,orderql=debug`.
    pub filter: String,
}

/// Why the log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The filter is malformed.
    #[error("the log filter cannot be read")]
    Filter(#[from] ParseError),
    /// The process has opened its log before.
    #[error("the log is open already")]
    Open(#[from] TryInitError),
}

/// Whether the text is a filter: a level, or directives separated by commas.
pub(crate) fn is_filter(text: &str) -> bool {
    EnvFilter::try_new(text).is_ok()
}

/// Opens the log for the whole process. Fails if the filter is malformed, or if the log is open already.
pub(crate) fn open(options: &Options) -> Result<(), LogError> {
    let terminal = io::stderr().is_terminal();
    let lines = fmt().with_env_filter(EnvFilter::try_new(&options.filter)?).with_writer(io::stderr);
    match options.format {
        Format::Auto if !terminal => lines.json().flatten_event(true).with_target(false).finish().try_init()?,
        Format::Json => lines.json().flatten_event(true).with_target(false).finish().try_init()?,
        Format::Auto | Format::Text => lines.with_ansi(terminal).with_target(false).finish().try_init()?,
    }
    Ok(())
}
