//! Levels of object nesting: a root field is level 1, each object or connection inside it one more; `edges`, `node`,
//! `pageInfo` and fragments add none.

use crate::error::graphql_error::Location;
use crate::query::bind::{Bound, BoundField, BoundOperation};

/// How deep an operation nests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depth {
    /// The deepest level; 0 where nothing but `__typename` is selected.
    pub levels: u32,
    /// The fields that first pass the allowed level, in document order.
    pub beyond: Vec<Location>,
}

/// Measures an operation, marking what lies deeper than `allowed`.
pub fn depth(operation: &BoundOperation<'_>, allowed: u32) -> Depth {
    let mut depth = Depth::default();
    measure(&operation.fields, 1, allowed, &mut depth);
    depth
}

fn measure(fields: &[BoundField<'_>], level: u32, allowed: u32, depth: &mut Depth) {
    for field in fields {
        let nested = match &field.kind {
            Bound::One(_, _, fields) => fields,
            Bound::Lookup(point) => &point.fields,
            Bound::Connection(connection) => &connection.fields,
            Bound::Edges(fields) | Bound::Node(fields) => {
                measure(fields, level, allowed, depth);
                continue;
            }
            Bound::TypeName(_)
            | Bound::Column(..)
            | Bound::Aggregate(..)
            | Bound::PageInfo(_)
            | Bound::Cursor
            | Bound::PageInfoField(_)
            | Bound::Constant(_) => continue,
        };
        depth.levels = depth.levels.max(level);
        if level == allowed + 1 {
            depth.beyond.push(field.location);
        }
        measure(nested, level + 1, allowed, depth);
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::explain;
    use crate::limits::Limits;
    use crate::query::Request;

    fn levels(query: &str) -> u32 {
        let request = Request { query: query.to_owned(), ..Request::default() };
        explain(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap().depth
    }

    #[test]
    fn objects_and_connections_count_and_nothing_else_does() {
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
