//! GraphQL programs of other projects against the server.

mod change_loops;
pub mod conformance;
mod node;
pub mod python;
