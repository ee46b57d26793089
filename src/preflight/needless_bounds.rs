//! Bounded lists, and orders with ties, that an index has, so that they need no bound.

use std::collections::HashMap;

use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::catalog::connection::{Connection, ListIndex, SortKey};
use crate::relations::planner::indexed;
use crate::relations::row_order::RowOrder;

/// Selects the indexes of relations whose rows have no other indexes: their first columns, and how many columns they compare. The first column
/// is empty if it is an expression.
const INDEXES: &str = "
    SELECT namespace.nspname::text, relation.relname::text, coalesce(attribute.attname::text, ''), index.indnkeyatts
    FROM pg_catalog.pg_index AS index
    JOIN pg_catalog.pg_class AS relation ON relation.oid = index.indrelid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    LEFT JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = index.indkey[0]
    WHERE relation.relkind IN ('r', 'm') AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = relation.oid)
      AND namespace.nspname <> 'pg_catalog'";

/// The lists, and the orders with ties, that indexes have, in the order of publication; and the arguments that they do not need.
pub(crate) async fn needless_bounds(client: &Client, catalog: &Catalog) -> Result<Vec<(String, &'static str)>, Error> {
    let indexes = Indexes::read(client).await?;
    let mut needless = Vec::new();
    for (object, field, binding) in catalog.fields() {
        let Some(connection) = binding.connection() else { continue };
        let list = format!("{}.{}", object.name, field.name);
        let mut bounds = Vec::new();
        if connection.found_by != ListIndex::Order {
            let orders: Vec<_> = connection.sort_keys.iter().map(|key| order(connection, key)).collect();
            bounds.push((list.clone(), "atMost", orders));
        }
        let with_ties = connection.sort_keys.iter().filter(|key| key.ties.is_some());
        bounds.extend(
            with_ties.map(|key| (format!("{list}(sortKey: {})", key.name), "ties", vec![order(connection, key)])),
        );
        for (place, argument, orders) in bounds {
            let count = orders.len();
            // Each question takes the planner a millisecond, and nearly all lists need their bounds.
            if orders.iter().all(|order| indexes.may_have(order)) && indexed(client, orders).await?.len() == count {
                needless.push((place, argument));
            }
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
    RowOrder { relation, equal, order: rest, where_null: join.where_null.as_deref(), is_first_descending: false }
}

/// The first column and the number of columns of each index, by the schema and name of its relation.
struct Indexes(HashMap<(String, String), Vec<(String, usize)>>);

impl Indexes {
    async fn read(client: &Client) -> Result<Self, Error> {
        let mut indexes: HashMap<_, Vec<_>> = HashMap::new();
        for row in client.query(INDEXES, &[]).await? {
            let columns = usize::try_from(row.try_get::<_, i16>(3)?).unwrap_or_default();
            indexes.entry((row.try_get(0)?, row.try_get(1)?)).or_default().push((row.try_get(2)?, columns));
        }
        Ok(Self(indexes))
    }

    /// Whether an index may have an order. Only the planner knows it of a relation without indexes of its own.
    fn may_have(&self, order: &RowOrder<'_>) -> bool {
        let (schema, name) = order.relation.split_once('.').unwrap_or(("public", order.relation));
        let indexes = self.0.get(&(schema.to_owned(), name.to_owned()));
        let has = |(first, columns): &(String, usize)| {
            let firsts = if order.equal.is_empty() { order.order.get(..1).unwrap_or_default() } else { &order.equal };
            firsts.contains(&first.as_str()) && *columns >= order.columns().count()
        };
        indexes.is_none_or(|indexes| indexes.iter().any(has))
    }
}
