//! What clients and operators learn of a query beside its data: costs, plans, and which queries are slow.
//!
//! - `cost_report`: the cost of a query and of its fields
//! - `optional_headers`: the headers that few requests have
//! - `slow_query_log`: queries that took long

pub(crate) mod cost_report;
pub(crate) mod optional_headers;
pub(crate) mod slow_query_log;
