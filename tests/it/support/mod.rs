//! Helpers of the tests.

pub mod authority;
pub mod balancer;
pub mod built_in;
pub mod cluster;
pub mod command;
pub mod cursor;
pub mod database;
pub mod declared_tables;
pub mod fault_proxy;
pub mod http;
pub mod http2;
pub mod metered_server;
pub mod metrics;
pub mod naive_resolver;
pub mod plan_shape;
pub mod pooler;
pub mod query_plan;
pub mod query_runner;
pub mod random;
pub mod server;
pub mod service_manager;
pub mod statement_log;
pub mod store;
pub mod store_server;
pub mod test_folder;
pub mod users;
