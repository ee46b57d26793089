//! What an operation would cost, by its shape alone, and whether that is allowed.
//!
//! The specification's model: a scalar is 1, an object 1 and its selection, a connection its page size × (1 + one node),
//! an aggregate 5, and each search term on a key that no selective index serves adds 50. `edges`, `node`, `cursor`,
//! `pageInfo` and `__typename` are free.
//!
//! - [`estimate`]: the price, and how the rows that really come back weigh
//! - [`depth`]: levels of object nesting
//! - [`admit`]: both held against the caller's limits
//! - [`breakdown`]: the price as a tree that adds up, for people

pub mod admit;
pub mod breakdown;
pub mod depth;
pub mod estimate;

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
