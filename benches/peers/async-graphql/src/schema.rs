//! The types and their resolvers, with orderql's names.

use std::sync::Arc;

use async_graphql::connection::{
    Connection, CursorType, DefaultConnectionName, DefaultEdgeName, DisableNodesField, Edge, EmptyFields,
};
use async_graphql::{
    ComplexObject, Context, EmptyMutation, EmptySubscription, ID, Lookahead, Object, OutputType, Result,
};

use crate::database::Database;
use crate::loaders::{self, Loaders};
use crate::nodes::{GroupExtras, Order, OrderExtras, OrderItem, ShipGroup};
use crate::pages::{Children, GroupsOfOrder, ItemsOfGroup, ItemsOfOrder, OrdersPage, Page};
use crate::values::{DateTime, OrderCursor};

pub type Schema = async_graphql::Schema<Query, EmptyMutation, EmptySubscription>;

/// The schema over a database.
pub fn new(database: Database) -> Schema {
    Schema::build(Query, EmptyMutation, EmptySubscription).data(loaders::new(database.clone())).data(database).finish()
}

pub struct Query;

#[Object]
impl Query {
    async fn order(&self, context: &Context<'_>, order_id: ID) -> Result<Option<Order>> {
        Ok(database(context)?.order(&order_id, extras(&context.look_ahead())).await?)
    }

    /// Orders by date; with `before` only those at or before it.
    async fn orders(
        &self,
        context: &Context<'_>,
        first: i32,
        after: Option<String>,
        #[graphql(default)] reverse: bool,
        status_id: Option<String>,
        before: Option<DateTime>,
    ) -> Result<PageOf<OrderCursor, Order>> {
        let page = OrdersPage {
            first: page_size(first)?,
            after: after.as_deref().map(OrderCursor::decode_cursor).transpose()?,
            reverse,
            status_id,
            before: before.map(|DateTime(date)| date),
        };
        let extras = extras(&context.look_ahead().field("edges").field("node"));
        let (orders, has_next) = database(context)?.orders(&page, extras).await?;
        let mut connection = Connection::new(page.after.is_some(), has_next);
        connection.edges.extend(orders.into_iter().map(|order| {
            let cursor =
                OrderCursor { date: order.order_date.map(|DateTime(date)| date), order_id: order.order_id.0.clone() };
            Edge::new(cursor, order)
        }));
        Ok(connection)
    }
}

#[ComplexObject]
impl Order {
    async fn order_items(
        &self,
        context: &Context<'_>,
        first: i32,
        after: Option<String>,
    ) -> Result<PageOf<String, Arc<OrderItem>>> {
        let key = ItemsOfOrder { order_id: self.order_id.0.clone(), page: page(first, after)? };
        let is_first = key.page.after.is_empty();
        let children = context.data::<Loaders>()?.load_one(key).await?;
        Ok(connection(children.as_ref(), is_first, |item| &item.order_item_seq_id))
    }

    async fn ship_groups(
        &self,
        context: &Context<'_>,
        first: i32,
        after: Option<String>,
    ) -> Result<PageOf<String, Arc<ShipGroup>>> {
        let node = context.look_ahead().field("edges").field("node");
        let key = GroupsOfOrder {
            order_id: self.order_id.0.clone(),
            page: page(first, after)?,
            extras: GroupExtras {
                address: node.field("shipFromAddress").exists(),
                method: node.field("shippingMethod").exists(),
            },
        };
        let is_first = key.page.after.is_empty();
        let children = context.data::<Loaders>()?.load_one(key).await?;
        Ok(connection(children.as_ref(), is_first, |group| &group.ship_group_seq_id))
    }
}

#[ComplexObject]
impl ShipGroup {
    async fn order_items(
        &self,
        context: &Context<'_>,
        first: i32,
        after: Option<String>,
    ) -> Result<PageOf<String, Arc<OrderItem>>> {
        let key = ItemsOfGroup {
            order_id: self.order_id.0.clone(),
            ship_group_seq_id: self.ship_group_seq_id.0.clone(),
            page: page(first, after)?,
        };
        let is_first = key.page.after.is_empty();
        let children = context.data::<Loaders>()?.load_one(key).await?;
        Ok(connection(children.as_ref(), is_first, |item| &item.order_item_seq_id))
    }
}

/// A page; `C` is the type of its cursors.
type PageOf<C, Node> =
    Connection<C, Node, EmptyFields, EmptyFields, DefaultConnectionName, DefaultEdgeName, DisableNodesField>;

/// A page of children, whose cursors are their keys.
fn connection<Node>(
    children: Option<&Children<Node>>,
    is_first: bool,
    key: impl Fn(&Node) -> &ID,
) -> PageOf<String, Arc<Node>>
where
    Arc<Node>: OutputType,
{
    let has_next = children.is_some_and(|children| children.has_next);
    let mut connection = Connection::new(!is_first, has_next);
    for node in children.into_iter().flat_map(|children| &children.nodes) {
        connection.edges.push(Edge::new(key(node).0.clone(), Arc::clone(node)));
    }
    connection
}

fn page(first: i32, after: Option<String>) -> Result<Page> {
    Ok(Page { first: page_size(first)?, after: after.unwrap_or_default() })
}

fn page_size(first: i32) -> Result<i64> {
    match first {
        1..=100 => Ok(first.into()),
        _ => Err("first must be from 1 to 100".into()),
    }
}

/// What is joined to an order, if it is selected.
fn extras(order: &Lookahead<'_>) -> OrderExtras {
    OrderExtras { count: order.field("orderItemCount").exists(), customer: order.field("billToCustomer").exists() }
}

fn database<'a>(context: &Context<'a>) -> Result<&'a Database> {
    context.data::<Database>()
}
