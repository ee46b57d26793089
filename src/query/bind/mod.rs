//! Operation and variables to an operation whose every value is known.
//!
//! - [`resolve`](mod@resolve): the values. Conditions are decided, page sizes are inside the limits, cursors are decoded, search
//!   terms are counted. Depth and cost can be decided then; the values of search terms are read after that, for admitted
//!   requests alone. Every error that a value can cause is found here.
//! - [`bind`]: the tree of the operation with these values. It cannot fail.
//!
//! They are two because most requests need the first alone: requests with the same text and other values share their
//! statements, which are cached.
//!
//! - [`selection`]: the bound operation, with a type for each level of the grammar
//! - `tree`: makes it
//! - [`changes`]: where a page of changes begins
//! - `argument`, `variable`, `page_size`, `cursors`, `totals_arguments`, `search_keys`, `search_terms`: the values by kind
//! - `column_value`: parses a value that a column is compared with
//! - `introspection`: the results of `__schema` and `__type`
//! - `search_budget`, `search_size`: how large the search strings of a request may be together
//! - `ids`, `error`: what the others share

mod argument;
pub mod changes;
mod column_value;
mod cursors;
mod error;
pub mod ids;
pub(crate) mod introspection;
pub(crate) mod page_size;
pub mod resolve;
mod search_budget;
mod search_keys;
mod search_size;
pub(crate) mod search_terms;
pub mod selection;
pub(crate) mod totals_arguments;
mod tree;
mod variable;

use crate::catalog::Catalog;
use crate::query::bind::resolve::Priced;
use crate::query::bind::selection::BoundOperation;
use crate::query::operation::Operation;

/// Puts an operation and its values together, but for those in search strings.
pub fn bind<'a>(catalog: &'a Catalog, operation: &'a Operation, priced: &'a Priced<'a>) -> BoundOperation<'a> {
    BoundOperation { selections: tree::root(catalog, operation, priced), steps: &priced.steps }
}
