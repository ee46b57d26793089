//! Cost and depth, as `docs/api.md` has them.

use orderql::catalog::Catalog;
use orderql::catalog::binding::{
    AggregateFunction, Binding, Connection, ConnectionField, EdgeField, EntityBinding, RootBinding,
};
use orderql::catalog::schema::ArgumentRole;
use orderql_generator::document::Value;
use orderql_generator::request::Generated;

use crate::oracles::tree::Node;

/// The credits of nodes.
pub fn cost(catalog: &Catalog, generated: &Generated, nodes: &[Node<'_>]) -> u64 {
    let of_node = |node: &Node<'_>| {
        let inside = || cost(catalog, generated, &node.nodes);
        match node.binding(catalog) {
            Some(Binding::Entity(EntityBinding::Column(_))) => 1,
            Some(Binding::Entity(EntityBinding::Aggregate(aggregate))) => match aggregate.function {
                AggregateFunction::CountDistinct => 5,
                AggregateFunction::Lowest => 1,
            },
            Some(Binding::Entity(EntityBinding::One(_)) | Binding::Root(RootBinding::Lookup(_))) => 1 + inside(),
            Some(
                Binding::Root(RootBinding::Connection(connection))
                | Binding::Entity(EntityBinding::Connection(connection)),
            ) => {
                let (size, _) = node.page(catalog, generated);
                // A count is paid once, not for each row.
                let is_count = |node: &&Node<'_>| {
                    matches!(node.binding(catalog), Some(Binding::Connection(ConnectionField::Count)))
                };
                let counts = node.nodes.iter().filter(is_count);
                let (counts, slow_terms) = (counts.count() as u64, slow_terms(catalog, generated, node, connection));
                u64::from(size) * (1 + inside()) + 5 * counts + 50 * slow_terms
            }
            Some(Binding::Connection(ConnectionField::Edges) | Binding::Edge(EdgeField::Node)) => inside(),
            Some(
                Binding::Root(RootBinding::Changes(_) | RootBinding::Schema | RootBinding::TypeByName)
                | Binding::Connection(ConnectionField::PageInfo | ConnectionField::Count)
                | Binding::Edge(EdgeField::Cursor)
                | Binding::PageInfo(_)
                | Binding::Introspection,
            )
            | None => 0,
        }
    };
    nodes.iter().map(of_node).sum()
}

/// The search terms on keys without a selective index.
fn slow_terms(catalog: &Catalog, generated: &Generated, node: &Node<'_>, connection: &Connection) -> u64 {
    let Some(Value::Search(search)) = node.argument(catalog, generated, ArgumentRole::Query) else { return 0 };
    let is_slow = |name: &str| connection.search_keys.iter().any(|key| key.name == name && !key.indexed);
    search.terms.iter().filter(|term| is_slow(&term.key)).count() as u64
}

/// The levels of objects, without `edges`, `node` and `pageInfo`.
pub fn depth(catalog: &Catalog, nodes: &[Node<'_>]) -> u32 {
    let of_node = |node: &Node<'_>| match node.binding(catalog) {
        Some(
            Binding::Root(RootBinding::Lookup(_) | RootBinding::Connection(_))
            | Binding::Entity(EntityBinding::One(_) | EntityBinding::Connection(_)),
        ) => 1 + depth(catalog, &node.nodes),
        Some(Binding::Connection(ConnectionField::Edges) | Binding::Edge(EdgeField::Node)) => {
            depth(catalog, &node.nodes)
        }
        _ => 0,
    };
    nodes.iter().map(of_node).max().unwrap_or(0)
}
