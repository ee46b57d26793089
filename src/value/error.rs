//! Why a text is no value.

use thiserror::Error;

/// A text that is not a value of a scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected {expected}")]
pub struct ParseValueError {
    /// The values that the type accepts.
    pub expected: &'static str,
}
