//! Operation and variables to an operation whose every value is known.
//!
//! - [`resolve`](mod@resolve): the values. Conditions are decided, page sizes are inside the limits, cursors are decoded, search
//!   terms are counted. Depth and cost can be decided then; the values of search terms are read after that, for admitted
//!   requests alone. Every error that a value can cause is found here.
//! - [`bind`]: the tree of the operation with the shape of the request, which has no values. It cannot fail.
//!
//! They are two because most requests need the first alone: requests with the same text and shape share their price and their
//! statement, which are cached.
//!
//! - [`shape`]: the facts that the price and the statement of a request depend on; [`step_values`]: the values; `conditions`: which
//!   selections there are
//! - [`selection`]: the bound operation, with a type for each level of the grammar
//! - `tree`: makes it
//! - [`caller`]: whom a request is compiled for
//! - [`changes`]: where a page of changes begins
//! - `argument`, `variable`, `page_size`, `cursors`, `totals_arguments`, `search_keys`, `search_terms`: the values by kind
//! - `column_value`: parses a value that a column is compared with
//! - `introspection`: the results of `__schema` and `__type`
//! - `search_budget`, `search_size`: how large the search strings of a request may be together
//! - `step_id`, `error`: what the others share

mod argument;
pub mod caller;
pub mod changes;
mod column_value;
mod conditions;
mod cursors;
mod error;
pub(crate) mod introspection;
pub(crate) mod page_size;
pub mod resolve;
mod search_budget;
mod search_keys;
mod search_size;
pub(crate) mod search_terms;
pub mod selection;
pub mod shape;
pub mod step_id;
pub mod step_values;
pub(crate) mod totals_arguments;
mod tree;
mod variable;

use crate::catalog::Catalog;
use crate::query::bind::resolve::Resolved;
use crate::query::bind::selection::BoundOperation;
use crate::query::operation::Operation;

/// Puts an operation and the shape of a request together, and the results of introspection, which are literals of the response.
pub fn bind<'a>(catalog: &'a Catalog, operation: &'a Operation, resolved: &'a Resolved<'a>) -> BoundOperation<'a> {
    let Resolved { shape, constants, .. } = resolved;
    BoundOperation { selections: tree::root(catalog, operation, shape, constants), steps: &shape.steps }
}
