//! Bounded lists that an index has in order, so that they need no bound.

use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::catalog::connection::{Connection, ListIndex, SortKey};
use crate::relations::planner::indexed;
use crate::relations::row_order::RowOrder;

/// The bounded lists whose rows indexes have in each of their orders, in the order of publication.
pub(crate) async fn needless_bounds(client: &Client, catalog: &Catalog) -> Result<Vec<String>, Error> {
    let mut needless = Vec::new();
    for (object, field, binding) in catalog.fields() {
        let Some(connection) = binding.connection().filter(|list| list.found_by != ListIndex::Order) else { continue };
        let orders: Vec<_> = connection.sort_keys.iter().map(|key| order(connection, key)).collect();
        let count = orders.len();
        if indexed(client, orders).await?.len() == count {
            needless.push(format!("{}.{}", object.name, field.name));
        }
    }
    Ok(needless)
}

/// The order of a parent's rows, as an index has it.
fn order<'c>(Connection { relation, join, .. }: &'c Connection, key: &'c SortKey) -> RowOrder<'c> {
    let to = join.to.iter().map(String::as_str);
    let rest = key.columns.iter().map(|column| column.name.as_str());
    let (equal, rest): (Vec<_>, Vec<_>) =
        (to.collect(), rest.filter(|name| !join.to.iter().any(|to| to == name)).collect());
    RowOrder { relation, equal, order: rest, is_first_descending: false }
}
