//! What a response says of roots and lists that have not all of the rows that match.

/// A search whose window ended before its page and the row after it were found, before totals had all of their rows, or before a flag
/// of `pageInfo` was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortSearch<'a> {
    /// The response keys from the root to its collection, with dots between them.
    pub key: &'a str,
    /// How many rows of the order it examined: for its page, or else for a flag.
    pub rows_examined: i64,
    /// Whether that was for its page.
    pub is_page_cut: bool,
    /// Whether this flag is true because there are rows that were not examined.
    pub has_next_page: bool,
    /// As `has_next_page`, for rows before the page.
    pub has_previous_page: bool,
}

/// Totals of fewer rows than match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartialTotals<'a> {
    /// The response key.
    pub(crate) key: &'a str,
    /// How many rows were added up.
    pub(crate) rows: u32,
    /// The search key of a time by whose ranges the rows can be added up in parts.
    pub(crate) in_parts_of: Option<&'a str>,
}
