//! All rows of a parent, of a list that is declared to have few.

/// A search by the columns that join rows with their parent. All rows of the parent are read, and sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRows {
    /// The columns of the join.
    pub columns: Vec<String>,
    /// The terms of the search, which are checked for each row.
    pub filters: Vec<usize>,
    /// The most rows that a parent has. With more, none is returned.
    pub at_most: u32,
}
