//! Other people's GraphQL programs against the server.

mod conformance;
mod node;
