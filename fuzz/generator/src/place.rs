//! Where a selection set is in a document.

/// Where a selection set is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The level of objects that are selected here, from 1.
    pub(crate) level: usize,
    /// Inside introspection: its levels, and its lists around this place.
    pub(crate) meta: Option<(usize, usize)>,
    /// Whether the object is found by a lookup.
    pub(crate) is_below_lookup: bool,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self { level: 1, meta: None, is_below_lookup: false }
    }

    /// Whether it is no deeper than another place.
    pub(crate) fn is_within(self, other: Self) -> bool {
        let (levels, lists) = self.meta.unwrap_or_default();
        let (other_levels, other_lists) = other.meta.unwrap_or_default();
        self.level <= other.level && levels <= other_levels && lists <= other_lists
    }
}
