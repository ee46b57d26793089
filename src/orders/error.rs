//! The errors of an order update, except for the [violations](crate::orders::violation) of its rules.

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::error::code::ErrorCode;
use crate::orders::param_name::{ROW_SUBMIT, fields};
use crate::orders::rejection::Rejection;
use crate::orders::update_row::UpdateRowKind;

/// The maximum number of parameters of a request.
pub(super) const MAX_PARAMETERS: usize = 5000;
/// The maximum number of bytes of all names and values of a request, which an applied update stores. 500 rows take half.
pub(super) const MAX_FORM_BYTES: usize = 128 * 1024;
/// The maximum number of bytes of a parameter's name, and of a value that is an id. No column of an id is longer.
pub(super) const MAX_ID_BYTES: usize = 255;
/// The maximum number of rows of a request, and of the order items that it rejects with the items of its rows if it does so by product.
pub(super) const MAX_ROWS: usize = 500;
/// The maximum number of characters of a comment, as in the columns that hold it.
pub(super) const MAX_COMMENT: usize = 255;
/// The maximum number of days for which a facility is excluded: ten years.
pub(super) const MAX_EXCLUSION_DAYS: u32 = 3650;

/// Why a body is not a form.
#[derive(Debug, Error)]
pub(crate) enum FormError {
    /// The media type is another one, or is missing.
    #[error("send the form as application/x-www-form-urlencoded or multipart/form-data")]
    NotAForm,
    /// A form in another charset.
    #[error("the body must be in UTF-8; no other charset is read")]
    NotUtf8,
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
    /// The rows of the kind have no such field.
    #[error("there is no parameter {name}; the {kind} rows have {}", known_names(*kind))]
    Unknown {
        /// The parameter.
        name: String,
        kind: UpdateRowKind,
    },
    /// The index in the name is not a number.
    #[error("the parameter {0} has an index that is no whole number up to {max}", max = u32::MAX)]
    BadIndex(String),
    /// The value of a row-submit is not a number.
    #[error("the parameter {0} is no whole number up to {max}", max = u32::MAX)]
    NotANumber(String),
    /// The value of a flag is another text.
    #[error("the parameter {0} is neither Y nor N (nor true or false)")]
    NotAFlag(String),
    /// The value is no number of days, or too large.
    #[error("the parameter {0} is no whole number of days up to {MAX_EXCLUSION_DAYS}")]
    NotDays(String),
    /// The comment is longer than its columns.
    #[error("the parameter {0} has more than {MAX_COMMENT} characters")]
    LongComment(String),
    /// The components of a kit.
    #[error(
        "the parameter {0} is not supported: an order item is rejected as a whole, and not the components of a kit one by one"
    )]
    KitComponents(String),
    /// The value is longer than any id.
    #[error("the parameter {0} has more than {MAX_ID_BYTES} bytes")]
    TooLong(String),
    /// The parameter has several different values.
    #[error("the parameter {0} was sent with different values")]
    Contradictory(String),
    #[error("the form has more than {MAX_ROWS} rows")]
    TooManyRows,
}

/// The names of a row's parameters.
fn known_names(kind: UpdateRowKind) -> String {
    let name = |(field, _): &(&str, bool)| match *field {
        ROW_SUBMIT => format!("<n>_{kind}_{field}"),
        field => format!("{kind}_{field}_<n>"),
    };
    fields(kind).iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Why an update has no outcome. Nothing of it was applied.
#[derive(Debug, Error)]
pub(crate) enum UpdateError {
    /// The database is unreachable or busy, or other updates hold the locks. A retry may succeed.
    #[error(transparent)]
    Unavailable(DatabaseError),
    /// A table of orders is not as the update needs it any more.
    #[error(transparent)]
    SchemaChanged(DatabaseError),
    /// Any other database error.
    #[error(transparent)]
    Internal(DatabaseError),
}

impl From<FormError> for Rejection {
    fn from(error: FormError) -> Self {
        let code = match error {
            FormError::NotAForm | FormError::NotUtf8 => ErrorCode::UnsupportedMediaType,
            FormError::NoBoundary
            | FormError::Malformed(_)
            | FormError::NotText(_)
            | FormError::Nameless
            | FormError::TooMany
            | FormError::TooLarge
            | FormError::NameTooLong => ErrorCode::BadUserInput,
        };
        Self::new(code, &[error])
    }
}

impl From<Vec<ParameterError>> for Rejection {
    fn from(errors: Vec<ParameterError>) -> Self {
        Self::new(ErrorCode::BadUserInput, &errors)
    }
}
