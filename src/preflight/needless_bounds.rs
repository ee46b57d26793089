//! Bounded lists that an index has in order, so that they need no bound.

use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::catalog::connection::{Connection, ListIndex, SortKey};
use crate::preflight::index_check::{RowOrder, are_indexed};

/// The bounded lists whose rows indexes have in each of their orders, in the order of publication.
pub(crate) async fn needless_bounds(client: &Client, catalog: &Catalog) -> Result<Vec<String>, Error> {
    let mut needless = Vec::new();
    for (object, field, binding) in catalog.fields() {
        let Some(connection) = binding.connection().filter(|list| list.found_by != ListIndex::Order) else { continue };
        let orders: Vec<_> = connection.sort_keys.iter().map(|key| order(connection, key)).collect();
        if are_indexed(client, &orders).await?.into_iter().all(|is_indexed| is_indexed) {
            needless.push(format!("{}.{}", object.name, field.name));
        }
    }
    Ok(needless)
}

/// The order of a parent's rows, as an index has it.
fn order(Connection { relation, join, .. }: &Connection, key: &SortKey) -> RowOrder {
    let mut columns = join.to.clone();
    columns.extend(key.columns.iter().map(|column| &column.name).filter(|name| !join.to.contains(name)).cloned());
    RowOrder { relation: relation.clone(), columns, is_of_values: true }
}
