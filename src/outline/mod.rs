//! A published schema as its readers know it: types, fields, arguments and search keys, without what is behind them.
//!
//! - `parse`: the outline of a published SDL
//! - `connection`: the types that all connections have alike
//! - `short_sdl`: the outline as a short text, or a type of it
//! - `search`: the fields that some words mean, ranked
//! - `paths`: the fields of an outline, each with its way from a root
//! - `typed_paths`: the paths of a response whose values have a type

mod connection;
mod parse;
mod paths;
pub mod search;
mod short_sdl;
pub mod typed_paths;

use std::collections::HashMap;

use thiserror::Error;

/// The name of the type that queries begin with.
pub(crate) const ROOT: &str = "Query";

/// A published schema.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    types: Vec<OutlineType>,
    by_name: HashMap<String, usize>,
}

/// A type.
#[derive(Debug, Clone)]
pub struct OutlineType {
    /// As other types refer to it.
    pub name: String,
    /// The first sentence of its description.
    pub summary: String,
    /// What it consists of.
    pub kind: TypeKind,
}

/// What a type consists of.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// Values without parts.
    Scalar,
    /// One of these names.
    Enum(Vec<String>),
    /// Fields.
    Object(Vec<OutlineField>),
}

/// A field.
#[derive(Debug, Clone)]
pub struct OutlineField {
    /// As queries select it.
    pub name: String,
    /// The first sentence of its description.
    pub summary: String,
    /// Its type.
    pub ty: TypeReference,
    /// In the order of the schema.
    pub arguments: Vec<OutlineArgument>,
    /// The keys that its argument `query` takes.
    pub search_keys: Vec<OutlineKey>,
}

/// An argument of a field.
#[derive(Debug, Clone)]
pub struct OutlineArgument {
    /// As queries give it.
    pub name: String,
    /// Its type.
    pub ty: TypeReference,
}

/// A use of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeReference {
    /// As it is written, such as `[ID!]`.
    pub text: String,
    /// The type's name alone.
    pub named: String,
}

/// A key of searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineKey {
    /// As search strings have it before the colon.
    pub name: String,
    /// Whether it takes ranges, and no single values.
    pub is_range: bool,
}

/// The text is no published schema.
#[derive(Debug, Error)]
#[error("this is no published schema")]
pub struct OutlineError(#[from] graphql_parser::schema::ParseError);

impl Outline {
    fn new(types: Vec<OutlineType>) -> Self {
        let by_name = types.iter().enumerate().map(|(index, ty)| (ty.name.clone(), index)).collect();
        Self { types, by_name }
    }

    /// The type with that name.
    pub fn get(&self, name: &str) -> Option<&OutlineType> {
        self.types.get(*self.by_name.get(name)?)
    }

    /// The fields of the type with that name; none if it has none.
    pub fn fields(&self, name: &str) -> &[OutlineField] {
        match self.get(name) {
            Some(OutlineType { kind: TypeKind::Object(fields), .. }) => fields,
            _ => &[],
        }
    }

    /// A field of a type.
    pub fn field(&self, type_name: &str, name: &str) -> Option<&OutlineField> {
        self.fields(type_name).iter().find(|field| field.name == name)
    }

    /// The first type that has a field of that name; the roots are looked through first.
    pub fn type_with_field(&self, field: &str) -> Option<&str> {
        let has = |ty: &&str| self.field(ty, field).is_some();
        [ROOT].into_iter().chain(self.types.iter().map(|ty| ty.name.as_str())).find(has)
    }

    /// The fields that queries begin with.
    pub fn roots(&self) -> &[OutlineField] {
        self.fields(ROOT)
    }
}

impl OutlineField {
    /// Its argument with that name.
    pub fn argument(&self, name: &str) -> Option<&OutlineArgument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}
