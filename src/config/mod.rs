//! The configuration. One table of settings makes the flags, the environment variables, the keys of the file,
//! `--help`, the table in docs/reference.md and the output of `orderql config`. No module reads the configuration:
//! each has a small `Options` type, which this module fills.
//!
//! - `setting`: a row of the table
//! - `settings`: the table, and `Config`, a typed value for each row
//! - `limit_settings`: the rows of the limits' defaults
//! - `value_parser`: how values are written
//! - `flags`, `file`: the settings on the command line and in the configuration file
//! - `layers`: chooses between flags, environment, file and defaults
//! - `values`, `origin`: the chosen values as text, and where each comes from
//! - `report`: the values in force as JSON, for operators
//! - `options`: the modules' `Options`, made from `Config`
//! - `error`: why the configuration cannot be used

pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod flags;
pub(crate) mod layers;
pub(crate) mod limit_settings;
pub(crate) mod options;
pub(crate) mod origin;
pub(crate) mod report;
pub(crate) mod setting;
pub mod settings;
pub(crate) mod value_parser;
pub(crate) mod values;

#[cfg(test)]
mod tests;
