//! A step of a plan: a page of a connection for each of its parents, or the row of a lookup. It describes the rows of the statement that
//! belong to it. It has no values, and no text: the text belongs to the statement.

use crate::catalog::scope::ScopeSet;
use crate::cursor::OrderingTag;
use crate::plan::access_path::AccessPath;
use crate::query::bind::step_id::StepId;
use crate::value::ScalarType;

/// A step of a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The response keys from the root to its field, with dots between them, without `edges` and `node`.
    pub name: String,
    /// The relation of its rows.
    pub relation: String,
    /// The step whose rows are its parents. `None` for a field of the query root.
    pub parent: Option<StepId>,
    /// The number after the number of the last step below it. Steps are numbered in the order of the response.
    pub end: StepId,
    /// Whether its rows are written once, and nothing is written before that depends on all of them.
    pub is_written_in_order: bool,
    /// The columns that describe a page.
    pub layout: Layout,
    /// The columns of a cursor, if cursors are selected.
    pub cursor: Option<CursorColumns>,
    /// How the rows are found.
    pub access_path: AccessPath,
    /// What the rows are.
    pub rows: StepRows,
}

/// What the rows of a step are.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum StepRows {
    /// The row of a lookup.
    #[default]
    Lookup,
    /// A page of a connection for each parent.
    Page {
        /// Whether the page is taken from the back.
        backward: bool,
        /// The columns that describe a search whose page may end with its window.
        search: Option<SearchColumns>,
    },
    /// A page of changes.
    Changes(ChangesColumns),
    /// Groups. The cursor belongs to the last row examined.
    Totals {
        /// The columns that describe the totals.
        columns: TotalsColumns,
        /// The search key of a time by whose ranges the rows can be added up in parts.
        in_parts_of: Option<String>,
    },
}

impl Step {
    /// Whether the page is taken from the back.
    pub fn is_backward(&self) -> bool {
        matches!(self.rows, StepRows::Page { backward: true, .. })
    }

    /// Whether the rows are groups.
    pub fn is_totals(&self) -> bool {
        matches!(self.rows, StepRows::Totals { .. })
    }

    /// The columns that describe a search whose page may end with its window.
    pub fn search(&self) -> Option<&SearchColumns> {
        if let StepRows::Page { search, .. } = &self.rows { search.as_ref() } else { None }
    }

    /// The columns of a page of changes.
    pub(crate) fn changes(&self) -> Option<&ChangesColumns> {
        if let StepRows::Changes(columns) = &self.rows { Some(columns) } else { None }
    }
}

/// The indexes of the columns that describe totals. Every row has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TotalsColumns {
    /// How many rows were summed up.
    pub rows: usize,
    /// Whether these are all.
    pub complete: usize,
}

/// The columns that describe a search whose page may end with its window.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchColumns {
    /// The index of the column that says whether the row matches. The window's last row may not.
    pub matches: usize,
    /// The index of the column with the row's number in the window, from 1; null if the row was found by a look-up. The number
    /// after the window's last says that there are more rows.
    pub number: usize,
}

/// The indexes of the columns that describe a page. Every row of the page has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// Whether there are rows at or before the `after:` cursor; only if that is selected.
    pub before_page: Option<usize>,
    /// Whether there are rows at or after the `before:` cursor; only if that is selected.
    pub after_page: Option<usize>,
    /// The number of rows that match, up to a limit; only if that is selected.
    pub count: Option<usize>,
    /// Whether a parent has more rows than a bounded list may have; only of such a list.
    pub is_too_long: Option<usize>,
    /// Whether there is a row at all: true or null; only if there is a row for an empty page.
    pub present: Option<usize>,
    /// Whether the row lies beyond the page; only if the page is taken from the back, where that row comes first.
    pub beyond_page: Option<usize>,
}

/// The indexes of the columns that describe a page of changes. Every row of the page has them, and the only row of an empty page.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangesColumns {
    /// The feed.
    pub tag: OrderingTag,
    /// The scopes that limit the rows of the feed.
    pub limited_by: ScopeSet,
    /// The relation with the feed's marks that name rows in between. The step's own has the others.
    pub indirect: String,
    /// The later snapshot; null if there is none to read up to.
    pub until: usize,
    /// When it was taken.
    pub at: usize,
    /// The epoch that its ids belong to.
    pub epoch: usize,
    /// The timeline of that.
    pub timeline: usize,
    /// Whether the server is a standby.
    pub is_standby: usize,
    /// Whether changes that are visible in the snapshot may still be lost in a crash.
    pub is_unflushed: usize,
    /// Milliseconds since the snapshot was taken.
    pub lag: usize,
    /// Milliseconds since the oldest writer that is not visible in it began, at most; null if there is none.
    pub oldest_writer: usize,
    /// The last mark that was read, if there may be others after it.
    pub last_mark: usize,
    /// The mark of the row itself.
    pub position: usize,
}

/// The columns of a cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct CursorColumns {
    /// The ordering of the cursor.
    pub tag: OrderingTag,
    /// Their indexes in a row and their types: the columns of the sort key, then the columns of the parent.
    pub columns: Vec<(usize, ScalarType)>,
}
