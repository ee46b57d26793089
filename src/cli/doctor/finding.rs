//! The findings of checks.

use std::error::Error;

use crate::telemetry::error_chain::ErrorChain;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The part that was checked.
    pub(super) area: &'static str,
    pub(super) level: Level,
    pub(super) text: String,
    /// Advice for the operator.
    pub(super) remedy: Option<String>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// All is well.
    Ok,
    /// The server works, with a disadvantage.
    Warning,
    /// The server does not work.
    Failure,
}

impl Level {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "FAILED",
        }
    }
}

impl Finding {
    pub(super) fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, level: Level::Ok, text: text.into(), remedy: None }
    }

    pub(super) fn warning(area: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { area, level: Level::Warning, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn failure(area: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { area, level: Level::Failure, text: text.into(), remedy: Some(remedy.into()) }
    }

    /// An error that says by itself what to do.
    pub(super) fn error(area: &'static str, error: &(dyn Error + 'static)) -> Self {
        Self { area, level: Level::Failure, text: ErrorChain(error).to_string(), remedy: None }
    }
}
