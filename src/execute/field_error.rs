//! Fields that cannot be written as the schema says: their paths, and why.

use thiserror::Error;

use crate::plan::access_path::SortLimit;
use crate::plan::response_template::ShownType;
use crate::value::{MAX_VALUE_BYTES, ScalarType};

/// The most field errors that one response reports. The rest are counted.
pub const MAX_FIELD_ERRORS: usize = 20;

/// A field that cannot be written. It is null, or the nearest nullable object around it is (GraphQL specification, section
/// 6.4.4, Handling Execution Errors).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Why.
    pub cause: Cause,
    /// Its path in the response, from the root.
    pub path: Vec<PathPart>,
}

/// A part of a field's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// A response key.
    Key(Box<str>),
    /// The index of a list element, from 0.
    Index(usize),
}

/// Why a field cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Cause {
    /// A null in a field whose type is non-null.
    #[error("the schema declares a non-null value here, and the database has none; tell the operator")]
    Missing,
    /// A value that is longer than one may be.
    #[error("the database has a value of {0} bytes here, and one may have {MAX_VALUE_BYTES}")]
    TooLong(u64),
    /// A list with too many rows, which no index has in order.
    #[error(
        "this list has {}, and no index has them in its order; tell the operator to {index} and to leave `{}` out of the schema file",
        too_many(*.limit).0, too_many(*.limit).1
    )]
    ListTooLong {
        /// What makes it null.
        limit: SortLimit,
        /// The statement that makes the index.
        index: Box<str>,
    },
    /// A value that the field's type does not have.
    #[error("{}", unwritable(*.0))]
    Unwritable(ShownType),
}

/// The rows that are too many, and the argument of the schema file that declares the limit.
fn too_many(limit: SortLimit) -> (String, &'static str) {
    match limit {
        SortLimit::Parent(at_most) => (format!("more than {at_most} rows"), "atMost"),
        SortLimit::Ties(ties) => {
            (format!("more than {ties} rows with one value of the column that it is sorted by"), "ties")
        }
    }
}

/// Which value of the database a type does not have.
fn unwritable(ty: ShownType) -> &'static str {
    let (ShownType::Text(scalar) | ShownType::Scalar(scalar)) = ty else {
        return "the database has an array here with more than 1,000 elements, several dimensions, or an element that the list cannot have";
    };
    match scalar {
        ScalarType::Id | ScalarType::String => "the database has a value here that cannot be written as text",
        ScalarType::Int => "the database has a number here that is not a whole number of 32 bits",
        ScalarType::Decimal => "the database has NaN or an infinity here, which a Decimal cannot be",
        ScalarType::DateTime => "the database has infinity or -infinity here, which a DateTime cannot be",
        ScalarType::Enum(_) => "the database has a text here that is no value of the enum",
        ScalarType::Float => "the database has NaN or an infinity here, which a Float cannot be",
        ScalarType::Date => "the database has infinity or -infinity here, which a Date cannot be",
        ScalarType::Interval => "the database has infinity or -infinity here, which an Interval cannot be",
        ScalarType::Json => {
            "the database has a JSON value here that is longer than 1 MiB, nested more than 127 levels deep, or has half of a surrogate pair"
        }
        ScalarType::BigInt | ScalarType::Time | ScalarType::Uuid | ScalarType::Bytes => {
            "the database has a value here that the field's type does not have"
        }
        ScalarType::Boolean => "the database has a text here that is neither Y nor N",
    }
}
