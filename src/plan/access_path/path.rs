//! The path to the rows of a page.

use crate::catalog::hidden_rows::{Breadth, TIMES};

/// The page size for which the number of a window's rows is given. A page of twice this size costs twice as much, and may examine twice as
/// many rows.
const WINDOW_PAGE: u32 = 50;

/// The page size up to which a window below a row is the same.
const LEAST_PAGE_BELOW: u32 = 10;

/// How the rows of a page are found. Terms are named by their index in the search string.
///
/// It is chosen once for all requests of a shape, before their values are known, and has none. The planner writes SQL from it. The step
/// keeps it, in the cached template that these requests share: the sizes of windows and the bounds of a request are computed from it, and
/// reports of plans show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPath {
    /// The purpose of the rows. It decides how the window depends on the page size.
    pub found_for: FoundFor,
    /// The columns of the index that returns the rows in the page's order. Empty if another index finds every row.
    pub index: Vec<String>,
    /// The terms whose values choose ranges of this index, by its first columns.
    pub prefix: Option<Prefix>,
    /// The terms that bound a range of this index, by the sort key's column. All rows of the range match them.
    pub range: Vec<usize>,
    /// The remaining terms, checked row by row. If there are none, there is no window: every row of the index's range matches.
    pub filters: Vec<usize>,
    /// The names of the filters' search keys, for clients who ask why a page has few rows.
    pub checked: Vec<String>,
    /// The searches by an index of their own that are tried before the window. The one that probably matches fewest rows comes first.
    pub lookups: Vec<Lookup>,
    /// Which indexes find every matching row.
    pub found_by: FoundBy,
    /// The most rows that are examined in order for a page of 50 rows or fewer; 0 without filters. A part of the configured window, which
    /// look-ups, the page, the flags and the count divide among them.
    pub window: u32,
    /// The most rows that are examined in order for each flag of `pageInfo` that needs rows outside of the page.
    pub probe_window: u32,
    /// The number of these flags: 0 to 2.
    pub probes: u32,
    /// Whether the rows that match are counted, which may examine as many rows as the page.
    pub is_counted: bool,
    /// How the rows are counted, if that differs from how the page is found. Boxed, because few requests count.
    pub counted: Option<Box<CountPath>>,
    /// Where rows are examined that the caller does not see.
    pub hidden_rows: HiddenRows,
    /// The number of parts of the order that are read for the page: cursors divide it. Each part has a scan, so each adds to the bound.
    pub parts: u32,
}

/// Which indexes find every matching row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FoundBy {
    /// An index that has them in the page's order, unless look-ups find few.
    #[default]
    Order,
    /// The index of the primary key. The look-up has the key's values. There is no window then.
    Key,
    /// The index of the columns that join rows with their parent. All rows of the parent are read, and sorted. There is no window.
    Parent {
        /// The most rows that a parent has. With more, none is returned.
        at_most: u32,
    },
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

/// The path to rows that are counted. Their order does not matter, so it may be another one than the page's, in which fewer rows are
/// examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountPath {
    /// The order, by its index among the connection's sort keys.
    pub(crate) sort_key: usize,
    /// The number of ranges that are merged. Each has a window of its own, so the bound is that many times larger.
    pub(crate) ranges: u32,
    /// How the rows are found, with its own part of the configured window.
    pub path: AccessPath,
}

/// The terms whose values choose ranges of an index. Terms are named by their index in the search string, as in the path that has the
/// prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The term on the index's first column.
    pub term: usize,
    /// The term on the index's second column, if it is an index on two keys. The first column of such an index is descending, so that an
    /// order of both columns fits no other index.
    pub second: Option<usize>,
    /// The first of these terms that has several values. Its ranges are read one after the other, or merged. The path does not say how
    /// many there are: a request's bound has their number.
    pub list: Option<usize>,
    /// The second term, if both have a few values: each pair of values chooses a range.
    pub other_list: Option<usize>,
    /// Whether the index's first column is the sort key's. Then the ranges of a list follow each other in the page's order, and are not
    /// merged.
    pub is_sort_column: bool,
}

impl Prefix {
    /// Whether a term has several values.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The terms, in the order of the index's columns.
    pub(crate) fn terms(&self) -> impl Iterator<Item = usize> + Clone {
        std::iter::once(self.term).chain(self.second)
    }

    /// The terms with several values.
    pub(crate) fn lists(&self) -> impl Iterator<Item = usize> + use<> {
        self.list.into_iter().chain(self.other_list)
    }

    /// Whether the ranges of a list are merged into the page's order. They are not if that is the order of the list.
    pub(crate) fn is_merged(&self) -> bool {
        self.is_list() && !self.is_sort_column
    }
}

/// A search by the index of one key, or of two. It is used if it finds few rows, which are then sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The terms that bound the range of the index, by its first column, and by the next columns if the terms before equal values. Empty if
    /// the columns of a join bound it.
    pub terms: Vec<usize>,
    /// The first columns of the index, as many as are bound. Several terms can bound the last one.
    pub columns: Vec<String>,
    /// The most matching rows with which it is used, a part of the configured window; 0 of a look-up by the primary key, which is always
    /// used. [`AccessPath::lookup_rows`] has the number for a request.
    pub rows: u32,
    /// Whether the index is one on two keys. The first column of such an index is descending.
    pub is_of_pair: bool,
    /// Whether the index is one on the words of a text. Such an index has no order, and is used if a word is rare.
    pub is_text: bool,
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

impl AccessPath {
    /// Whether every row of the index range matches.
    pub(crate) fn is_in_order(&self) -> bool {
        self.filters.is_empty() && !self.is_exhaustive()
    }

    /// Whether a look-up finds every matching row.
    pub fn is_exhaustive(&self) -> bool {
        self.found_by != FoundBy::Order
    }

    /// The most rows that are examined in order for a page of this size; 0 without filters.
    pub fn window_of(&self, page_size: u32) -> u32 {
        let page_size = match self.found_for {
            FoundFor::Page => page_size.max(WINDOW_PAGE),
            FoundFor::PageBelowRow => page_size.max(LEAST_PAGE_BELOW),
            FoundFor::Totals | FoundFor::Count => WINDOW_PAGE,
        };
        let rows = u64::from(self.window) * u64::from(page_size) / u64::from(WINDOW_PAGE);
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// The terms whose numbers of values decide how many rows are examined: each value of a list has a range, and each value of the primary
    /// key a row.
    pub(crate) fn multiplying(&self) -> impl Iterator<Item = usize> {
        let of_key =
            self.lookups.iter().filter(|_| self.found_by == FoundBy::Key).flat_map(|lookup| &lookup.terms).copied();
        self.prefix.into_iter().flat_map(|prefix| prefix.lists()).chain(of_key)
    }

    /// The most matching rows with which a look-up is used, for a page of this size.
    pub fn lookup_rows(&self, lookup: &Lookup, page_size: u32) -> u32 {
        if self.found_for == FoundFor::Totals { lookup.rows.max(page_size) } else { lookup.rows }
    }

    /// Whether the page may end with the window, before it is full.
    pub fn has_window(&self) -> bool {
        self.window > 0
    }
}
