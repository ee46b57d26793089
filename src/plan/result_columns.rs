//! The columns of a statement's rows, which all of its steps share.
//!
//! A row is of one step. Its first column is the step's number, and the columns that another step needs are null in it. Columns of one
//! type are shared, so that a row is as wide as the widest step of each type.

use crate::catalog::result_type::ResultType;

/// The columns of a statement's rows, after the step's number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultColumns(Vec<ResultType>);

impl ResultColumns {
    /// The number of the first of them in a row.
    pub(crate) const FIRST: usize = 1;

    /// The first column of a type that a step does not use yet.
    pub(super) fn find(&mut self, ty: ResultType, is_used: impl Fn(usize) -> bool) -> usize {
        let is_free = |(index, found): &(usize, &ResultType)| **found == ty && !is_used(index + Self::FIRST);
        if let Some((index, _)) = self.0.iter().enumerate().find(is_free) {
            return index + Self::FIRST;
        }
        self.0.push(ty);
        self.0.len() - 1 + Self::FIRST
    }

    /// The type of a column.
    pub(super) fn ty(&self, column: usize) -> ResultType {
        self.0[column - Self::FIRST]
    }

    /// The types, in the order of the columns.
    pub fn types(&self) -> &[ResultType] {
        &self.0
    }
}
