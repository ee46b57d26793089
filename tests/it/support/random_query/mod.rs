//! Random valid queries.

pub mod generator;
pub mod query;
