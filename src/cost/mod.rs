//! The cost of an operation, by its selections alone, and whether that is allowed.
//!
//! The specification's model: a scalar is 1, an object 1 and its selection, a connection its page size × (1 + one node),
//! an aggregate 5, and each search term on a key that no selective index serves adds 50. `edges`, `node`, `cursor`,
//! `pageInfo` and `__typename` are free. Totals are 1 and their selection, once, and 1 for every ten rows that they may add up, of each
//! relation that these are read from.
//!
//! - `lines`: the fields of an operation, and the price of each
//! - `operation_cost`: the depth and the price of an operation, with the page sizes left open; [`price`]: credits
//! - [`estimate`]: the price of a request, and of the rows that came back
//! - [`limit_check`]: the check of both against the caller's limits
//! - `evaluation`: all of that for one request
//! - `limit_exceeded`: the error of a query that exceeds them
//! - `suggest`, `branches`, `pages`: page sizes under which a query fits, and its most expensive parts
//! - [`breakdown`]: the price as a tree that adds up, for people
//! - [`fields`]: the same as a list, for programs
//!
//! ## Costs in a response
//!
//! With the request header `X-GraphQL-Cost-Include-Fields: true` every executed query's response has `extensions.cost.fields`: a
//! list of every selected field that costs something, in query order ([`fields::FieldCost`]). `path` has the response keys that
//! lead to the field in `data`, `edges`, `node` and aliases included, without the indexes of list elements. `requestedTotalCost`
//! is what the field adds by itself, `definedCost` × `times` (the product of the page sizes around it and its own) +
//! `searchPenalty` (if it has one); over the whole list it adds up to `requestedQueryCost`. `requestedSubtreeCost` adds its
//! selection; over the root fields it adds up to `requestedQueryCost` too.
//!
//! With the request header `GraphQL-Cost: validate` a query is priced and neither run nor debited. What cannot be priced
//! (no token, not valid, a page without a size) is rejected as ever; everything else gets 200, and `extensions.cost`:
//!
//! ```text
//! requestedQueryCost, maxCost    the estimate, and the caller's limit (the bucket's size if that is lower)
//! depth, maxDepth                levels of object nesting, and the caller's limit
//! branches                       how many connections and lookups the statement has
//! responseBytes, maxResponseBytes    how many bytes the response may have, and the caller's limit
//! admitted                       whether all that is allowed; if not, `errors` has the error with all its extensions
//! gates                          {"depth": {"passed"}, "cost": {"passed"}, "responseSize": {"passed"}, "bucket": {"passed",
//!                                "retryAfterMs"}}: whether each would let it pass now; `retryAfterMs` is null if waiting does not help
//! fields                         as above: read in its order, the list is the tree
//! throttleStatus                 the bucket as it is, nothing debited
//! ```
//!
//! With `GraphQL-Cost: plan` the same is reported, and `extensions.plan`: the statements, their parameters and access paths.

mod branches;
pub mod breakdown;
pub mod estimate;
pub(crate) mod evaluation;
pub mod fields;
pub mod limit_check;
pub(crate) mod limit_exceeded;
mod lines;
pub(crate) mod operation_cost;
mod pages;
pub mod price;
mod suggest;
