//! Lists from the built-in schema, so that tests need no copies of them.

use orderql::catalog::Catalog;
use orderql::catalog::connection::Connection;
use orderql::catalog::stored_type::{StoredType, StoredTypes};
use orderql::value::ScalarType;

/// The built-in schema as a server has it that looked at a database: OFBiz stores whole numbers as `numeric`.
pub fn catalog() -> Catalog {
    let catalog = Catalog::built_in().unwrap();
    let mut stored = StoredTypes::default();
    for (_, connection) in collection_roots(&catalog) {
        let columns = connection.sort_keys.iter().flat_map(|sort_key| &sort_key.columns);
        for column in columns.filter(|column| column.scalar == ScalarType::Int) {
            stored.insert(&connection.relation, &column.name, StoredType::Numeric);
        }
    }
    catalog.with_stored_types(&stored)
}

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
