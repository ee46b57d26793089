//! Why rows are not found by comparing a column with another.

use thiserror::Error;

use crate::relations::column::DescribedColumn;
use crate::relations::type_compatibility::are_comparable;

/// Why a column of a row does not find rows by a column of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{left} with {right}, which do not compare{}", if *.is_scan { " by an index" } else { "" })]
pub struct JoinFault {
    /// The column of the row, with its relation and type.
    pub left: String,
    /// The column by which rows are found, with its relation and type.
    pub right: String,
    /// Whether PostgreSQL compares them, by the type or the collation that one has, and reads no index of the other for it.
    pub is_scan: bool,
}

impl JoinFault {
    /// Why columns of relations, if PostgreSQL does not compare the two, or not by an index of the right one.
    pub(crate) fn of(left: (&str, &DescribedColumn), right: (&str, &DescribedColumn)) -> Option<Self> {
        if are_comparable(left.1, right.1) {
            return None;
        }
        let shown = |(relation, column): (&str, &DescribedColumn)| {
            format!("{relation}.{} of type {}{}", column.name, column.type_name, column.collation)
        };
        Some(Self { left: shown(left), right: shown(right), is_scan: are_comparable(right.1, left.1) })
    }
}
