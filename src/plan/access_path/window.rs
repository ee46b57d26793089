//! A window: rows are read in the page's order, and those that match are returned.

use crate::catalog::hidden_rows::{Breadth, TIMES};
use crate::plan::access_path::lookups::Lookup;
use crate::plan::access_path::scan::IndexScan;

/// The page size for which the number of a window's rows is given. A page of twice this size costs twice as much, and may examine twice as
/// many rows.
const WINDOW_PAGE: u32 = 50;

/// The page size up to which a window below a row is the same.
const LEAST_PAGE_BELOW: u32 = 10;

/// A part of the order in which rows are checked. Its numbers of rows are parts of the configured window, which look-ups, the page, the
/// flags and the count divide among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The index whose ranges have the rows.
    pub scan: IndexScan,
    /// The terms that are checked row by row.
    pub filters: Vec<usize>,
    /// The names of their search keys, for clients who ask why a page has few rows.
    pub checked: Vec<String>,
    /// The searches by an index of their own that are tried before. The one that probably matches fewest rows comes first.
    pub lookups: Vec<Lookup>,
    /// The most rows that are examined for a page of 50 rows or fewer.
    pub rows: u32,
    /// The most rows that are examined for each flag of `pageInfo` that needs rows outside of the page.
    pub probe_rows: u32,
    /// Where rows are examined that the caller does not see.
    pub hidden_rows: HiddenRows,
}

/// Where a search examines rows that its caller does not see. The bounds of these parts are averages, and differ between requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HiddenRows {
    /// The caller sees all rows.
    #[default]
    None,
    /// In its look-ups. Of the ranges of the order the caller sees all rows.
    Lookups,
    /// In its look-ups, and in the order of the page.
    All,
}

/// The purpose for which rows are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FoundFor {
    /// A page. A larger one may examine more rows.
    #[default]
    Page,
    /// A page below a row. A smaller one examines fewer rows, too: there is one for each row above.
    PageBelowRow,
    /// Totals, which examine as many rows for any number. Look-ups may find as many rows as are summed up, because each of these is paid.
    Totals,
    /// A count, which examines as many rows for any number.
    Count,
}

impl HiddenRows {
    /// How many times as many rows its look-ups, and its windows, examine.
    pub(super) fn times(self) -> [u32; 2] {
        match self {
            Self::None => [1, 1],
            Self::Lookups => [TIMES, 1],
            Self::All => [TIMES, TIMES],
        }
    }

    /// The most rows that a request examines, if it examines this many on average.
    pub(super) fn most(self, rows: u64) -> u64 {
        if self == Self::None { rows } else { Breadth::most(rows) }
    }

    /// How many rows a window of this size has in one request.
    pub(crate) fn window(self, rows: u32, breadth: Breadth) -> u32 {
        if self == Self::All { breadth.of(rows) } else { rows }
    }
}

impl Window {
    /// The most rows that are examined for a page of this size.
    pub(super) fn rows_of(&self, found_for: FoundFor, page_size: u32) -> u32 {
        let page_size = match found_for {
            FoundFor::Page => page_size.max(WINDOW_PAGE),
            FoundFor::PageBelowRow => page_size.max(LEAST_PAGE_BELOW),
            FoundFor::Totals | FoundFor::Count => WINDOW_PAGE,
        };
        let rows = u64::from(self.rows) * u64::from(page_size) / u64::from(WINDOW_PAGE);
        u32::try_from(rows).unwrap_or(u32::MAX)
    }
}
