//! The part of an ordering that a page is taken from, and the parts around it.

use crate::plan::keyset::{KeysetBound, KeysetRange, Nulls};

/// What lies between the cursors of a page.
pub(super) struct PageRange<'r, 'a> {
    /// Whether the response goes up the index. It goes down if the order is reversed.
    pub(super) ascending: bool,
    /// Where the rows with a null are, seen upwards.
    pub(super) nulls: Nulls,
    /// The `after:` cursor.
    pub(super) after: Option<&'r KeysetBound<'a>>,
    /// The `before:` cursor.
    pub(super) before: Option<&'r KeysetBound<'a>>,
}

impl<'r, 'a> PageRange<'r, 'a> {
    /// The rows between the cursors.
    pub(super) fn page(&self) -> KeysetRange<'r, 'a> {
        let (above, below) = if self.ascending { (self.after, self.before) } else { (self.before, self.after) };
        KeysetRange { above, below, inclusive: false, nulls: self.nulls }
    }

    /// The rows at or before the `after:` cursor.
    pub(super) fn before_page(&self) -> KeysetRange<'r, 'a> {
        let (above, below) = if self.ascending { (None, self.after) } else { (self.after, None) };
        KeysetRange { above, below, inclusive: true, nulls: self.nulls }
    }

    /// The rows at or after the `before:` cursor.
    pub(super) fn after_page(&self) -> KeysetRange<'r, 'a> {
        let (above, below) = if self.ascending { (self.before, None) } else { (None, self.before) };
        KeysetRange { above, below, inclusive: true, nulls: self.nulls }
    }
}
