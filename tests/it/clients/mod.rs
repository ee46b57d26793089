//! GraphQL programs of other projects against the server.

pub mod conformance;
mod node;
pub mod python;
