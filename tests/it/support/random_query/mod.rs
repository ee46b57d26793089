//! Random queries that are valid, made from the catalog.

pub mod generator;
pub mod tree;
