//! How statements use a column.

use crate::value::ScalarType;

/// How statements use a column. The column's type must be compatible with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUse {
    /// Statements name the column; its values stay in the database.
    Internal,
    /// Responses contain the column's values as this scalar.
    Output(ScalarType),
    /// Responses contain the column's arrays as lists of this scalar.
    OutputList(ScalarType),
    /// Statements compare the column with a client's value of this scalar.
    Compared(ScalarType),
    /// Statements search the column for words.
    Searched,
    /// Statements compare the column with the values of a scope, which are text.
    ScopeValue,
    /// Statements return the column as a parent's key, and take it as a parameter to find the parent's children.
    ParentKey(ScalarType),
}
