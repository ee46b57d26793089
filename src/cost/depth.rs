//! Levels of object nesting: a root field is level 1, each object or connection inside it one more; `edges`, `node`,
//! `pageInfo` and fragments add none.

use crate::cost::price::{Priced, PricedField};
use crate::query::bind::selection::{BoundOperation, BoundSelection};

/// The deepest level of an operation; 0 if it selects no objects.
pub fn depth(operation: &BoundOperation<'_>) -> u32 {
    levels(&operation.selections)
}

fn levels<'a, F: Priced<'a>>(selections: &[BoundSelection<'a, F>]) -> u32 {
    let levels_of = |selection: &BoundSelection<'a, F>| match selection.field.priced() {
        PricedField::Free | PricedField::Scalar(_) | PricedField::Aggregate(_) | PricedField::Count(_) => 0,
        PricedField::Object(object) => 1 + levels(&object.selections),
        PricedField::Lookup(lookup) => 1 + levels(&lookup.selections),
        PricedField::Connection(connection) => 1 + levels(&connection.selections),
        PricedField::Totals(totals) => 1 + levels(&totals.selections),
        PricedField::Groups(groups) => levels(groups),
        PricedField::Edges(edges) => levels(edges),
        PricedField::Node(node) => levels(node),
    };
    selections.iter().map(levels_of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::explanation::explain;
    use crate::limits::Limits;
    use crate::query::Request;

    fn levels(query: &str) -> u32 {
        let request = Request { query: query.to_owned(), ..Request::default() };
        explain(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap().depth
    }

    #[test]
    fn counts_objects_and_connections_and_nothing_else() {
        for (query, depth) in [
            ("{ __typename }", 0),
            ("{ orders(first: 1) { pageInfo { hasNextPage } } }", 1),
            ("{ orders(first: 1) { edges { node { orderId orderItemCount } } } }", 1),
            (
                "{ ... { orders(first: 1) { edges { ... on OrderEdge { node { ...F } } } } } } fragment F on Order { orderId }",
                1,
            ),
            ("{ orders(first: 1) { edges { node { billToCustomer { firstName } } } } }", 2),
            (
                "{ orders(first: 1) { edges { node { orderItems(first: 1) { edges { node { product { productId } } } } } } } }",
                3,
            ),
            (
                r#"{ product(productId: "A") { productId } orders(first: 1) { edges { node { productStore { storeName } } } } }"#,
                2,
            ),
        ] {
            assert_eq!(levels(query), depth, "{query}");
        }
    }
}
