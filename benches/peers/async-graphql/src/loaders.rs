//! Data loaders, which load the children of many parents with one statement.
//!
//! They live as long as the server and cache nothing, so that also requests that arrive at the same time share statements.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::{DataLoader, Loader};

use crate::database::{Database, DatabaseError};
use crate::nodes::{OrderItem, ShipGroup};
use crate::pages::{Children, GroupsOfOrder, ItemsOfGroup, ItemsOfOrder};

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
