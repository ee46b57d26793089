//! How many pages a client reads for a page of rows.

use crate::plan::access_path::path::AccessPath;
use crate::plan::access_path::window::Window;

/// The pages that a client reads for a page of rows. A declaration does not tell which share of the rows matches. So this is the fewest
/// pages, and the share of matching rows for which it is enough. If fewer rows match, the pages are more in proportion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedPages<'p> {
    /// The fewest. One, unless a window has fewer rows than a page.
    pub fewest: u32,
    /// The number of rows of a window that need one match among them for the fewest pages; `None` if there is no window, and every page is
    /// full.
    pub one_row_of: Option<u32>,
    /// The search keys that no index serves in this order, so that each row of the window is checked.
    pub checked: &'p [String],
}

impl AccessPath {
    /// The pages that are read for a page of this many rows.
    pub fn expected_pages(&self, size: u32) -> ExpectedPages<'_> {
        let Some(Window { checked, .. }) = self.window() else {
            return ExpectedPages { fewest: 1, one_row_of: None, checked: &[] };
        };
        let (rows, size) = (self.window_of(size), size.max(1));
        ExpectedPages { fewest: size.div_ceil(rows), one_row_of: Some((rows / size).max(1)), checked }
    }
}
