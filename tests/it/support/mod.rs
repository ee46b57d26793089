//! Helpers of the tests.

pub mod database;
pub mod query_plan;
pub mod query_runner;
pub mod random_query;
pub mod server;
pub mod store;
