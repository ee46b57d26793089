//! GraphQL programs of other projects against the server.

mod conformance;
mod node;
mod python;
