//! A published schema for its readers: types, fields, arguments and search keys, without relations and columns.
//!
//! - `parse`: the outline of a published SDL
//! - `connection`: the types that all connections have alike
//! - `short_sdl`: the outline as a short text, or a type of it
//! - `search`: the fields that some words mean, ranked
//! - `paths`: the fields of an outline, each with its way from a root
//! - `word_index`: which fields have a word
//! - `examples`: questions with queries
//! - `example`: a query for what was found
//! - `typed_paths`: the paths of a response whose values have a type

mod connection;
mod example;
pub mod examples;
mod parse;
mod paths;
pub mod search;
mod short_sdl;
pub mod typed_paths;
mod word_index;

use std::collections::HashMap;

use thiserror::Error;

use crate::outline::word_index::WordIndex;

/// The name of the type that queries begin with.
pub(crate) const ROOT: &str = "Query";

/// A published schema.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    types: Vec<OutlineType>,
    by_name: HashMap<String, usize>,
    index: WordIndex,
}

/// A type.
#[derive(Debug, Clone)]
pub struct OutlineType {
    /// The name by which other types refer to it.
    pub name: String,
    /// Its kind, with its parts.
    pub kind: TypeKind,
}

/// The kind of a type, with its parts.
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
    /// Its place among all fields of the outline.
    id: usize,
    /// The name by which queries select it.
    pub name: String,
    /// The first sentence of its description.
    pub summary: String,
    /// All of it.
    description: String,
    /// Its type.
    pub ty: TypeReference,
    /// The place of its objects' type among the types; of a connection, the type of its nodes. `None` for values without parts.
    object: Option<usize>,
    /// In the order of the schema.
    pub arguments: Vec<OutlineArgument>,
    /// The keys that its argument `query` takes.
    pub search_keys: Vec<OutlineKey>,
}

/// An argument of a field.
#[derive(Debug, Clone)]
pub struct OutlineArgument {
    /// The name by which queries give it.
    pub name: String,
    /// Its type.
    pub ty: TypeReference,
}

/// A use of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeReference {
    /// The type as it is written, such as `[ID!]`.
    pub text: String,
    /// The type's name alone.
    pub named: String,
}

/// A key of searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineKey {
    /// The key as search strings have it before the colon.
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
        let mut outline = Self { types, by_name, index: WordIndex::default() };
        let objects: Vec<_> =
            outline.types.iter().flat_map(OutlineType::fields).map(|field| outline.object(field)).collect();
        let field_count = objects.len();
        let fields = outline.types.iter_mut().flat_map(|ty| match &mut ty.kind {
            TypeKind::Object(fields) => fields.as_mut_slice(),
            TypeKind::Scalar | TypeKind::Enum(_) => &mut [],
        });
        for (field, (id, object)) in fields.zip(objects.into_iter().enumerate()) {
            (field.id, field.object) = (id, object);
        }
        outline.index = WordIndex::new(field_count, outline.texts());
        outline
    }

    /// The place of the type of a field's objects.
    fn object(&self, field: &OutlineField) -> Option<usize> {
        let name = &field.ty.named;
        let place = *self.by_name.get(self.node_type(name).unwrap_or(name))?;
        matches!(self.types[place].kind, TypeKind::Object(_)).then_some(place)
    }

    /// The texts in which fields are searched for, and what a word counts there.
    fn texts(&self) -> impl Iterator<Item = (usize, String, f32)> {
        let values = |name: &str| match self.get(name).map(|ty| &ty.kind) {
            Some(TypeKind::Enum(values)) => values.join(" "),
            _ => String::new(),
        };
        self.types.iter().flat_map(OutlineType::fields).flat_map(move |field| {
            let own = [(field.name.clone(), 1.0), (field.summary.clone(), 0.4), (field.description.clone(), 0.2)];
            let keys = field.search_keys.iter().map(|key| (key.name.clone(), 0.5));
            let arguments = field.arguments.iter();
            let arguments =
                arguments.map(move |argument| (format!("{} {}", argument.name, values(&argument.ty.named)), 0.4));
            own.into_iter().chain(keys).chain(arguments).map(|(text, share)| (field.id, text, share))
        })
    }

    /// The type with that name.
    pub fn get(&self, name: &str) -> Option<&OutlineType> {
        self.types.get(*self.by_name.get(name)?)
    }

    /// The fields of the type with that name; none if it has none.
    pub fn fields(&self, name: &str) -> &[OutlineField] {
        self.get(name).map_or(&[], OutlineType::fields)
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

impl OutlineType {
    /// Its fields; none if it has none.
    fn fields(&self) -> &[OutlineField] {
        if let TypeKind::Object(fields) = &self.kind { fields } else { &[] }
    }
}

impl OutlineField {
    /// Whether it has parts.
    pub fn is_object(&self) -> bool {
        self.object.is_some()
    }

    /// Its argument with that name.
    pub fn argument(&self, name: &str) -> Option<&OutlineArgument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}
