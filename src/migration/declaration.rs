//! The declared state of a database.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::migration::indexes;
use crate::migration::object::{DeclaredObject, hash};
use crate::migration::reference::Reference;
use crate::migration::table::MigratedTable;

/// Grows with each change of the declaration, so that the older one of two versions is known. A test compares it with the files.
pub(super) const STATE: i32 = 49;

/// The texts of the tables of the service, and of its other objects.
const SERVICE: [&str; 3] = [
    include_str!("declared/service_tables.txt"),
    include_str!("declared/service.sql"),
    include_str!("declared/change_feeds.sql"),
];

/// The texts of the tables of orders, and of their other objects.
const ORDERS: [&str; 6] = [
    include_str!("declared/tables.txt"),
    include_str!("declared/references.txt"),
    include_str!("declared/functions.sql"),
    include_str!("declared/views.sql"),
    include_str!("declared/triggers.sql"),
    include_str!("declared/rows.sql"),
];

/// The objects that earlier versions made and this version does not need.
pub(super) const OBSOLETE: &str = include_str!("declared/obsolete.sql");

/// Which tables are migrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableScope {
    /// The objects of orders and of the service.
    All,
    /// The objects of the service alone.
    Service,
}

/// The declared tables and objects of a scope, in the order in which they are made. [`indexes`] has the indexes.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) tables: Vec<MigratedTable>,
    pub(super) references: Vec<Reference>,
    pub(super) objects: Vec<DeclaredObject>,
}

static SERVICE_ALONE: LazyLock<Declaration> = LazyLock::new(|| {
    let [tables, service, feeds] = SERVICE;
    let objects = [DeclaredObject::read(feeds), DeclaredObject::read(service)].concat();
    Declaration { tables: MigratedTable::read(tables), references: Vec::new(), objects }
});

static ALL: LazyLock<Declaration> = LazyLock::new(|| {
    let [tables, references, objects @ ..] = ORDERS;
    let service = &*SERVICE_ALONE;
    let objects = objects.into_iter().flat_map(DeclaredObject::read);
    Declaration {
        tables: service.tables.iter().cloned().chain(MigratedTable::read(tables)).collect(),
        references: Reference::read(references),
        objects: service.objects.iter().cloned().chain(objects).collect(),
    }
});

impl Declaration {
    /// The declaration of a scope.
    pub(super) fn of(scope: TableScope) -> &'static Self {
        match scope {
            TableScope::All => &ALL,
            TableScope::Service => &SERVICE_ALONE,
        }
    }

    /// The columns that orderql adds to OFBiz's tables, and that no other program needs.
    pub(super) fn own_columns() -> BTreeSet<&'static str> {
        let columns = ALL.tables.iter().filter(|table| table.is_of_ofbiz()).flat_map(|table| &table.columns);
        columns.map(|column| column.name).filter(|name| name.starts_with("orderql_")).collect()
    }
}

/// A hash over all that is declared, for caches of migrated databases.
pub fn fingerprint() -> String {
    let texts = SERVICE.iter().chain(&ORDERS).chain([&indexes::LIST]);
    hash(&texts.copied().collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;

    #[test]
    fn the_state_grows_with_what_is_declared() {
        let known = (49, "5dcd8cf60abaef2d");
        assert_eq!((STATE, &*fingerprint()), known, "if a release has the state before, STATE must be higher by one");
    }

    #[test]
    fn each_object_is_declared_once() {
        let declaration = Declaration::of(TableScope::All);
        let mut ids = HashSet::new();
        for object in &declaration.objects {
            let form = object.condition.map(|condition| condition.is_there);
            assert!(ids.insert(format!("{} {form:?}", object.id())), "{}", object.id());
        }
        for table in &declaration.tables {
            assert!(ids.insert(table.name.clone()), "{}", table.name);
        }
        for reference in &declaration.references {
            assert!(ids.contains(&format!("public.{}", reference.table)), "{reference:?}");
        }
        assert!(Declaration::of(TableScope::Service).tables.iter().all(|table| !table.is_of_ofbiz()));
        assert_eq!(Declaration::own_columns(), BTreeSet::from(["orderql_product_store_id"]));
    }
}
