//! Orders: first the history of an order is generated, then its rows in all tables are derived from it.
//!
//! - [`order`]: the history; `lifecycle`: the states that it goes through
//! - `header`, `contacts`, `amounts`, `items`: the rows of the order
//! - `picklists`, `shipments`, `returns`: what stores do with it
//! - `stock_use`: what it takes from the stock

pub(in crate::sample) mod lifecycle;
pub(in crate::sample) mod order;

pub(in crate::sample) mod amounts;
pub(in crate::sample) mod contacts;
pub(in crate::sample) mod header;
pub(in crate::sample) mod items;
pub(in crate::sample) mod picklists;
pub(in crate::sample) mod returns;
pub(in crate::sample) mod shipments;
pub(in crate::sample) mod stock_use;
