//! The commands.

mod accounts;
mod arguments;
mod demo;
mod grants;
mod load;
mod operating;
mod own_tables;
mod schema;
mod schema_diff;
mod schema_draft;
mod secrets;
mod serving;
