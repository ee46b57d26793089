//! One statement: a page of a connection for all its parents at once, or the row of a point root. It says where the values
//! of its parameters come from, and has none itself.

use crate::cursor::OrderingTag;
use crate::query::bind::StepId;
use crate::value::ScalarType;

/// One statement of a plan.
#[derive(Debug)]
pub struct Step {
    /// The SQL text. It depends on the shape of what is asked, never on values.
    pub sql: String,
    /// Where the values of its parameters come from, `$1` first.
    pub parameters: Vec<Slot>,
    /// Whose rows are fetched.
    pub parents: Parents,
    /// Whether the rows come in the opposite of the answer's order, because the page is taken from the back.
    pub backward: bool,
    /// Where the columns stand in a row of the result.
    pub layout: Layout,
    /// The columns that make a cursor, where cursors are selected.
    pub cursor: Option<CursorColumns>,
}

/// Whose rows a step fetches.
#[derive(Debug, PartialEq, Eq)]
pub enum Parents {
    /// Nobody's, or those of keys that were known from the start: there is one group of rows.
    Known,
    /// Those of every row of an earlier step: a group for each.
    Rows {
        /// The earlier step.
        step: StepId,
        /// The columns of its rows that hold the parents' keys.
        columns: Vec<usize>,
    },
}

/// Where a parameter's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A key that a point root looks for: the root's step, and the key's place among those given.
    Key(StepId, usize),
    /// A term of the step's search string, by its place: its value, or its values where it is an in-list.
    Term(usize),
    /// A column of the step's `after:` cursor.
    After(usize),
    /// A column of the step's `before:` cursor.
    Before(usize),
    /// One more than the rows that are wanted of each parent, to see whether there are any.
    Limit,
    /// One column of the parents' keys, as an array: its place in [`Parents::Rows::columns`].
    ParentKeys(usize),
}

/// Where the columns stand in a row of a step's result. The selected columns stand behind these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The parent's place among the parents, from 1; only where there can be several.
    pub ordinal: Option<usize>,
    /// Whether rows stand at or before the `after:` cursor; only where somebody asks.
    pub before_page: Option<usize>,
    /// Whether rows stand at or behind the `before:` cursor; only where somebody asks.
    pub behind_page: Option<usize>,
    /// Whether there is a row at all: true or null; only where the result has a row for an empty page.
    pub present: Option<usize>,
    /// How many columns stand before the selected ones.
    pub width: usize,
}

/// The columns that make a cursor.
#[derive(Debug)]
pub struct CursorColumns {
    /// The ordering that the cursor is made for.
    pub tag: OrderingTag,
    /// Their places in a row and their types, in the ordering's order.
    pub columns: Vec<(usize, ScalarType)>,
}
