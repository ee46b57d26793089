//! One statement: a page of a connection for all its parents at once, or the row of a lookup. It has no values; it says
//! where the values of its parameters come from.

use std::ops::Range;

use crate::cursor::OrderingTag;
use crate::plan::access_path::AccessPath;
use crate::query::bind::ids::StepId;
use crate::value::ScalarType;

/// One statement of a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The SQL text. It does not depend on values.
    pub sql: String,
    /// Where the values of its parameters come from, `$1` first.
    pub parameters: Vec<Slot>,
    /// Whose rows are fetched.
    pub parents: Parents,
    /// Whether the rows come in the reverse of the response's order, because the page is taken from the back.
    pub backward: bool,
    /// The indexes of the columns in a row of the result.
    pub layout: Layout,
    /// The columns of a cursor, if cursors are selected.
    pub cursor: Option<CursorColumns>,
    /// How the rows are found.
    pub access_path: AccessPath,
    /// The columns of the result that describe a search whose page may end with its window.
    pub search: Option<SearchColumns>,
    /// The part of the text that names the parents' keys, if they are those of [`Parents::Rows`].
    pub(crate) parents_text: Option<ParentsText>,
    /// The same page with nothing but the keys of its rows, for statements that read their parents' keys themselves. There is
    /// one if there are children, and the rows are found in order.
    pub(crate) keys: Option<KeysStatement>,
}

/// The part of a statement's text that names the parents' keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentsText {
    pub(crate) range: Range<usize>,
    /// The types of the keys.
    pub(crate) types: Vec<&'static str>,
}

/// A statement with nothing but the keys of a page's rows. It has the same parameters as the step's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeysStatement {
    pub(crate) sql: String,
    pub(crate) parents_text: Option<ParentsText>,
}

impl Step {
    /// The step whose rows are its parents.
    pub(crate) fn parent(&self) -> Option<StepId> {
        match self.parents {
            Parents::Known => None,
            Parents::Rows { step, .. } => Some(step),
        }
    }
}

/// The columns of the result that describe a search whose page may end with its window.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchColumns {
    /// The response key of the collection root.
    pub key: String,
    /// The index of the column that says whether the row matches. The window's last row may not.
    pub matches: usize,
    /// The index of the column with the row's number in the window, from 1; null if the row was found by a look-up. The number
    /// after the window's last says that there are more rows.
    pub number: usize,
    /// The number of the window's last row.
    pub window: i64,
}

/// Whose rows a step fetches.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Parents {
    /// Those of no parent, or of a parent whose key the request has. There is one group of rows.
    #[default]
    Known,
    /// Those of every row of an earlier step. There is a group for each.
    Rows {
        /// The earlier step.
        step: StepId,
        /// The indexes of the columns of its rows that have the parents' keys.
        columns: Vec<usize>,
    },
}

/// Where a parameter's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A key of a lookup: the lookup's step, and the index of the key among those given.
    Key(StepId, usize),
    /// The same as an array of one value.
    KeyArray(StepId, usize),
    /// The value of a term of the step's search string, by the term's index.
    Term(usize),
    /// The values of such a term, as an array.
    TermValues(usize),
    /// A column of the step's `after:` cursor.
    After(usize),
    /// A column of the step's `before:` cursor.
    Before(usize),
    /// One more than the page size, to see whether there are more rows.
    Limit,
    /// The page size.
    PageSize,
    /// How many rows are counted at most.
    CountLimit,
    /// How many rows are read first of the range of each value of such a term, if the ranges are merged.
    RangeHead(usize),
    /// One column of the parents' keys, as an array: its index in [`Parents::Rows::columns`].
    ParentKeys(usize),
}

/// The indexes of columns in a row of a step's result. The selected columns follow these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The parent's ordinal, from 1; only if there can be several parents.
    pub ordinal: Option<usize>,
    /// Whether there are rows at or before the `after:` cursor; only if that is selected.
    pub before_page: Option<usize>,
    /// Whether there are rows at or after the `before:` cursor; only if that is selected.
    pub after_page: Option<usize>,
    /// The number of rows that match, up to a limit; only if that is selected.
    pub count: Option<usize>,
    /// Whether there is a row at all: true or null; only if the result has a row for an empty page.
    pub present: Option<usize>,
    /// Whether the row matches, followed by its number in the window; only if the page may end with a window.
    pub search: Option<usize>,
    /// The number of columns before the selected ones.
    pub width: usize,
}

/// The columns of a cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct CursorColumns {
    /// The ordering of the cursor.
    pub tag: OrderingTag,
    /// Their indexes in a row and their types: those of the sort key, then those of the parent.
    pub columns: Vec<(usize, ScalarType)>,
}
