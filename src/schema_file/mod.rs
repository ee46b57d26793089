//! Schema files: what a catalog is made from.
//!
//! A schema file is SDL whose directives bind types and fields to relations and columns. It is read once, as a [`SchemaFile`]. A
//! [`Catalog`] is made of it for each set of the grants and scopes that callers have.
//!
//! - `sdl_reader`, `binding_arguments`: text → `definition`: types and fields with references unresolved
//! - `compared_columns`: whether the columns that statements compare can be compared
//! - `scopes`: the scopes that a file declares
//! - `visibility`: the definitions without what some callers do not see
//! - `build`: definitions → catalog
//! - [`error`]: why a schema file cannot be used

mod binding_arguments;
mod build;
mod compared_columns;
mod definition;
pub mod error;
mod scopes;
mod sdl_reader;
mod visibility;

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::catalog::grant_set::{GrantSet, MAX_GRANTS};
use crate::catalog::scope::ScopeSet;
use crate::catalog::scope_rules::{Scopes, Sight};
use crate::schema_file::definition::SchemaDefinition;
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::schema_file::visibility::visible;

/// The built-in schema file.
pub const BUILT_IN: &str = include_str!("../../grammar/schema.graphql");

impl Catalog {
    /// Reads a schema file and resolves it. Fails at the first error in the file.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        SchemaFile::parse(text)?.catalog()
    }

    /// The catalog of [`BUILT_IN`].
    pub fn built_in() -> Result<Self, SchemaError> {
        Self::parse(BUILT_IN)
    }
}

/// A schema file that has been read.
#[derive(Debug)]
pub struct SchemaFile {
    definition: SchemaDefinition,
    /// The names of its grants, sorted.
    grants: Vec<String>,
    scopes: Scopes,
}

impl SchemaFile {
    /// Reads a schema file. Fails at the first error that shows without resolving references, or if it hides a column that
    /// cursors tell.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let definition = sdl_reader::read(text)?;
        check_keys(&definition)?;
        let grants: Vec<_> = grants(&definition).into_iter().collect();
        if grants.len() > MAX_GRANTS {
            return Err(SchemaError::new(SchemaError::START, SchemaErrorKind::TooManyGrants));
        }
        let scopes = scopes::read(&definition, &grants)?;
        Ok(Self { definition, grants, scopes })
    }

    /// The names that no enum of a schema file can have, as the arguments of the directives have such enums.
    #[cfg(feature = "server")]
    pub(crate) const DIRECTIVE_ENUMS: &[&str] = &sdl_reader::DIRECTIVE_ENUMS;

    /// The enums of column values that it defines, whether it uses them or not.
    #[cfg(feature = "server")]
    pub(crate) fn enums(&self) -> impl Iterator<Item = crate::value::Enumeration> {
        self.definition.enums.iter().map(|definition| definition.enumeration)
    }

    /// The names of its grants, sorted.
    pub fn grants(&self) -> &[String] {
        &self.grants
    }

    /// The names of its scopes, sorted.
    pub fn scopes(&self) -> &[String] {
        &self.scopes.names
    }

    /// The conditions under which a row of a relation is seen, in words; empty if all rows are.
    pub fn limits(&self, relation: &str) -> String {
        self.scopes.describe(relation)
    }

    /// A catalog of the file for callers who are limited by these scopes: where it reads a relation in one of them, it reads the rows that
    /// the callers see. Some rows belong to rows of a type that needs a grant. A caller without this grant does not see them, either.
    #[must_use]
    pub fn limit(&self, catalog: Catalog, limiting: ScopeSet) -> Catalog {
        let sight = Sight { limiting, held: catalog.held().unwrap_or_else(|| self.all_grants()) };
        if self.scopes.limits(sight) { catalog.limited(&self.scopes, sight) } else { catalog }
    }

    /// The parts that have a grant: types, fields, and search keys of roots, in the order of the file.
    pub fn places(&self, grant: &str) -> Vec<String> {
        let has = |grants: &[String]| grants.iter().any(|name| name == grant);
        let mut places = Vec::new();
        for ty in &self.definition.types {
            places.extend(has(&ty.grants).then(|| ty.name.clone()));
            for field in &ty.fields {
                let place = format!("{}.{}", ty.name, field.name);
                let keys = field.search_keys.iter().filter(|key| has(&key.grants));
                places.extend(keys.map(|key| format!("{place}(query: \"{}:\")", key.name)));
                places.extend(has(&field.grants).then_some(place));
            }
        }
        places
    }

    /// Its grants for which `holds` returns true.
    pub fn held(&self, holds: impl Fn(&str) -> bool) -> GrantSet {
        GrantSet::of(&self.grants, holds)
    }

    /// All of its grants.
    pub fn all_grants(&self) -> GrantSet {
        self.held(|_| true)
    }

    /// The catalog of the whole file. Fails at the first reference that cannot be resolved.
    pub fn catalog(&self) -> Result<Catalog, SchemaError> {
        build::build(&self.definition)
    }

    /// The catalog for callers who hold these grants and no others: without parts that need other grants, and without parts that would show
    /// that those exist. Its rows are limited by [`SchemaFile::limit`] alone. Fails if the whole file has no catalog.
    pub fn view(&self, held: GrantSet) -> Result<Catalog, SchemaError> {
        if held == self.all_grants() {
            return self.catalog();
        }
        let is_held = |name: &String| self.held(|other| other == name).bits() & held.bits() != 0;
        let visible = visible(&self.definition, |grants| grants.is_empty() || grants.iter().any(is_held));
        Ok(build::build(&visible)?.with_grants(held))
    }
}

/// Fails if a field of a key column is hidden from some who see its type.
fn check_keys(schema: &SchemaDefinition) -> Result<(), SchemaError> {
    for ty in &schema.types {
        let key = ty.relation.as_ref().map_or(&[][..], |relation| &relation.key);
        for field in ty.fields.iter().filter(|field| !field.grants.is_empty()) {
            if let Some(column) = key.iter().find(|column| field.shows(column)) {
                let (ty, field_name, column) = (ty.name.clone(), field.name.clone(), column.clone());
                let kind = SchemaErrorKind::HiddenKey { ty, field: field_name, column };
                return Err(SchemaError::new(field.position, kind));
            }
        }
    }
    Ok(())
}

/// The names of all grants.
fn grants(schema: &SchemaDefinition) -> BTreeSet<String> {
    let fields = schema.types.iter().flat_map(|ty| &ty.fields);
    let of_fields =
        fields.flat_map(|field| field.grants.iter().chain(field.search_keys.iter().flat_map(|key| &key.grants)));
    schema.types.iter().flat_map(|ty| &ty.grants).chain(of_fields).cloned().collect()
}
