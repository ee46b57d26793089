//! The relations with limited rows, and the rows that a caller sees of them.

/// A relation whose rows are limited.
#[derive(Debug)]
pub(crate) struct ScopedRelation {
    /// The relation with all rows.
    pub(crate) relation: String,
    /// The name of the rows that callers see.
    pub(crate) name: String,
    /// The conditions of these rows.
    pub(crate) conditions: Vec<ScopeCondition>,
}

/// The value in a column of a row that belongs to no row of another relation: a null, or this text if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Without(pub(crate) Option<String>);

/// A condition of rows that callers see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScopeCondition {
    /// One of the columns has a value of the scope.
    Values { scope: usize, columns: Vec<String>, is_copied: bool },
    /// The row is seen if the caller sees the row of another relation whose key it has. `of` is the index of the other relation among the
    /// limited relations, and `name` is the name of its visible rows. If copied columns cover this condition, the other row need not be
    /// read. A row whose last column `by` is without a value belongs to no other row, if `without` allows that.
    Row { of: usize, name: String, by: Vec<String>, key: Vec<String>, is_covered: bool, without: Option<Without> },
    /// The row belongs to no row of a relation that the caller does not see at all: the column is without a value.
    None { column: String, without: Without },
}

impl ScopeCondition {
    /// Whether the columns of another condition say the same.
    pub(crate) fn is_covered(&self) -> bool {
        matches!(self, Self::Row { is_covered: true, .. })
    }

    /// The columns of the row that it reads.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Values { columns, .. } | Self::Row { by: columns, .. } => columns,
            Self::None { column, .. } => std::slice::from_ref(column),
        }
    }
}
