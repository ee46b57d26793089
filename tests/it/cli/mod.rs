//! The commands.

mod accounts;
mod demo;
mod load;
mod own_tables;
mod schema;
mod secrets;
