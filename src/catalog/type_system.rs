//! The catalog: the types and directives of a schema, by id and by name.

use std::collections::HashMap;

use crate::catalog::binding::{Binding, Entity};
use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::{Directive, Field, ObjectType, Type, TypeRef};
use crate::catalog::search_window::SearchWindow;
use crate::catalog::stored_type::StoredTypes;

/// The types of a schema, each field bound to the database. Immutable once built.
#[derive(Debug)]
pub struct Catalog {
    /// The schema's own types in the order of publication, then those of introspection.
    pub(super) types: Vec<Type>,
    /// How many of the types are the schema's own.
    pub(super) own_types: usize,
    pub(super) directives: Vec<Directive>,
    pub(super) by_name: HashMap<String, TypeId>,
    pub(super) query: TypeId,
    pub(super) description: String,
    pub(super) sdl: String,
    pub(super) search_window: SearchWindow,
}

impl Catalog {
    /// The published SDL: without binding directives, with search and sort keys.
    pub fn sdl(&self) -> &str {
        &self.sdl
    }

    /// What the schema has and how it is used, in Markdown.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How many rows a search may examine.
    pub fn search_window(&self) -> SearchWindow {
        self.search_window
    }

    /// The same catalog with another search window.
    #[must_use]
    pub fn with_search_window(self, search_window: SearchWindow) -> Self {
        Self { search_window, ..self }
    }

    /// The same catalog for a database that stores columns so.
    #[must_use]
    pub fn with_stored_types(mut self, stored: &StoredTypes) -> Self {
        for ty in &mut self.types {
            let Type::Object(object) = ty else { continue };
            let relation = object.entity.as_ref().map_or("", |entity| entity.relation.as_str());
            for field in &mut object.fields {
                field.binding.set_stored_types(relation, stored);
            }
        }
        self
    }

    /// The schema's own types, in the order of publication.
    pub fn types(&self) -> &[Type] {
        &self.types[..self.own_types]
    }

    /// The ids of all types, those of introspection included.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> {
        (0..).take(self.types.len()).map(TypeId)
    }

    /// The directives of documents and schemas.
    pub fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// The query root type.
    pub fn query(&self) -> TypeId {
        self.query
    }

    /// The type with that id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The id of the type with that name.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// The object type with that id; `None` for scalars and enums.
    pub fn object(&self, id: TypeId) -> Option<&ObjectType> {
        self.get(id).as_object()
    }

    /// The field with that id.
    pub fn field(&self, id: FieldId) -> &Field {
        match self.get(id.object) {
            Type::Object(object) => object.field(id.index),
            Type::Scalar(_) | Type::Enum(_) => unreachable!("a field id is made from an object's own fields"),
        }
    }

    /// The table or view that a type is bound to.
    pub fn entity(&self, id: TypeId) -> Option<&Entity> {
        self.object(id)?.entity.as_ref()
    }

    /// Every field of the schema's own object types, in the order of publication.
    pub fn fields(&self) -> impl Iterator<Item = (&ObjectType, &Field, &Binding)> {
        self.types()
            .iter()
            .filter_map(Type::as_object)
            .flat_map(|object| object.fields.iter().map(move |field| (object, field, &field.binding)))
    }
}

impl TypeRef {
    /// The type reference in SDL notation.
    pub fn display(&self, catalog: &Catalog) -> String {
        match self {
            Self::Named(id) => catalog.get(*id).name().to_owned(),
            Self::List(inner) => format!("[{}]", inner.display(catalog)),
            Self::NonNull(inner) => format!("{}!", inner.display(catalog)),
        }
    }
}
