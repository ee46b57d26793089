//! Data loaders, which load the children of many parents with one statement.
//!
//! They live as long as the server and cache nothing, so that also requests that arrive at the same time share statements.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::{DataLoader, Loader};

use crate::database::{Children, Database, DatabaseError};
use crate::nodes::{GroupExtras, OrderItem, ShipGroup};

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

/// Loads children from the database.
pub struct ChildLoader(Database);

/// All loaders.
pub type Loaders = DataLoader<ChildLoader>;

/// The loaders over a database.
pub fn new(database: Database) -> Loaders {
    DataLoader::new(ChildLoader(database), tokio::spawn)
}

/// A loader's error, shared by all requests that wait for it.
type Failure = Arc<DatabaseError>;

impl Loader<ItemsOfOrder> for ChildLoader {
    type Value = Children<OrderItem>;
    type Error = Failure;

    async fn load(&self, keys: &[ItemsOfOrder]) -> Result<HashMap<ItemsOfOrder, Self::Value>, Failure> {
        Ok(by_parent(keys, self.0.items_of_orders(keys).await?))
    }
}

impl Loader<ItemsOfGroup> for ChildLoader {
    type Value = Children<OrderItem>;
    type Error = Failure;

    async fn load(&self, keys: &[ItemsOfGroup]) -> Result<HashMap<ItemsOfGroup, Self::Value>, Failure> {
        Ok(by_parent(keys, self.0.items_of_groups(keys).await?))
    }
}

impl Loader<GroupsOfOrder> for ChildLoader {
    type Value = Children<ShipGroup>;
    type Error = Failure;

    async fn load(&self, keys: &[GroupsOfOrder]) -> Result<HashMap<GroupsOfOrder, Self::Value>, Failure> {
        Ok(by_parent(keys, self.0.groups_of_orders(keys).await?))
    }
}

fn by_parent<K: Clone + Eq + std::hash::Hash, V>(keys: &[K], children: Vec<Children<V>>) -> HashMap<K, Children<V>> {
    keys.iter().cloned().zip(children).collect()
}
