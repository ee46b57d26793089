//! The commands, as an operator runs them.

mod accounts;
mod demo;
mod schema;
