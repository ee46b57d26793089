//! Values that cannot be answered as the schema promises: where they stand, and what is wrong with them.

use thiserror::Error;

use crate::value::ScalarType;

/// The most faults of one answer that are told; the rest are counted.
pub const MOST_FAULTS: usize = 20;

/// A field that could not be answered. It is null, or the nearest object around it that may be null is (GraphQL
/// specification, section 6.4.4, Handling Execution Errors).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// What is wrong.
    pub cause: Cause,
    /// Where it stands in the answer, from the root on.
    pub path: Vec<PathPart>,
}

/// A part of the way to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// A response key.
    Key(Box<str>),
    /// A place in a list, from 0.
    Index(usize),
}

/// Why a field cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Cause {
    /// A null where the schema promises a value.
    #[error("the schema promises a value here, and the database has none; tell the operator")]
    Missing,
    /// A value beyond its type, such as a number of more than 32 bits.
    #[error("the database has a value here that the type {0} cannot hold; tell the operator")]
    Unwritable(ScalarType),
}
