//! The commands.

mod accounts;
mod demo;
mod load;
mod schema;
mod secrets;
