//! The orders of relations whose indexes are not their own, if their key is declared.

use tokio_postgres::{Client, Error};

use crate::relations::description::DatabaseDescription;
use crate::relations::index::DescribedIndex;
use crate::relations::planner::indexed;
use crate::relations::relation::RelationKind;
use crate::relations::row_order::RowOrder;

/// Finds the orders in which indexes return the rows of relations whose key is declared: for views, by the indexes of their tables; for
/// tables of other servers, only the order of their key, because the indexes there are not known.
pub(crate) async fn add_orders(client: &Client, database: &mut DatabaseDescription) -> Result<(), Error> {
    for relation in &mut database.relations {
        let (Some(key), false) = (&relation.declared_key, relation.has_indexes()) else { continue };
        let is_view = relation.kind == RelationKind::View;
        let readable = relation.columns.iter().filter(|column| column.is_readable).map(|column| column.name.as_str());
        let names: Vec<_> = readable.filter(|name| is_view || key.first().is_some_and(|first| first == name)).collect();
        let path = relation.path();
        let mut orders = indexed(client, names.iter().map(|name| order(&path, key, None, name)).collect()).await?;
        if is_view {
            let is_sorted = |name: &str| orders.iter().any(|sorted| sorted.order.first() == Some(&name));
            let mut others = Vec::new();
            for name in &names {
                others.push(RowOrder { relation: &path, equal: vec![name], ..RowOrder::default() });
                // An index that begins with the key's first column after this one would be one for the order of this one.
                let second = names.iter().filter(|other| *other != name && is_sorted(other));
                let second = second.filter(|other| is_sorted(name) || key.first().is_none_or(|first| first != *other));
                others.extend(second.map(|other| order(&path, key, Some(name), other)));
            }
            orders.extend(indexed(client, others).await?);
        }
        let indexes = orders.iter().map(|order| DescribedIndex::of_order(order.columns())).collect();
        relation.indexes = indexes;
    }
    Ok(())
}

/// The order by a column, then by the rest of the key: of the rows with a value in another column, if one is given.
fn order<'o>(relation: &'o str, key: &'o [String], equal: Option<&'o str>, first: &'o str) -> RowOrder<'o> {
    let rest = key.iter().map(String::as_str).filter(|column| *column != first && Some(*column) != equal);
    let (equal, order) = (equal.into_iter().collect(), std::iter::once(first).chain(rest).collect());
    RowOrder { relation, equal, order, ..RowOrder::default() }
}
