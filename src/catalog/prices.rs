//! The numbers of the cost model, in credits. `cost` adds them up; the schema's description states them.

/// The cost of a column.
pub(crate) const SCALAR: u64 = 1;

/// The cost of an object without its selection; in a connection, of each row of the page.
pub(crate) const OBJECT: u64 = 1;

/// The cost of an aggregate that counts. The lowest value is one that an index begins with, and costs what a column does.
pub(crate) const AGGREGATE: u64 = 5;

/// The price of a search term if no selective index serves its key.
pub(crate) const UNINDEXED_TERM: u64 = 50;

/// How many rows are summed up for a credit. Each costs as much again for each object that is joined to it.
pub(crate) const ROWS_SUMMED: u64 = 10;

/// How many rows are summed up by default.
pub(crate) const DEFAULT_SUMMED_ROWS: u32 = 1_000;

/// The most rows that are summed up, which bounds what a request groups and sorts.
pub(crate) const MAX_SUMMED_ROWS: u32 = 4_000;

/// Which numbers of rows can be summed up, in words.
pub(crate) const SUMMED_RANGE: &str = "a whole number from 1 to 4000";

/// How many rows of a bounded list are read for a credit.
pub(crate) const ROWS_LISTED: u32 = 10;

/// The most rows that a bounded list can have.
pub(crate) const MAX_LIST: u32 = 1_000;

/// How many rows a bounded list can have, in words.
pub(crate) const LIST_RANGE: &str = "a whole number from 1 to 1000";

/// The most rows that `count` counts.
pub(crate) const MAX_COUNT: u32 = 1_000;

/// Which numbers of rows can be counted up to, in words.
pub(crate) const COUNT_RANGE: &str = "a whole number from 1 to 1000";
