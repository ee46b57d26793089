//! Change feeds in the database: their triggers, the ticks between which marks are compared, and their removal.
//!
//! - `install`: makes the feeds of a schema file, and finds missing ones
//! - `check`: whether triggers run, and whether the stored transaction ids are the database's own
//! - `status`: how far the feeds are
//! - `ticker`: writes ticks and removes marks that no reader needs, in the background
//! - `watcher`: wakes requests that wait for changes

pub(crate) mod check;
pub(crate) mod install;
pub(crate) mod status;
pub(crate) mod ticker;
pub(crate) mod watcher;
