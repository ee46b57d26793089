//! All pages of a connection, in both directions and with several sizes, against all its rows at once.

use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::connection::Connection;
use serde_json::json;

use crate::execute::random_queries::check::Checker;
use crate::support::built_in::collection_roots;
use crate::support::naive_resolver::json::Json;
use crate::support::naive_resolver::tables::{Cell, Tables};
use crate::support::random::Random;

/// The most pages of one direction. Connections with more rows have larger pages.
const PAGES: usize = 25;

/// A connection in an order, perhaps searched.
pub struct Pagination {
    /// A query with `*` for the connection.
    around: String,
    field: String,
    /// The arguments that every page has, each with a trailing comma.
    arguments: String,
    /// What a node selects.
    node: String,
    size: usize,
}

/// A page of a response.
struct Page {
    edges: Vec<Json>,
    has_previous: Json,
    has_next: Json,
    start: Json,
    end: Json,
}

impl Pagination {
    /// A random collection root, or a connection of a row.
    pub fn random(random: &mut Random, catalog: &Catalog, tables: &Tables) -> Self {
        let roots = collection_roots(catalog);
        let (root, connection) = *random.pick(&roots);
        let size = *random.pick(&[1, 2, 3, 7]);
        if random.chance(40)
            && let Some(nested) = Self::nested(random, catalog, tables, size)
        {
            return nested;
        }
        let sort_key = random.pick(&connection.sort_keys).name.clone();
        let mut arguments = format!("sortKey: {sort_key}, reverse: {}, ", random.chance(50));
        if random.chance(50)
            && let Some(search) = search(random, tables, connection)
        {
            let _ = write!(arguments, "query: {}, ", json!(search));
        }
        let node = leaves(catalog, connection);
        Self { around: "{ * }".to_owned(), field: root.to_owned(), arguments, node, size }
    }

    /// A connection below an order.
    fn nested(random: &mut Random, catalog: &Catalog, tables: &Tables, size: usize) -> Option<Self> {
        let order = catalog.object(catalog.named("Order")?)?;
        let fields = catalog.fields_of(order);
        let fields: Vec<_> = fields.filter_map(|(field, binding)| Some((&field.name, binding.connection()?))).collect();
        let (field, connection) = *random.pick(&fields);
        // An order that has some.
        let table = tables.get(&connection.relation);
        let row = table.all().nth(random.below(table.rows.len().max(1)))?;
        let Cell::Text(order) = row.get(connection.join.to.first()?) else { return None };
        let (around, node) = (format!("{{ order(orderId: {}) {{ * }} }}", json!(order)), leaves(catalog, connection));
        Some(Self { around, field: field.clone(), arguments: String::new(), node, size })
    }

    /// Panics unless the pages together have all rows in both directions.
    pub async fn check(&self, checker: &Checker<'_>) {
        let [all, expected] = self.read(checker, "first: 10000").await;
        assert_eq!(all.edges, expected.edges, "{}", self.query("first: 10000"));
        let size = self.size.max(all.edges.len().div_ceil(PAGES));
        for (end, beyond) in [("first", "after"), ("last", "before")] {
            let mut seen: Vec<Json> = Vec::new();
            let mut page = format!("{end}: {size}");
            loop {
                let [found, expected] = self.read(checker, &page).await;
                let query = self.query(&page);
                assert_eq!(found.edges, expected.edges, "{query}");
                let flags = |page: &Page| (page.has_previous.clone(), page.has_next.clone());
                assert_eq!(flags(&found), flags(&expected), "{query}");
                let (more, cursor, place) = if end == "first" {
                    (&found.has_next, &found.end, seen.len())
                } else {
                    (&found.has_previous, &found.start, 0)
                };
                let (is_last, length) = (*more != Json::Boolean(true), found.edges.len());
                if let Json::Text(cursor) = cursor {
                    page = format!("{end}: {size}, {beyond}: {}", json!(cursor));
                }
                seen.splice(place..place, found.edges);
                if is_last {
                    break;
                }
                assert!(length > 0 && seen.len() < all.edges.len(), "{query}");
            }
            assert_eq!(seen, all.edges, "{}", self.query(&page));
        }
    }

    fn query(&self, page: &str) -> String {
        let Self { around, field, arguments, node, .. } = self;
        let field = format!(
            "found: {field}({arguments}{page}) {{ edges {{ cursor node {{ {node} }} }} \
             pageInfo {{ hasPreviousPage hasNextPage startCursor endCursor }} }}"
        );
        around.replace('*', &field)
    }

    async fn read(&self, checker: &Checker<'_>, page: &str) -> [Page; 2] {
        checker.both(&self.query(page)).await.map(|data| Page::read(&data))
    }
}

impl Page {
    /// The page in a response; an order that does not exist has none.
    fn read(data: &Json) -> Self {
        let Json::Object(fields) = data else { panic!("{data:?}") };
        let (key, value) = &fields[0];
        if key != "found" {
            return Self::read(value);
        }
        let get = |value: &Json, key: &str| -> Json {
            let Json::Object(fields) = value else { panic!("{value:?}") };
            fields.iter().find(|(other, _)| other == key).unwrap().1.clone()
        };
        let Json::List(edges) = get(value, "edges") else { panic!("{value:?}") };
        let info = get(value, "pageInfo");
        Self {
            edges,
            has_previous: get(&info, "hasPreviousPage"),
            has_next: get(&info, "hasNextPage"),
            start: get(&info, "startCursor"),
            end: get(&info, "endCursor"),
        }
    }
}

/// Up to three fields of a connection's nodes.
pub fn leaves(catalog: &Catalog, connection: &Connection) -> String {
    let node = catalog.object(connection.node.ty()).unwrap();
    let columns = catalog.fields_of(node).filter(|(_, binding)| binding.column().is_some());
    columns.take(3).map(|(field, _)| field.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// A search for the value of a row.
fn search(random: &mut Random, tables: &Tables, connection: &Connection) -> Option<String> {
    let key = connection.search_keys.get(random.below(connection.search_keys.len().max(1)))?;
    let table = tables.get(connection.relation_of(key));
    let row = table.all().nth(random.below(table.rows.len().max(1)))?;
    let value = match row.get(&key.column.name) {
        Cell::Text(text) if !text.contains('\'') && !text.is_empty() => text.clone(),
        Cell::Moment(_, text) => text.clone(),
        _ => return None,
    };
    let is_range = !key.comparators.contains(&orderql::search::Comparator::Equals);
    let sign = if is_range { *random.pick(&[">", ">=", "<", "<="]) } else { "" };
    Some(format!("{}:{sign}'{value}'", key.name))
}
