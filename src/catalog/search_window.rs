//! How many rows of a relation a search may examine.

/// The most rows that one searching collection root examines to fill a page of 50 rows or fewer, beside the rows of the page. A larger page
/// examines more rows in proportion to its cost. With it, the work of a search does not grow with the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchWindow(u32);

impl SearchWindow {
    /// The smallest window: one that has rows for each of its shares.
    pub const MIN: u32 = 100;

    /// The largest window.
    pub const MAX: u32 = 1_000_000;

    /// Wide enough for the searches of daily work on some hundred thousand orders, and about a millisecond of the database's
    /// time. `./dev bench cost` measures the worst search.
    pub const DEFAULT: Self = Self(7_500);

    /// A window of this many rows; `None` outside of [`SearchWindow::MIN`] and [`SearchWindow::MAX`].
    pub fn new(rows: u32) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&rows).then_some(Self(rows))
    }

    /// Half of it, for one of two parts of a search.
    #[must_use]
    pub(crate) fn half(self) -> Self {
        Self(self.0 / 2)
    }

    /// At least [`SearchWindow::MIN`], at most [`SearchWindow::MAX`].
    pub fn rows(self) -> u32 {
        self.0
    }
}
