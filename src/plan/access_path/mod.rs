//! How the rows of a page are found: decided from the search terms and the order alone, and never left to PostgreSQL's
//! estimates. Every path has a bound of rows that are examined, whatever the table's size and the values are.
//!
//! - In order: an index returns the matching rows in the page's order. Terms on the sort key's column bound its range, and a
//!   term whose key is declared `inOrderOf` the sort key chooses one range of a wider index for each of its values. Two terms
//!   choose a range of an index on both of their keys (`@index`).
//! - Look-ups: if other terms remain, and few rows match one of them by its own index, all of these are read and sorted.
//! - Merged ranges: if few rows of another relation match, and an index has the rows that join each of these in the page's order, the ranges
//!   of the index are merged, as far as the page reaches. They are a look-up, too: a window follows if there are too many.
//! - Window: otherwise the rows are read in order, up to a number of rows, and the matching rows are returned. The page then ends where the
//!   window ends. It lies in the narrowest of these ranges, as far as the declaration tells.
//! - Both of an index on the first column of the order alone: if few rows have one value in it, the rows are read with all of these, and
//!   sorted.
//! - By parent: of a list that is declared to have few rows, all of a parent are read by an index of the join, and sorted.
//!
//! - `path`: the path itself
//! - `choice`: decides, from a `search`'s terms and order
//! - `scan`, `window`, `key_lookup`, `parent_rows`: the strategies
//! - `prefix`: the ranges of an index that terms choose
//! - `lookups`: the searches by an index of their own, before a window
//! - `work`: how many rows may be examined in each part of a window
//! - `merged_ranges`: how many rows are read of each range of a list
//! - `rows_examined`: the most rows that are examined
//! - [`expected_pages`]: how many pages a client reads for a page of rows

mod choice;
pub mod expected_pages;
mod key_lookup;
mod lookups;
pub(crate) mod merged_ranges;
mod parent_rows;
mod path;
mod prefix;
mod rows_examined;
mod scan;
mod search;
#[cfg(test)]
mod tests;
mod window;
mod work;

pub use key_lookup::KeyLookup;
pub use lookups::{JoinedRows, Lookup};
pub use parent_rows::ParentRows;
pub use path::{AccessPath, CountPath, SortLimit, Strategy};
pub use prefix::Prefix;
pub use scan::IndexScan;
pub(crate) use search::Search;
pub use window::{FoundFor, HiddenRows, Window};
