//! The objects that orderql adds to a database, declared as a state: `migrate` makes the missing and different objects, and drops objects
//! that are not declared any more.
//!
//! The folder `declared` has the state. It suits an empty database and an operator's OFBiz database alike.
//!
//! - `declaration`: reads the folder; `table`, `object` and `reference` are its parts
//! - `indexes`: the declared indexes, and which of them a database lacks; `index_build`: builds them
//! - `present`: the objects of a database; `record`: the applied state, and its version
//! - `difference`: what a database lacks; `pending`: the same by name; `steps`: the statements that make it
//! - `view_columns`: the columns of views that depend on the schema file
//! - [`migrate`]: applies the steps; [`report`]: what was changed
//! - `kept_tables`: what triggers keep; `old_transactions`: waits for writers whose triggers may have missed it
//! - `partitions`: tables that cannot be served
//! - `removal`: the way back
//! - `error`: why a migration failed

mod declaration;
mod difference;
pub(crate) mod error;
mod index_build;
pub(crate) mod indexes;
pub(crate) mod kept_tables;
pub mod migrate;
mod object;
mod old_transactions;
pub(crate) mod partitions;
pub(crate) mod pending;
mod present;
pub(crate) mod record;
mod reference;
pub(crate) mod removal;
pub mod report;
pub(crate) mod steps;
mod table;
mod view_columns;
