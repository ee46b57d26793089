//! Queries from text to plan, and pagination.

mod bounded_search;
mod daily_searches;
mod edge_cases;
mod equivalence;
mod fulfilment_queue;
pub mod mending;
mod order_changes;
mod pages;
mod pagination;
mod plans;
mod product_periods;
mod properties;
mod questions;
mod stock_changes;
mod totals;
mod validation;
mod value_ranges;
