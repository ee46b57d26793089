//! The commands.

mod accounts;
mod arguments;
mod demo;
mod load;
mod operating;
mod own_tables;
mod schema;
mod secrets;
mod serving;
