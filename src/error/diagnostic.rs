//! The trait of the error enums of the pure half.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::code::ErrorCode;

/// The facts in an error's `extensions` beside its `code`.
pub type ErrorExtensions = Map<String, Value>;

/// An error that a client receives. Its `Display` is the message.
pub trait Diagnostic: fmt::Display {
    /// The stable code.
    fn code(&self) -> ErrorCode;

    /// The facts that the client needs to fix the query.
    fn extensions(&self) -> ErrorExtensions {
        ErrorExtensions::new()
    }
}
