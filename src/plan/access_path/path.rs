//! The path to the rows of a page.

/// The page size for which the number of a window's rows is given. A larger page costs so many times more, and may examine so many times
/// more rows.
const WINDOW_PAGE: u32 = 50;

/// The page size up to which a window below a row is the same.
const LEAST_PAGE_BELOW: u32 = 10;

/// How the rows of a page are found. Terms are named by their index in the search string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPath {
    /// What the rows are found for.
    pub found_for: FoundFor,
    /// The columns of the index that returns the rows in the page's order.
    pub index: Vec<String>,
    /// The term whose values choose ranges of that index, by its first column.
    pub prefix: Option<Prefix>,
    /// The terms that bound a range of that index, by the sort key's column.
    pub range: Vec<usize>,
    /// The remaining terms, checked row by row. The members below are empty if there are none.
    pub filters: Vec<usize>,
    /// The names of their search keys.
    pub checked: Vec<String>,
    /// Filters that are tried by their own index first.
    pub lookups: Vec<Lookup>,
    /// Which indexes find every matching row.
    pub found_by: FoundBy,
    /// The most rows that are examined in order for a page of 50 rows or fewer; 0 without filters.
    pub window: u32,
    /// The most rows that are examined in order for each flag of `pageInfo` that needs rows outside of the page.
    pub probe_window: u32,
    /// The number of these flags.
    pub probes: u32,
    /// Whether the rows that match are counted, which takes as many again.
    pub is_counted: bool,
    /// How they are counted, if some are filtered.
    pub counted: Option<Box<CountPath>>,
    /// The number of parts of the order that are read for the page: cursors divide it.
    pub parts: u32,
}

/// Which indexes find every matching row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FoundBy {
    /// One that has them in the page's order, unless look-ups find few.
    #[default]
    Order,
    /// That of the primary key, which the look-up has values of. There is no window then.
    Key,
    /// That of the columns that join rows with their parent. All rows of the parent are read, and sorted. There is no window.
    Parent {
        /// The most rows that a parent has. With more, none is returned.
        at_most: u32,
    },
}

/// What rows are found for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FoundFor {
    /// A page. A larger one may examine more rows.
    #[default]
    Page,
    /// A page below a row. A smaller one examines fewer rows, too: there is one for each row above.
    PageBelowRow,
    /// Totals, which examine as many rows for any number. Look-ups may find as many as are summed up, each of which is paid.
    Totals,
    /// A count, which examines as many rows for any number.
    Count,
}

/// The path to rows that are counted, in an order of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountPath {
    /// That order, by its index among the connection's.
    pub(crate) sort_key: usize,
    /// The number of ranges that are merged.
    pub(crate) ranges: u32,
    /// How they are found, with a window of its own.
    pub path: AccessPath,
}

/// The terms whose values choose ranges of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The term on the index's first column.
    pub term: usize,
    /// The term on its second column, of an index on two keys. Its first column is descending.
    pub second: Option<usize>,
    /// The one of these that has several values, whose ranges are read one after the other or merged.
    pub list: Option<usize>,
    /// The second, if both have a few values: each pair of them chooses a range.
    pub other_list: Option<usize>,
    /// Whether the index's first column is the sort key's.
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

/// A search by the index of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The terms that bound the range of the index: on its first column, and as long as these equal values, on the next. None if a join
    /// does.
    pub terms: Vec<usize>,
    /// The first columns of the index, as many as the terms bound. Several terms can bound the last one.
    pub columns: Vec<String>,
    /// The most matching rows with which it is used, at least; 0 of one by the primary key.
    pub rows: u32,
    /// Whether the index is one on two keys, whose first column is descending.
    pub is_of_pair: bool,
    /// Whether the index is one on the words of a text, which has no order. It is used if a word is rare.
    pub is_text: bool,
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

    /// The most rows that are examined in order for a page of so many rows; 0 without filters.
    pub fn window_of(&self, page_size: u32) -> u32 {
        let page_size = match self.found_for {
            FoundFor::Page => page_size.max(WINDOW_PAGE),
            FoundFor::PageBelowRow => page_size.max(LEAST_PAGE_BELOW),
            FoundFor::Totals | FoundFor::Count => WINDOW_PAGE,
        };
        let rows = u64::from(self.window) * u64::from(page_size) / u64::from(WINDOW_PAGE);
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// The terms whose numbers of values say how many rows are examined: each value of a list has a range, and each of the primary key a row.
    pub(crate) fn multiplying(&self) -> impl Iterator<Item = usize> {
        let of_key =
            self.lookups.iter().filter(|_| self.found_by == FoundBy::Key).flat_map(|lookup| &lookup.terms).copied();
        self.prefix.into_iter().flat_map(|prefix| prefix.lists()).chain(of_key)
    }

    /// The most matching rows with which a look-up is used, for a page of so many rows.
    pub fn lookup_rows(&self, lookup: &Lookup, page_size: u32) -> u32 {
        if self.found_for == FoundFor::Totals { lookup.rows.max(page_size) } else { lookup.rows }
    }

    /// Whether the page may end with the window, before it is full.
    pub fn has_window(&self) -> bool {
        self.window > 0
    }
}
