//! The path to the rows of a page.

use crate::plan::access_path::key_lookup::KeyLookup;
use crate::plan::access_path::lookups::Lookup;
use crate::plan::access_path::parent_rows::ParentRows;
use crate::plan::access_path::prefix::Prefix;
use crate::plan::access_path::scan::IndexScan;
use crate::plan::access_path::window::{FoundFor, Window};

/// How the rows of a page are found. Terms are named by their index in the search string.
///
/// It is chosen once for all requests of a shape, before their values are known, and has none. The planner writes SQL from it. The step
/// keeps it, in the cached template that these requests share: the sizes of windows and the bounds of a request are computed from it, and
/// reports of plans show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPath {
    /// The purpose of the rows. It decides how a window depends on the page size.
    pub found_for: FoundFor,
    /// Which indexes find the rows.
    pub strategy: Strategy,
    /// The number of flags of `pageInfo` that need rows outside of the page: 0 to 2.
    pub probes: u32,
    /// Whether the rows that match are counted, which may examine as many rows as the page.
    pub is_counted: bool,
    /// How the rows are counted, if that differs from how the page is found. Boxed, because few requests count.
    pub counted: Option<Box<CountPath>>,
    /// Whether a look-up merges ranges of which each has one value in the first column of the page's order.
    pub(crate) merges_values_of_order: bool,
    /// The number of parts of the order that are read for the page: cursors divide it. Each part has a scan, so each adds to the bound.
    pub parts: u32,
}

/// Which indexes find the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// An index that has them in the page's order. Every row of its ranges matches.
    Order(IndexScan),
    /// Such an index, of which a number of rows is checked, unless look-ups find few rows.
    Window(Window),
    /// The index of the primary key.
    Key(KeyLookup),
    /// The index of the columns that join rows with their parent.
    Parent(ParentRows),
}

/// What makes a connection null: too many rows would have to be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortLimit {
    /// A parent has more rows.
    Parent(u32),
    /// More rows have one value in the first column of the order.
    Ties(u32),
}

impl Default for Strategy {
    fn default() -> Self {
        Self::Order(IndexScan::default())
    }
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

impl AccessPath {
    /// The scan of the index that has the page's order, if the rows are found in that order.
    pub fn scan(&self) -> Option<&IndexScan> {
        match &self.strategy {
            Strategy::Order(scan) | Strategy::Window(Window { scan, .. }) => Some(scan),
            Strategy::Key(_) | Strategy::Parent(_) => None,
        }
    }

    /// The columns of that index; none if another index finds every row.
    pub fn index(&self) -> &[String] {
        self.scan().map_or(&[], |scan| &scan.columns)
    }

    /// What makes the connection null, if that may happen.
    pub fn sort_limit(&self) -> Option<SortLimit> {
        match &self.strategy {
            Strategy::Parent(parent) => Some(SortLimit::Parent(parent.at_most)),
            _ => self.ties().map(SortLimit::Ties),
        }
    }

    /// The most rows with one value in the first column of the order, if no index has the other columns.
    pub(crate) fn ties(&self) -> Option<u32> {
        self.scan()?.ties
    }

    /// The terms that choose ranges of that index.
    pub fn prefix(&self) -> Option<Prefix> {
        self.scan()?.prefix
    }

    /// The window, if not every row of the order's ranges matches. Then the page may end with it, before it is full.
    pub fn window(&self) -> Option<&Window> {
        if let Strategy::Window(window) = &self.strategy { Some(window) } else { None }
    }

    /// The searches by an index of their own that are tried before the window.
    pub fn lookups(&self) -> &[Lookup] {
        self.window().map_or(&[], |window| &window.lookups)
    }

    /// The terms that are checked row by row.
    pub fn filters(&self) -> &[usize] {
        match &self.strategy {
            Strategy::Order(_) => &[],
            Strategy::Window(Window { filters, .. })
            | Strategy::Key(KeyLookup { filters, .. })
            | Strategy::Parent(ParentRows { filters, .. }) => filters,
        }
    }

    /// Whether rows may be found by an index that does not have the page's order, and are sorted. Merged ranges have that order.
    pub(crate) fn is_looked_up(&self) -> bool {
        self.scan().is_none_or(|scan| scan.ties.is_some()) || self.lookups().iter().any(|lookup| !lookup.is_merged())
    }

    /// The most rows that are examined in order for a page of this size; 0 without a window.
    pub fn window_of(&self, page_size: u32) -> u32 {
        self.window().map_or(0, |window| window.rows_of(self.found_for, page_size))
    }

    /// The most matching rows with which a look-up is used, for a page of this size.
    pub fn lookup_rows(&self, lookup: &Lookup, page_size: u32) -> u32 {
        let is_paid = self.found_for == FoundFor::Totals && !lookup.is_merged();
        if is_paid { lookup.rows.max(page_size) } else { lookup.rows }
    }

    /// The terms whose numbers of values decide how many rows are examined: each value of a list has a range, and each value of the primary
    /// key a row.
    pub(crate) fn multiplying(&self) -> impl Iterator<Item = usize> {
        let of_key = if let Strategy::Key(key) = &self.strategy { Some(key.term) } else { None };
        self.prefix().into_iter().flat_map(|prefix| prefix.lists()).chain(of_key)
    }
}
