//! Cost and depth, as `docs/api.md` has them.

use std::collections::HashSet;

use orderql::catalog::Catalog;
use orderql::catalog::aggregate::AggregateFunction;
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, EntityBinding, One, RootBinding, Totals};
use orderql::catalog::connection::{Connection, ListIndex};
use orderql::catalog::schema::ArgumentRole;
use orderql::catalog::totals::{FieldPath, GroupKey, Sum, TotalsField};
use orderql_generator::document::Value;
use orderql_generator::request::Generated;

use crate::oracles::tree::Node;

/// The credits of nodes.
pub fn cost(catalog: &Catalog, generated: &Generated, nodes: &[Node<'_>]) -> u64 {
    let of_node = |node: &Node<'_>| {
        let inside = || cost(catalog, generated, &node.nodes);
        match node.binding(catalog) {
            Some(
                Binding::Totals(TotalsField::Groups)
                | Binding::Connection(ConnectionField::Edges)
                | Binding::Edge(EdgeField::Node),
            ) => inside(),
            Some(Binding::Entity(EntityBinding::Column(_)) | Binding::Totals(_) | Binding::Group(_)) => 1,
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
                // All rows of a bounded list are read, whatever its page has.
                let sorted = match connection.found_by {
                    ListIndex::Order => node.sort_key(catalog, generated, connection).ties,
                    ListIndex::Parent { at_most } => Some(at_most),
                };
                let read = sorted.map_or(0, |rows| rows.div_ceil(10));
                u64::from(size) * (1 + inside()) + 5 * counts + 50 * slow_terms + u64::from(read)
            }
            Some(Binding::Root(RootBinding::Totals(totals))) => {
                let slow_terms = slow_terms(catalog, generated, node, &totals.connection);
                // A credit for ten rows of each relation; what is selected is paid once.
                let credits = summed_rows(catalog, generated, node).div_ceil(10);
                1 + inside() + credits * relations(catalog, generated, node, totals) + 50 * slow_terms
            }
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

/// How many rows totals add up at most.
fn summed_rows(catalog: &Catalog, generated: &Generated, node: &Node<'_>) -> u64 {
    match node.argument(catalog, generated, ArgumentRole::Rows) {
        Some(Value::Number(rows)) => rows.parse().expect("a number of rows"),
        _ => 1_000,
    }
}

/// The paths to the keys and sums of totals: those that are asked for, or the keys that are selected if none are, and the currency of an
/// amount of money.
pub fn summed_paths<'c>(
    catalog: &Catalog,
    generated: &Generated,
    node: &Node<'_>,
    totals: &'c Totals,
) -> Vec<&'c FieldPath> {
    let name = |value: &Value| if let Value::Enum(name) = value { name.clone() } else { String::new() };
    let enums = |role| match node.argument(catalog, generated, role) {
        Some(Value::List(names)) => names.iter().map(name).collect(),
        Some(one) => vec![name(one)],
        None => Vec::new(),
    };
    let is_grouped = node.argument(catalog, generated, ArgumentRole::GroupBy).is_some();
    let (keys, order) = (enums(ArgumentRole::GroupBy), enums(ArgumentRole::OrderBy));
    let is_groups = |node: &&Node<'_>| matches!(node.binding(catalog), Some(Binding::Totals(TotalsField::Groups)));
    let groups = node.nodes.iter().filter(is_groups);
    let fields: Vec<_> = groups.flat_map(|groups| &groups.nodes).map(|node| node.field.name.as_str()).collect();
    let is_summed = |sum: &&Sum| fields.contains(&sum.name.as_str()) || order.contains(&sum.value);
    let sums: Vec<_> = totals.sums.iter().filter(is_summed).collect();
    let is_key = |index: &usize| {
        let is_money = totals.currency == Some(*index) && sums.iter().any(|sum| sum.is_money);
        let GroupKey { name, value, .. } = &totals.keys[*index];
        is_money || if is_grouped { keys.contains(value) } else { fields.contains(&name.as_str()) }
    };
    let keys = (0..totals.keys.len()).filter(is_key).map(|index| &totals.keys[index].path);
    keys.chain(sums.iter().flat_map(|sum| std::iter::once(&sum.path).chain(&sum.times))).collect()
}

/// The relations that a row of totals is read from: its own, and those of objects on the paths to keys and sums.
fn relations(catalog: &Catalog, generated: &Generated, node: &Node<'_>, totals: &Totals) -> u64 {
    let mut joined: HashSet<Vec<*const One>> = HashSet::new();
    for path in summed_paths(catalog, generated, node, totals) {
        let (objects, _) = catalog.follow(totals.connection.node, path);
        let objects: Vec<_> = objects.into_iter().map(std::ptr::from_ref).collect();
        joined.extend((1..=objects.len()).map(|length| objects[..length].to_vec()));
    }
    1 + joined.len() as u64
}

/// The levels of objects, without `edges`, `node` and `pageInfo`.
pub fn depth(catalog: &Catalog, nodes: &[Node<'_>]) -> u32 {
    let of_node = |node: &Node<'_>| match node.binding(catalog) {
        Some(
            Binding::Root(RootBinding::Lookup(_) | RootBinding::Connection(_) | RootBinding::Totals(_))
            | Binding::Entity(EntityBinding::One(_) | EntityBinding::Connection(_)),
        ) => 1 + depth(catalog, &node.nodes),
        Some(Binding::Connection(ConnectionField::Edges) | Binding::Edge(EdgeField::Node)) => {
            depth(catalog, &node.nodes)
        }
        _ => 0,
    };
    nodes.iter().map(of_node).max().unwrap_or(0)
}
