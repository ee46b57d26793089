//! The pages that are asked for, and those of children that are found.

use std::sync::Arc;

use time::OffsetDateTime;

use crate::nodes::GroupExtras;
use crate::values::OrderCursor;

/// A page of orders by date.
#[derive(Debug)]
pub struct OrdersPage {
    pub first: i64,
    pub after: Option<OrderCursor>,
    pub reverse: bool,
    pub status_id: Option<String>,
    pub before: Option<OffsetDateTime>,
}

/// A page of one parent's children, shared by all requests that wait for it.
pub type Children<Node> = Arc<ChildPage<Node>>;

#[derive(Debug)]
pub struct ChildPage<Node> {
    pub nodes: Vec<Arc<Node>>,
    pub has_next: bool,
}

/// A page of a parent's children.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Page {
    pub first: i64,
    /// The key of the last child before the page; empty for the first page.
    pub after: String,
}

/// The items of an order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemsOfOrder {
    pub order_id: String,
    pub page: Page,
}

/// The items of an order in one ship group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemsOfGroup {
    pub order_id: String,
    pub ship_group_seq_id: String,
    pub page: Page,
}

/// The ship groups of an order, and what is joined to them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupsOfOrder {
    pub order_id: String,
    pub page: Page,
    pub extras: GroupExtras,
}
