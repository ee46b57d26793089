//! The four workloads.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

/// What one request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// An order: the one that is asked for, or the one before the page.
    pub order_id: String,
    /// The date of the order before the page, in UTC.
    pub date: String,
}

/// A query that is sent again and again, for a random order or page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// An order's screen: 6 scalars, a count, bill-to, 5 ship groups with method and address, 10 items each
    Detail,
    /// 50 orders, newest first, of one status, from a random position on, 7 scalars each
    Page,
    /// 20 orders from a random position on with 10 items each, 3 and 4 scalars
    Nested,
    /// 5 scalars of one order
    Point,
}

impl Workload {
    /// The name, also of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detail => "detail",
            Self::Page => "page",
            Self::Nested => "nested",
            Self::Point => "point",
        }
    }

    /// Whether it asks for one order, and not for a page.
    pub const fn is_single_order(self) -> bool {
        matches!(self, Self::Detail | Self::Point)
    }

    /// orderql's query.
    pub const fn query(self) -> &'static str {
        match self {
            Self::Detail => include_str!("../queries/detail.graphql"),
            Self::Page => include_str!("../queries/page.graphql"),
            Self::Nested => include_str!("../queries/nested.graphql"),
            Self::Point => include_str!("../queries/point.graphql"),
        }
    }

    /// A statement that returns the finished JSON. `{order}` stands for the order's id; for a page, `{date}` and `{order}`
    /// stand for those of the order before it.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Detail => include_str!("../sql/detail.sql"),
            Self::Page => include_str!("../sql/page.sql"),
            Self::Nested => include_str!("../sql/nested.sql"),
            Self::Point => include_str!("../sql/point.sql"),
        }
    }

    /// The variables of the GraphQL query.
    pub fn variables(self, key: &Key, cursor: &str) -> Value {
        if self.is_single_order() { json!({ "orderId": key.order_id }) } else { json!({ "after": cursor }) }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
