//! The catalogs that documents are generated for.

use std::env;
use std::sync::{Arc, OnceLock};

use orderql::catalog::Catalog;
use orderql::catalog::stored_type::{StoredType, StoredTypes};

use crate::support::catalog::{SCHEMA, catalog};

/// Names that need quotes, keys of several columns, and every kind of column.
pub const ODD: &str = include_str!("../../schemas/odd.graphql");

/// The built-in catalog and an odd one, or that of the schema file that the environment names.
pub fn catalogs() -> &'static [Arc<Catalog>] {
    static CATALOGS: OnceLock<Vec<Arc<Catalog>>> = OnceLock::new();
    CATALOGS.get_or_init(|| {
        let mut catalogs = vec![Arc::clone(catalog())];
        if env::var_os(SCHEMA).is_none() {
            catalogs.push(Arc::new(odd()));
        }
        catalogs
    })
}

fn odd() -> Catalog {
    let mut stored = StoredTypes::default();
    for (relation, column, ty) in [
        ("Odd Schema.thing", "id", StoredType::Int8),
        ("Odd Schema.thing", "uuid", StoredType::Uuid),
        ("Odd Schema.thing", "number", StoredType::Int2),
        ("Odd Schema.select", "LIMIT", StoredType::Numeric),
        ("Odd Schema.view of select", "LIMIT", StoredType::Int4),
        ("Odd Schema.thing of select", "id", StoredType::Int4),
    ] {
        stored.insert(relation, column, ty);
    }
    Catalog::parse(ODD).unwrap_or_else(|error| panic!("{error}")).with_stored_types(&stored)
}
