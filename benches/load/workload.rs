//! What is asked: four questions, with a random order or place in the walk each time.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::keys::Key;

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// The order screen: 6 scalars, a count, bill-to, 5 ship groups with method and address, 10 items each.
    Detail,
    /// 50 orders, newest first, of one status, from a random place on, 7 scalars each.
    Page,
    /// 20 orders from a random place on with 10 items each, 3 and 4 scalars.
    Nested,
    /// 5 scalars of one order.
    Point,
}

impl Workload {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 4] = [Self::Detail, Self::Page, Self::Nested, Self::Point];

    /// The name, also of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detail => "detail",
            Self::Page => "page",
            Self::Nested => "nested",
            Self::Point => "point",
        }
    }

    /// Whether one order is asked for, and not a page of them.
    pub const fn is_of_one_order(self) -> bool {
        matches!(self, Self::Detail | Self::Point)
    }

    /// Our own query.
    pub const fn query(self) -> &'static str {
        match self {
            Self::Detail => include_str!("../queries/detail.graphql"),
            Self::Page => include_str!("../queries/page.graphql"),
            Self::Nested => include_str!("../queries/nested.graphql"),
            Self::Point => include_str!("../queries/point.graphql"),
        }
    }

    /// The statement that answers it with finished JSON: `{order}` stands for the order's id, or with `{date}` for the
    /// place in the walk that it goes on from.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Detail => include_str!("sql/detail.sql"),
            Self::Page => include_str!("sql/page.sql"),
            Self::Nested => include_str!("sql/nested.sql"),
            Self::Point => include_str!("sql/point.sql"),
        }
    }

    /// The variables of a GraphQL query for a key, whose cursor is as the answering server has it.
    pub fn variables(self, key: &Key, cursor: &str) -> Value {
        if self.is_of_one_order() { json!({ "orderId": key.order }) } else { json!({ "after": cursor }) }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
