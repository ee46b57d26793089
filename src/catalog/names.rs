//! Which types a schema has: those of its file, those that lists need, and those of introspection, with names and ids.

use std::collections::HashMap;

use graphql_parser::Pos;

use crate::catalog::metatypes::{Metatype, Metatypes};
use crate::catalog::schema::TypeId;
use crate::catalog::sdl_source::{SchemaError, SchemaErrorKind, Source, SourceField, SourceType, fail};
use crate::value::ScalarType;

/// The name of the type that queries begin at.
pub const QUERY: &str = "Query";

/// The names of all types, in the order of publication: the root, each node with its connection and edge, then the rest;
/// those of introspection last.
pub(super) struct Names<'a> {
    /// What the types are made from.
    pub(super) order: Vec<Name<'a>>,
    /// The ids, by name.
    pub(super) ids: HashMap<String, TypeId>,
}

impl<'a> Names<'a> {
    /// Gives every type of a schema file its name and its id.
    pub(super) fn assign(source: &'a Source, metatypes: &'a Metatypes) -> Result<Self, SchemaError> {
        let mut names = Self { order: Vec::new(), ids: HashMap::new() };
        let lists = || source.types.iter().flat_map(|ty| &ty.fields).filter(|field| field.list);
        let (roots, nodes): (Vec<_>, Vec<_>) = source.types.iter().partition(|ty| ty.name == QUERY);
        for ty in roots.into_iter().chain(nodes) {
            names.add(Name::Object(ty), ty.position)?;
            if lists().any(|field| field.ty == ty.name) {
                names.add(Name::Connection(ty), ty.position)?;
                names.add(Name::Edge(ty), ty.position)?;
            }
        }
        let top = Pos { line: 1, column: 1 };
        names.add(Name::PageInfo, top)?;
        for root in source.types.iter().filter(|ty| ty.name == QUERY).flat_map(|ty| &ty.fields) {
            if !root.sort.is_empty() {
                names.add(Name::SortEnum(root), root.position)?;
            }
        }
        for scalar in ScalarType::ALL {
            names.add(Name::Scalar(scalar), top)?;
        }
        for metatype in &metatypes.types {
            names.add(Name::Meta(metatype), metatype.position())?;
        }
        Ok(names)
    }

    fn add(&mut self, name: Name<'a>, position: Pos) -> Result<(), SchemaError> {
        let id = u16::try_from(self.order.len()).map_err(|_| fail(position, SchemaErrorKind::TooMany))?;
        let text = name.text();
        self.order.push(name);
        match self.ids.insert(text.clone(), TypeId(id)) {
            None => Ok(()),
            Some(_) => Err(fail(position, SchemaErrorKind::Duplicate(text))),
        }
    }

    /// The type of that name, where it is one of the schema file's.
    pub(super) fn object(&self, name: &str) -> Option<TypeId> {
        let id = self.ids.get(name)?;
        matches!(self.order[id.index()], Name::Object(_)).then_some(*id)
    }

    pub(super) fn scalar(&self, scalar: ScalarType) -> TypeId {
        self.ids[scalar.name()]
    }

    /// The connection over a type of which there are lists.
    pub(super) fn connection(&self, node: &str) -> TypeId {
        self.ids[&connection_name(node)]
    }

    /// The edge of that connection.
    pub(super) fn edge(&self, node: &str) -> TypeId {
        self.ids[&edge_name(node)]
    }

    pub(super) fn page_info(&self) -> TypeId {
        self.ids[PAGE_INFO]
    }

    /// The sort keys of a collection root.
    pub(super) fn sort_enum(&self, root: &str) -> TypeId {
        self.ids[&sort_enum_name(root)]
    }
}

/// A type that is going to be published.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Object(&'a SourceType),
    Connection(&'a SourceType),
    Edge(&'a SourceType),
    PageInfo,
    SortEnum(&'a SourceField),
    Scalar(ScalarType),
    Meta(&'a Metatype),
}

impl Name<'_> {
    pub(super) fn text(self) -> String {
        match self {
            Self::Object(ty) => ty.name.clone(),
            Self::Connection(node) => connection_name(&node.name),
            Self::Edge(node) => edge_name(&node.name),
            Self::PageInfo => PAGE_INFO.to_owned(),
            Self::SortEnum(root) => sort_enum_name(&root.name),
            Self::Scalar(scalar) => scalar.name().to_owned(),
            Self::Meta(metatype) => metatype.name().to_owned(),
        }
    }
}

const PAGE_INFO: &str = "PageInfo";

fn connection_name(node: &str) -> String {
    format!("{node}Connection")
}

fn edge_name(node: &str) -> String {
    format!("{node}Edge")
}

fn sort_enum_name(root: &str) -> String {
    let mut name = root.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name + "SortKey"
}
