//! Reports on queries beside their data, for clients and operators: costs, plans, and slow queries.
//!
//! - `cost_report`: the cost of a query and of its fields
//! - `optional_headers`: the headers that few requests have
//! - `slow_query_log`: queries that took long

pub(crate) mod cost_report;
pub(crate) mod optional_headers;
pub(crate) mod slow_query_log;
