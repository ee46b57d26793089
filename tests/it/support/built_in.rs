//! Lists from the built-in schema, so that tests need no copies of them.

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, Connection};

/// The collection fields of the query type, with their connections.
pub fn collection_roots(catalog: &Catalog) -> Vec<(&str, &Connection)> {
    let fields = catalog.object(catalog.query()).unwrap().fields.iter();
    fields
        .filter_map(|field| match &field.binding {
            Binding::Connection(connection) => Some((field.name.as_str(), connection)),
            _ => None,
        })
        .collect()
}

/// The names of the search keys of a collection root, in their order.
pub fn search_keys(root: &str) -> Vec<String> {
    let catalog = Catalog::built_in().unwrap();
    let (_, connection) = collection_roots(&catalog).into_iter().find(|(name, _)| *name == root).unwrap();
    connection.search_keys.iter().map(|key| key.name.clone()).collect()
}
