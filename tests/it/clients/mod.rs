//! GraphQL programs of other projects against the server.

mod change_loops;
mod conformance;
mod node;
mod python;
