//! The searches that only a window serves: what they need to find every row in one page.

use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::connection::Connection;
use crate::catalog::search_key::SearchKey;
use crate::plan::sql::{Identifier, List, Relation};

/// A search key without an index of its own. A search by it examines the rows in the page's order, as many as the search
/// window allows. Its `Display` says for which sort keys, and how to change that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WindowSearch {
    /// The collection root.
    pub root: String,
    /// The search key.
    pub key: String,
    /// The sort keys in whose order it is served so.
    pub sort_keys: Vec<String>,
    /// The relation of the key's column.
    pub relation: String,
    /// The columns of an index that would serve it.
    pub columns: Vec<String>,
}

/// Every such search of a catalog, in the order of publication.
pub(crate) fn window_searches(catalog: &Catalog) -> Vec<WindowSearch> {
    let mut searches = Vec::new();
    for (field, binding) in catalog.root_fields() {
        // Nested connections have no search keys.
        if let Some(connection) = binding.connection() {
            let keys = connection.search_keys.iter();
            searches.extend(keys.filter_map(|key| window_search(&field.name, connection, key)));
        }
    }
    searches
}

fn window_search(root: &str, connection: &Connection, key: &SearchKey) -> Option<WindowSearch> {
    let is_own = key.semi_join.is_none();
    let sort_keys = connection.sort_keys.iter().filter(|sort| !(is_own && sort.columns[0].name == key.column.name));
    let sort_keys: Vec<_> = sort_keys.map(|sort| sort.name.clone()).collect();
    if key.lookup || sort_keys.is_empty() {
        return None;
    }
    let first = std::iter::once(key.column.name.clone());
    let (relation, columns) = if let Some(join) = &key.semi_join {
        (&join.relation, first.chain(join.by.iter().cloned()).collect())
    } else {
        let rest = connection.sort_keys[0].columns.iter().map(|column| column.name.clone());
        (&connection.relation, first.chain(rest.filter(|column| *column != key.column.name)).collect())
    };
    let (root, key, relation) = (root.to_owned(), key.name.clone(), relation.clone());
    Some(WindowSearch { root, key, sort_keys, relation, columns })
}

impl fmt::Display for WindowSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, key, sort_keys, relation, columns } = self;
        write!(f, "{root}(query: \"{key}:…\") in the order of {}: ", List(sort_keys.iter()))?;
        let columns = List(columns.iter().map(|column| Identifier(column)));
        write!(
            f,
            "an index on {} ({columns}) would serve it, with `lookup: true` in the schema file",
            Relation(relation)
        )
    }
}
