//! What an operation would cost, by its shape alone, and whether that is allowed.
//!
//! The specification's model: a scalar is 1, an object 1 and its selection, a connection its page size × (1 + one node),
//! an aggregate 5, and each search term on a key that no selective index serves adds 50. `edges`, `node`, `cursor`,
//! `pageInfo` and `__typename` are free.
//!
//! - [`estimate`]: the price, and how the rows that really come back weigh
//! - [`formula`]: the price with the page sizes left open
//! - [`depth`]: levels of object nesting
//! - [`admit`]: both held against the caller's limits; what a refusal tells
//! - `suggest`, `branches`: page sizes under which a query fits, and what makes it dear
//! - [`breakdown`]: the price as a tree that adds up, for people
//! - [`fields`]: the same as a list, for programs
//!
//! ## Costs in an answer
//!
//! With the request header `X-GraphQL-Cost-Include-Fields: true` every executed query's answer has `extensions.cost.fields`: a
//! list of every selected field that costs something, in query order ([`fields::FieldCost`]). `path` is made of the
//! response keys that lead to the field in `data`, `edges`, `node` and aliases included, without the places in lists.
//! `requestedTotalCost` is what the field adds by itself, `definedCost` × `times` (the product of the page sizes above it
//! and its own) + `searchPenalty` (where it has one); over the whole list it adds up to `requestedQueryCost`.
//! `requestedSubtreeCost` adds what is selected from it; over the root fields it adds up to `requestedQueryCost` too.
//!
//! With the request header `GraphQL-Cost: validate` a query is priced and neither run nor debited. What cannot be priced
//! (no token, not valid, a page without a size) is refused as ever; all else is answered with 200, and `extensions.cost`:
//!
//! ```text
//! requestedQueryCost, maxCost    the estimate, and what the caller may ask
//! depth, maxDepth                levels of object nesting, and what the caller may ask
//! statements                     how many statements the database would get
//! admitted                       whether depth and cost are allowed; if not, `errors` has the refusal with all its facts
//! gates                          {"depth": {"passed"}, "cost": {"passed"}, "bucket": {"passed", "retryAfterMs"}}: whether
//!                                each would let it pass now; `retryAfterMs` is null where waiting does not help
//! fields                         as above: read in its order, the list is the tree
//! throttleStatus                 the bucket as it is, nothing debited
//! ```

pub mod admit;
mod branches;
pub mod breakdown;
pub mod depth;
pub mod estimate;
pub mod fields;
pub mod formula;
mod pages;
mod path;
mod suggest;

/// Credits. Sums and products saturate: a cost too large to count is too large to admit.
pub type Cost = u64;

/// The cost of a column.
pub const SCALAR: Cost = 1;

/// The cost of an object, beside its selection; in a connection, of each row of the page.
pub const OBJECT: Cost = 1;

/// The cost of an aggregate.
pub const AGGREGATE: Cost = 5;

/// What a search term adds whose key no selective index serves.
pub const UNINDEXED_TERM: Cost = 50;
