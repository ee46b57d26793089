//! The plan of a statement of every kind: from every root and connection, in the order of each sort key, with each search key and each
//! pair of them. No plan has a node that may examine any number of rows.

use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, EntityBinding, RootBinding};
use orderql::catalog::connection::SortKey;
use orderql::catalog::ids::TypeId;
use orderql::catalog::schema::Field;
use orderql::catalog::search_key::SearchKey;
use orderql::cursor::Encoder;
use orderql::query::Variables;
use orderql::search::Comparator;
use orderql::value::ScalarType;
use tokio_postgres::Client;

use crate::support::built_in::collection_roots;
use crate::support::cursor::{numeric, unix_micros};
use crate::support::database::sampled_database;
use crate::support::plan_shape::Indexes;
use crate::support::query_plan::{connect_like_server, plan_of};
use crate::support::query_runner::QueryRunner;

/// The failures that are reported.
const REPORTED: usize = 5;

#[tokio::test]
async fn no_search_has_an_unbounded_plan() {
    check(searches, 100).await;
}

#[tokio::test]
async fn no_connection_below_an_object_has_an_unbounded_plan() {
    check(connections, 100).await;
}

#[tokio::test]
async fn no_totals_have_an_unbounded_plan() {
    check(totals, 50).await;
}

async fn check(queries: fn(&Catalog) -> Vec<String>, least: usize) {
    let database = sampled_database().await;
    let client = connect_like_server(&database).await;
    let (runner, indexes) = (QueryRunner::new(&database), Indexes::read(&client).await);
    let queries = queries(runner.catalog());
    assert!(queries.len() > least, "{} queries", queries.len());
    let mut failures = Vec::new();
    for query in &queries {
        failures.extend(failure(&runner, &client, &indexes, query).await);
    }
    let reported = failures.iter().take(REPORTED).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {} statements\n{reported}", failures.len(), queries.len());
}

async fn failure(runner: &QueryRunner, client: &Client, indexes: &Indexes, query: &str) -> Option<String> {
    let compiled = runner.compile(query, Variables::new());
    let plan = plan_of(client, &compiled.plan).await;
    let mut sorting = compiled.plan.steps().iter().filter(|step| {
        let path = &step.access_path;
        path.scan().is_none()
            || !path.lookups().is_empty()
            || path.prefix().is_some_and(|prefix| prefix.is_list())
            || step.is_totals()
    });
    let result = indexes.check(plan.json(), sorting.next().is_some());
    result.err().map(|error| format!("{error}\n{query}\n{}\n{}", compiled.plan.sql(), plan.text()))
}

/// Every totals root, by each of its keys, with each of its sums and each term of its search.
fn totals(catalog: &Catalog) -> Vec<String> {
    let mut queries = Vec::new();
    for (root, binding) in catalog.fields_of(catalog.object(catalog.query()).unwrap()) {
        let Binding::Root(RootBinding::Totals(totals)) = binding else { continue };
        let name = &root.name;
        let keys: Vec<_> = totals.keys.iter().map(|key| key.value.as_str()).collect();
        let fields = |names: &[&str]| format!("groups {{ count {} }} rowCount complete endCursor", names.join(" "));
        for key in &keys {
            queries.push(format!("{{ {name}(first: 10, groupBy: {key}) {{ {} }} }}", fields(&[])));
        }
        let sums: Vec<_> = totals.sums.iter().map(|sum| sum.name.as_str()).collect();
        for term in totals.connection.search_keys.iter().flat_map(terms) {
            let arguments =
                format!("first: 10, rows: 500, orderBy: KEY, groupBy: [{}], query: \"{term}\"", keys.join(" "));
            queries.push(format!("{{ {name}({arguments}) {{ {} }} }}", fields(&sums)));
        }
    }
    queries
}

/// Every root, with no search, each term and each pair of terms.
fn searches(catalog: &Catalog) -> Vec<String> {
    let mut queries = Vec::new();
    for (root, connection) in collection_roots(catalog) {
        let fields = fields(catalog, connection.node.ty());
        let keys = &connection.search_keys;
        for sort_key in &connection.sort_keys {
            let order = format!("sortKey: {}", sort_key.name);
            let page = |arguments: String| {
                let fields =
                    format!("edges {{ cursor node {{ {fields} }} }} pageInfo {{ hasNextPage hasPreviousPage }} count");
                format!("{{ {root}({arguments}, countUpTo: 100) {{ {fields} }} }}")
            };
            for search in std::iter::once(String::new()).chain(keys.iter().flat_map(terms)) {
                let after = cursor(sort_key, false);
                queries.push(page(format!("first: 20, {order}, query: \"{search}\", after: \"{after}\"")));
                let before = cursor(sort_key, true);
                queries
                    .push(page(format!("last: 20, {order}, reverse: true, query: \"{search}\", before: \"{before}\"")));
            }
            for (number, key) in keys.iter().enumerate() {
                for other in &keys[number + 1..] {
                    let (first, second) = (terms(key).next().unwrap(), terms(other).last().unwrap());
                    queries.push(page(format!("first: 20, {order}, query: \"{first} {second}\"")));
                }
            }
        }
    }
    queries
}

/// A term with one value, one with several, and a range, as far as the key takes them.
fn terms(key: &SearchKey) -> impl Iterator<Item = String> {
    let value = match key.column.scalar {
        ScalarType::DateTime => "2026-01-01",
        ScalarType::Decimal | ScalarType::Int => "1",
        ScalarType::Boolean => "true",
        ScalarType::Id | ScalarType::String => "A1",
        other => panic!("{other}"),
    };
    let terms = [
        (Comparator::Equals, value.to_owned()),
        (Comparator::In, format!("{value},{value}")),
        (Comparator::GreaterOrEqual, format!(">={value}")),
    ];
    terms
        .into_iter()
        .filter(|(comparator, _)| key.comparators.contains(comparator))
        .map(|(_, value)| format!("{}:{value}", key.name))
}

/// A cursor of any row.
fn cursor(sort_key: &SortKey, is_reversed: bool) -> String {
    let mut encoder = Encoder::default();
    encoder.begin(if is_reversed { sort_key.tag.reversed() } else { sort_key.tag });
    for column in &sort_key.columns {
        match column.scalar {
            ScalarType::DateTime => encoder.timestamp(unix_micros(0)),
            ScalarType::Decimal => encoder.numeric(&numeric("1.00")),
            ScalarType::Int => encoder.int(1),
            ScalarType::Boolean => encoder.boolean(true),
            ScalarType::Id | ScalarType::String => encoder.text(b"A"),
            other => panic!("{other}"),
        }
    }
    let mut text = Vec::new();
    encoder.finish(&mut text);
    String::from_utf8(text).unwrap()
}

/// Every connection of every type, from either end, below a row of a page and below a row that was looked up.
fn connections(catalog: &Catalog) -> Vec<String> {
    let query = catalog.object(catalog.query()).unwrap();
    let mut queries = Vec::new();
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for (root, binding) in catalog.fields_of(query) {
        found.extend(
            entered(root, binding).map(|(start, end)| (root.ty.named(), format!("{{ {start}"), format!("{end} }}"))),
        );
    }
    while let Some((id, start, end)) = found.pop() {
        let Some((id, start, end)) = node(catalog, id).map(|id| (id, start, end)) else { continue };
        let is_lookup = start.matches('{').count() == 2;
        if seen.contains(&(id, is_lookup)) {
            continue;
        }
        seen.push((id, is_lookup));
        queries.push(format!("{start} {} {end}", fields(catalog, id)));
        for (field, binding) in catalog.fields_of(catalog.object(id).unwrap()) {
            let Some((inner_start, inner_end)) = entered(field, binding) else { continue };
            found.insert(0, (field.ty.named(), format!("{start} {inner_start}"), format!("{inner_end} {end}")));
            let Some(connection) = binding.connection() else { continue };
            for sort_key in &connection.sort_keys {
                for size in ["first", "last"] {
                    let order = if connection.sort_keys.len() > 1 {
                        format!(", sortKey: {}", sort_key.name)
                    } else {
                        String::new()
                    };
                    let page = format!(
                        "{}({size}: 5{order}) {{ edges {{ cursor node {{ {} }} }} pageInfo {{ hasNextPage hasPreviousPage }} }}",
                        field.name,
                        fields(catalog, connection.node.ty())
                    );
                    queries.push(format!("{start} {page} {end}"));
                }
            }
        }
    }
    queries
}

/// The text that selects the fields of the objects of a field, before and after these.
fn entered(field: &Field, binding: Binding<'_>) -> Option<(String, String)> {
    let name = &field.name;
    if binding.connection().is_some() {
        return Some((format!("{name}(first: 5) {{ edges {{ node {{"), "} } }".to_owned()));
    }
    match binding {
        Binding::Entity(EntityBinding::One(_)) => Some((format!("{name} {{"), "}".to_owned())),
        Binding::Root(RootBinding::Lookup(lookup)) => {
            let given = if lookup.alternatives { 1 } else { lookup.keys.len() };
            let mut arguments = String::new();
            for argument in field.arguments.iter().take(given) {
                write!(arguments, "{}: \"1\" ", argument.name).unwrap();
            }
            Some((format!("{name}({arguments}) {{"), "}".to_owned()))
        }
        _ => None,
    }
}

/// The type of the nodes of a connection's type, or the type itself.
fn node(catalog: &Catalog, id: TypeId) -> Option<TypeId> {
    let mut fields = catalog.fields_of(catalog.object(id)?);
    let edges = fields.find(|(_, binding)| matches!(binding, Binding::Connection(ConnectionField::Edges)));
    let Some((edges, _)) = edges else { return Some(id) };
    let mut fields = catalog.fields_of(catalog.object(edges.ty.named())?);
    Some(fields.find(|(_, binding)| matches!(binding, Binding::Edge(EdgeField::Node)))?.0.ty.named())
}

/// The scalar fields of a type, and those of the objects that are joined to it.
fn fields(catalog: &Catalog, id: TypeId) -> String {
    let scalars = |id: TypeId| {
        let own = catalog.fields_of(catalog.object(id).unwrap()).filter(|(_, binding)| {
            matches!(binding, Binding::Entity(EntityBinding::Column(_) | EntityBinding::Aggregate(_)))
        });
        own.map(|(field, _)| field.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let mut text = scalars(id);
    for (field, binding) in catalog.fields_of(catalog.object(id).unwrap()) {
        if let Binding::Entity(EntityBinding::One(one)) = binding {
            write!(text, " {} {{ {} }}", field.name, scalars(one.target.ty())).unwrap();
        }
    }
    text
}
