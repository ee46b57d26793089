//! One statement: a page of a connection for all its parents at once, or the row of a point root.

use crate::cursor::OrderingTag;
use crate::query::bind::StepId;
use crate::value::{ScalarType, Value};

/// One statement of a plan.
#[derive(Debug)]
pub struct Step {
    /// The SQL text. It depends on the shape of what is asked, never on values.
    pub sql: String,
    /// The values of its parameters, `$1` first.
    pub parameters: Vec<Parameter>,
    /// Whose rows are fetched.
    pub parents: Parents,
    /// How many rows of each parent are wanted; the statement fetches one more, to see whether there are any.
    pub size: u32,
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

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// A value that the caller gave, or a null out of a cursor.
    Value(Option<Value>),
    /// The elements of an in-list.
    Values(Vec<Value>),
    /// A number of rows.
    Limit(i64),
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
