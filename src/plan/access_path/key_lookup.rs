//! A look-up of rows by values of their primary key.

use crate::plan::access_path::search::Search;

/// A search by the index of the primary key. All rows that it finds are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLookup {
    /// The term with the values.
    pub term: usize,
    /// The column of the primary key.
    pub column: String,
    /// The other terms, which are checked for each row.
    pub filters: Vec<usize>,
}

impl Search<'_> {
    /// A look-up of the values of the primary key, if the search has some and the page is in another order.
    pub(super) fn by_primary_key(&self) -> Option<KeyLookup> {
        let identifies = |term: &usize| self.is_equality(*term) && self.identifies(*term) && !self.is_on_order(*term);
        let term = (0..self.terms.len()).find(identifies)?;
        let filters = (0..self.terms.len()).filter(|other| *other != term).collect();
        Some(KeyLookup { term, column: self.key(term).column.name.clone(), filters })
    }
}
