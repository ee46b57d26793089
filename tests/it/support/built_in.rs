//! Lists from the built-in schema, so that tests need no copies of them.

use orderql::catalog::Catalog;
use orderql::catalog::connection::Connection;

/// The collection fields of the query type, with their connections.
pub fn collection_roots(catalog: &Catalog) -> Vec<(&str, &Connection)> {
    let fields = catalog.fields_of(catalog.object(catalog.query()).unwrap());
    fields.filter_map(|(field, binding)| Some((field.name.as_str(), binding.connection()?))).collect()
}

/// The names of the search keys of a collection root, in their order.
pub fn search_keys(root: &str) -> Vec<String> {
    let catalog = Catalog::built_in().unwrap();
    let (_, connection) = collection_roots(&catalog).into_iter().find(|(name, _)| *name == root).unwrap();
    connection.search_keys.iter().map(|key| key.name.clone()).collect()
}
