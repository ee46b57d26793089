//! The errors of an order update, except for the [violations](crate::orders::violation) of its rules.

use std::fmt;

use thiserror::Error;

use crate::database::error::DatabaseError;

/// The maximum number of parameters of a request.
pub(super) const MAX_PARAMETERS: usize = 5000;
/// The maximum number of bytes of all names and values of a request, which an applied update stores. 500 rows take half.
pub(super) const MAX_FORM_BYTES: usize = 128 * 1024;
/// The maximum number of bytes of a parameter's name, and of a value that is an id. No column of an id is longer.
pub(super) const MAX_ID_BYTES: usize = 255;
/// The maximum number of rows of a request.
pub(super) const MAX_ROWS: usize = 500;

/// The maximum number of messages in a response.
const MAX_MESSAGES: usize = 50;

/// The messages of errors. So that a response stays small, the number of those that are left out stands for them.
pub(crate) fn messages<E: fmt::Display>(errors: &[E]) -> Vec<String> {
    let left_out = errors.len().saturating_sub(MAX_MESSAGES);
    let mut messages: Vec<String> = errors.iter().take(MAX_MESSAGES).map(ToString::to_string).collect();
    if left_out > 0 {
        messages.push(format!("and {left_out} more errors"));
    }
    messages
}

/// Why a body is not a form.
#[derive(Debug, Error)]
pub(crate) enum FormError {
    /// Another media type, or none.
    #[error("send the form as application/x-www-form-urlencoded or multipart/form-data")]
    NotAForm,
    /// Multipart without a boundary, which the parts cannot be found without.
    #[error(
        "the Content-Type has no boundary: send multipart/form-data; boundary=..., or leave the header to the HTTP client, \
         which adds it"
    )]
    NoBoundary,
    /// Malformed multipart.
    #[error("the multipart form cannot be read: {0}")]
    Malformed(#[from] multer::Error),
    /// A parameter that is not UTF-8, or that contains a NUL.
    #[error("the parameter {0:?} is not UTF-8 text without NUL characters")]
    NotText(String),
    /// A part of a multipart form without a name.
    #[error("a part of the multipart form has no name")]
    Nameless,
    /// Too many parameters.
    #[error("the form has more than {MAX_PARAMETERS} parameters")]
    TooMany,
    /// Names and values that are too long together.
    #[error("the names and values of the form have more than {MAX_FORM_BYTES} bytes")]
    TooLarge,
    /// A parameter's name is too long.
    #[error("the form has a parameter whose name has more than {MAX_ID_BYTES} bytes")]
    NameTooLong,
}

/// A missing or invalid parameter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ParameterError {
    /// A required parameter is missing or empty.
    #[error("the parameter {0} is missing")]
    Missing(String),
    /// An item's sequence id is empty. Only leaving it out means all items.
    #[error("the parameter {0} is empty; leave it out to mean every item of the shipment")]
    EmptyItem(String),
    /// No row with a shipment's box type.
    #[error("at least one row with box_shipmentId_<n>, box_shipmentBoxTypeId_<n> and <n>_box_rowSubmit is required")]
    NoBoxRow,
    /// The index in the name is not a number.
    #[error("the parameter {0} has an index that is no whole number up to {max}", max = u32::MAX)]
    BadIndex(String),
    /// The value of a row-submit is not a number.
    #[error("the parameter {0} is no whole number up to {max}", max = u32::MAX)]
    NotANumber(String),
    /// The value is longer than any id.
    #[error("the parameter {0} has more than {MAX_ID_BYTES} bytes")]
    TooLong(String),
    /// The parameter has several different values.
    #[error("the parameter {0} was sent with different values")]
    Contradictory(String),
    /// Too many rows.
    #[error("the form has more than {MAX_ROWS} rows")]
    TooManyRows,
}

/// Why an update has no outcome. Nothing of it was applied.
#[derive(Debug, Error)]
pub(crate) enum UpdateError {
    /// Rows of a table that this program does not know reference rows that the update deletes.
    #[error("rows of {0} refer to what would be deleted")]
    Referenced(String),
    /// A value is longer than its column in this database, such as a user's id.
    #[error("a value is too long for the database: {0}")]
    TooLong(String),
    /// The database is unreachable or busy, or other updates hold the locks. A retry may succeed.
    #[error(transparent)]
    Unavailable(DatabaseError),
    /// Any other database error.
    #[error(transparent)]
    Internal(DatabaseError),
}
