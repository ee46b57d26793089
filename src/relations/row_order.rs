//! An order of a relation's rows.

/// An order of a relation's rows, which an index may have.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowOrder<'a> {
    /// The relation's name in a schema file.
    pub(crate) relation: &'a str,
    /// The columns that are compared for equality and are therefore never null. The index begins with them, in any order.
    pub(crate) equal: Vec<&'a str>,
    /// The columns that follow in the index, in this order.
    pub(crate) order: Vec<&'a str>,
    /// The column that is null in the rows. The index has no others.
    pub(crate) where_null: Option<&'a str>,
    /// Whether the index's first column is descending.
    pub(crate) is_first_descending: bool,
}

impl<'a> RowOrder<'a> {
    /// All columns of the index.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'a str> {
        self.equal.iter().chain(&self.order).copied()
    }
}
