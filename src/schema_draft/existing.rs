//! The declarations of an existing schema file.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, EntityBinding};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join};
use crate::schema_file::SchemaFile;
use crate::schema_file::error::SchemaError;
use crate::value::{Enumeration, ScalarType};

/// The declarations of a schema file.
#[derive(Debug, Default)]
pub(super) struct Existing {
    /// The names of all types, also of types that follow from others.
    pub(super) names: Vec<String>,
    pub(super) types: Vec<ExistingType>,
    pub(super) roots: Vec<ExistingRoot>,
    /// The enums of column values, used or not.
    pub(super) enums: Vec<Enumeration>,
}

/// A type of a relation.
#[derive(Debug)]
pub(super) struct ExistingType {
    pub(super) name: String,
    pub(super) relation: String,
    pub(super) key: Vec<String>,
    pub(super) fields: Vec<ExistingField>,
}

#[derive(Debug)]
pub(super) struct ExistingField {
    pub(super) name: String,
    /// The column, if it shows one, and its scalar.
    pub(super) column: Option<(String, ScalarType)>,
    /// The joined rows, if it has some.
    pub(super) join: Option<ExistingJoin>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExistingJoin {
    /// The name of the joined type.
    pub(super) target: String,
    pub(super) is_list: bool,
    /// Each column of the row, and the column of the joined rows that equals it. Their order in the file does not matter.
    pub(super) pairs: BTreeSet<(String, String)>,
}

#[derive(Debug)]
pub(super) struct ExistingRoot {
    pub(super) name: String,
    /// The name of the type of its rows, if it is a lookup or a list.
    pub(super) ty: Option<String>,
    pub(super) is_list: bool,
    /// The names and columns of its keys.
    pub(super) search_keys: Vec<(String, String)>,
    pub(super) sort_keys: Vec<(String, String)>,
}

impl Existing {
    /// The declarations of a file. Fails if it is no schema file.
    pub(super) fn read(text: &str) -> Result<Self, SchemaError> {
        let file = SchemaFile::parse(text)?;
        let catalog = &file.catalog()?;
        let mut existing = Self { enums: file.enums().collect(), ..Self::default() };
        existing.names.extend(catalog.types().iter().map(|ty| ty.name().to_owned()));
        existing.names.extend(file.enums().map(|one| one.name().to_owned()));
        for (object, entity) in catalog.entities() {
            let fields = catalog.fields_of(object).map(|(field, binding)| ExistingField {
                name: field.name.clone(),
                column: binding.column().map(|column| (column.name.clone(), column.scalar)),
                join: join(catalog, binding),
            });
            existing.types.push(ExistingType {
                name: object.name.clone(),
                relation: entity.relation.clone(),
                key: names(&entity.key),
                fields: fields.collect(),
            });
        }
        for (field, binding) in catalog.root_fields() {
            let mut root = ExistingRoot {
                name: field.name.clone(),
                ty: None,
                is_list: false,
                search_keys: Vec::new(),
                sort_keys: Vec::new(),
            };
            if let Some(lookup) = binding.lookup() {
                root.ty = Some(catalog.entity_type(lookup.target).name.clone());
            } else if let Some(connection) = binding.connection() {
                (root.ty, root.is_list) = (Some(catalog.entity_type(connection.node).name.clone()), true);
                root.search_keys = search_keys(connection);
                let keys = connection.sort_keys.iter();
                root.sort_keys = keys.map(|key| (key.name.clone(), key.columns[0].name.clone())).collect();
            }
            existing.roots.push(root);
        }
        Ok(existing)
    }

    /// The type of a relation.
    pub(super) fn of_relation(&self, relation: &str) -> Option<&ExistingType> {
        self.types.iter().find(|ty| ty.relation == relation)
    }

    /// The list, or the lookup, of a type.
    pub(super) fn root_of(&self, ty: &str, is_list: bool) -> Option<&ExistingRoot> {
        self.roots.iter().find(|root| root.ty.as_deref() == Some(ty) && root.is_list == is_list)
    }
}

impl ExistingType {
    /// The field that shows a column.
    pub(super) fn of_column(&self, column: &str) -> Option<&ExistingField> {
        self.fields.iter().find(|field| field.column.as_ref().is_some_and(|(name, _)| name == column))
    }
}

/// Keys on columns of the rows themselves.
fn search_keys(connection: &Connection) -> Vec<(String, String)> {
    let own = connection.search_keys.iter().filter(|key| key.semi_join.is_none());
    own.map(|key| (key.name.clone(), key.column.name.clone())).collect()
}

fn join(catalog: &Catalog, binding: Binding<'_>) -> Option<ExistingJoin> {
    let (target, is_list, Join { by, to, .. }) = match binding {
        Binding::Entity(EntityBinding::One(one)) => (one.target, false, &one.join),
        Binding::Entity(EntityBinding::Connection(connection)) => (connection.node, true, &connection.join),
        _ => return None,
    };
    let target = catalog.entity_type(target).name.clone();
    Some(ExistingJoin { target, is_list, pairs: names(by).into_iter().zip(to.iter().cloned()).collect() })
}

fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone()).collect()
}
