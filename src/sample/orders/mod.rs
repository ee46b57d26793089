//! Orders: first the history of an order is generated ([`order`]), then its rows in all tables are derived from it.

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
