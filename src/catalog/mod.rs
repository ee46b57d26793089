//! What can be asked, and where it stands in the database.
//!
//! `grammar/schema.graphql` is read once into a [`Catalog`]: the types of the published schema, each field bound to a
//! column, a join, a connection or the machinery of connections. Later rooms hold small ids into it and never look at
//! SDL again.
//!
//! - [`schema`]: the types as GraphQL sees them
//! - [`binding`]: what a field stands for in the database
//! - [`source`]: the schema file, as written
//! - [`names`]: the types that come of it, by name and id
//! - [`build`]: from the file to the catalog
//! - [`connection`]: what comes with every list: the arguments and types of its pages
//! - [`introspection`]: what the schema tells of itself
//! - [`metatypes`]: the types by which it does
//! - [`sdl`]: from the catalog to the published SDL

pub mod binding;
pub mod build;
pub mod connection;
pub mod introspection;
pub mod metatypes;
pub mod names;
pub mod schema;
pub mod sdl;
pub mod sdl_source;

use std::collections::HashMap;

use binding::{Binding, Entity};
use schema::{Directive, Field, FieldId, ObjectType, Type, TypeId};

/// The schema file that this version of orderql was made with.
pub const BUILT_IN: &str = include_str!("../../grammar/schema.graphql");

/// The types of the schema, with their bindings. Made by [`Catalog::parse`]; never changes.
#[derive(Debug)]
pub struct Catalog {
    types: Vec<Type>,
    /// How many of the types are the schema's own; those of introspection follow.
    own: usize,
    directives: Vec<Directive>,
    by_name: HashMap<String, TypeId>,
    query: TypeId,
    sdl: String,
}

impl Catalog {
    /// Reads a schema file.
    pub fn parse(text: &str) -> Result<Self, sdl_source::SchemaError> {
        let source = sdl_source::read(text)?;
        build::build(&source)
    }

    /// The catalog of [`BUILT_IN`].
    pub fn built_in() -> Result<Self, sdl_source::SchemaError> {
        Self::parse(BUILT_IN)
    }

    /// The schema definition language text that is published: bindings left out, search and sort keys told.
    pub fn sdl(&self) -> &str {
        &self.sdl
    }

    /// Every type of the schema's own, in the order of publication.
    pub fn types(&self) -> &[Type] {
        &self.types[..self.own]
    }

    /// The id of every type, those of introspection behind the schema's own.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> {
        (0..).take(self.types.len()).map(TypeId)
    }

    /// Every directive that documents or schemas may hold.
    pub fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// The type that queries begin at.
    pub fn query(&self) -> TypeId {
        self.query
    }

    /// The type of that id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The type of that name.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// The object type of that id, where it is one.
    pub fn object(&self, id: TypeId) -> Option<&ObjectType> {
        match self.get(id) {
            Type::Object(object) => Some(object),
            Type::Scalar(_) | Type::Enum(_) => None,
        }
    }

    /// The field of that id.
    pub fn field(&self, id: FieldId) -> &Field {
        match self.get(id.object) {
            Type::Object(object) => object.field(id.index),
            Type::Scalar(_) | Type::Enum(_) => unreachable!("a field id is made from an object's own fields"),
        }
    }

    /// The table or view of a type that stands in the database.
    pub fn entity(&self, id: TypeId) -> Option<&Entity> {
        self.object(id)?.entity.as_ref()
    }

    /// Every field of every object type, in the order of publication.
    pub fn fields(&self) -> impl Iterator<Item = (&ObjectType, &Field, &Binding)> {
        self.types()
            .iter()
            .filter_map(Type::as_object)
            .flat_map(|object| object.fields.iter().map(move |field| (object, field, &field.binding)))
    }
}
