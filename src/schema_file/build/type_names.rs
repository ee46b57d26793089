//! The names and ids of all types of a catalog.

use std::collections::{HashMap, HashSet};

use graphql_parser::Pos;

use crate::catalog::ids::TypeId;
use crate::schema_file::build::introspection_types::{IntrospectionType, IntrospectionTypes};
use crate::schema_file::definition::{
    BindingDefinition, EnumDefinition, FieldDefinition, SchemaDefinition, TypeDefinition,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::value::ScalarType;

/// All types in the order of publication: the query root, each node type with its connection and edge types,
/// `PageInfo`, the types of totals, enums of column values, sort enums, scalars that every schema has or this one uses. The introspection types
/// come last.
pub(super) struct TypeNames<'a> {
    /// The source of each type, by id.
    pub(super) origins: Vec<TypeOrigin<'a>>,
    /// The ids, by name.
    pub(super) ids: HashMap<String, TypeId>,
    /// The sort enums, by the type and name of the field.
    sort_enums: HashMap<(&'a str, &'a str), TypeId>,
    /// The types of totals, by the name of the root.
    totals: HashMap<(&'a str, TotalsPart), TypeId>,
}

impl<'a> TypeNames<'a> {
    /// Gives every type a name and an id. Fails if two types have the same name.
    pub(super) fn assign(
        schema: &'a SchemaDefinition,
        introspection: &'a IntrospectionTypes,
    ) -> Result<Self, SchemaError> {
        let mut names =
            Self { origins: Vec::new(), ids: HashMap::new(), sort_enums: HashMap::new(), totals: HashMap::new() };
        let lists = || schema.types.iter().flat_map(|ty| &ty.fields).filter(|field| field.is_list);
        let (roots, nodes): (Vec<_>, Vec<_>) = schema.types.iter().partition(|ty| ty.is_query());
        for ty in roots.iter().chain(&nodes).copied() {
            names.add(TypeOrigin::Object(ty), ty.position)?;
            if lists().any(|field| field.ty == ty.name) {
                names.add(TypeOrigin::Connection(ty), ty.position)?;
                names.add(TypeOrigin::Edge(ty), ty.position)?;
            }
        }
        names.add(TypeOrigin::PageInfo, SchemaError::START)?;
        for ty in &roots {
            for field in ty.fields.iter().filter(|field| is_totals(field)) {
                for part in TotalsPart::ALL {
                    let id = names.add(TypeOrigin::Totals(field, part), field.position)?;
                    names.totals.insert((&field.name, part), id);
                }
            }
        }
        for definition in
            schema.enums.iter().filter(|definition| is_used(schema, ScalarType::Enum(definition.enumeration)))
        {
            names.add(TypeOrigin::Enumeration(definition), definition.position)?;
        }
        let mut sorted = HashSet::new();
        for ty in roots.into_iter().chain(nodes) {
            for field in ty.fields.iter().filter(|field| !field.sort_keys.is_empty()) {
                let is_first = sorted.insert(field.ty.as_str());
                let id = names.add(TypeOrigin::SortEnum { ty, field, is_first }, field.position)?;
                names.sort_enums.insert((&ty.name, &field.name), id);
            }
        }
        for scalar in
            ScalarType::ALL.into_iter().filter(|scalar| scalar.is_in_every_schema() || is_used(schema, *scalar))
        {
            names.add(TypeOrigin::Scalar(scalar), SchemaError::START)?;
        }
        for ty in &introspection.types {
            names.add(TypeOrigin::Introspection(ty), ty.position())?;
        }
        Ok(names)
    }

    fn add(&mut self, origin: TypeOrigin<'a>, position: Pos) -> Result<TypeId, SchemaError> {
        let id = u16::try_from(self.origins.len()).map_err(|_| SchemaError::new(position, SchemaErrorKind::TooMany))?;
        let name = origin.type_name();
        self.origins.push(origin);
        match self.ids.insert(name.clone(), TypeId(id)) {
            None => Ok(TypeId(id)),
            Some(_) => Err(SchemaError::new(position, SchemaErrorKind::Duplicate(name))),
        }
    }

    /// The type with that name, if the schema file defines it.
    pub(super) fn object(&self, name: &str) -> Option<TypeId> {
        let id = self.ids.get(name)?;
        matches!(self.origins[id.index()], TypeOrigin::Object(_)).then_some(*id)
    }

    pub(super) fn scalar(&self, scalar: ScalarType) -> TypeId {
        self.ids[scalar.name()]
    }

    /// The connection type of a node type. Panics unless the schema has a list of that type.
    pub(super) fn connection(&self, node: &str) -> TypeId {
        self.ids[&connection_name(node)]
    }

    /// The edge type of a node type. Panics unless the schema has a list of that type.
    pub(super) fn edge(&self, node: &str) -> TypeId {
        self.ids[&edge_name(node)]
    }

    pub(super) fn page_info(&self) -> TypeId {
        self.ids[PAGE_INFO]
    }

    /// A type of a root's totals. Panics unless the root has totals.
    pub(super) fn totals(&self, root: &str, part: TotalsPart) -> TypeId {
        self.totals[&(root, part)]
    }

    /// The sort enum of a type's field. Panics unless the field has sort keys.
    pub(super) fn sort_enum(&self, ty: &str, field: &str) -> TypeId {
        self.sort_enums[&(ty, field)]
    }
}

/// Whether a column, an aggregate or an argument has that type.
fn is_used(schema: &SchemaDefinition, scalar: ScalarType) -> bool {
    let is_column = |ty: &TypeDefinition, field: &FieldDefinition| match &field.binding {
        None => !ty.is_query(),
        Some(BindingDefinition::Aggregate(_)) => true,
        Some(_) => false,
    };
    schema.types.iter().any(|ty| {
        ty.fields.iter().any(|field| {
            is_column(ty, field) && field.ty == scalar.name()
                || field.arguments.iter().any(|argument| argument.ty == scalar.name())
        })
    })
}

fn is_totals(field: &FieldDefinition) -> bool {
    matches!(field.binding, Some(BindingDefinition::Totals { .. }))
}

/// One of the types of totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TotalsPart {
    Totals,
    Group,
    /// The enum of keys.
    Keys,
    /// The enum of orders.
    Order,
}

impl TotalsPart {
    /// The parts in the order of publication.
    const ALL: [Self; 4] = [Self::Totals, Self::Group, Self::Keys, Self::Order];
}

/// The source of a type.
#[derive(Clone, Copy)]
pub(super) enum TypeOrigin<'a> {
    /// The definition of an object type.
    Object(&'a TypeDefinition),
    /// The definition of a connection's node type.
    Connection(&'a TypeDefinition),
    /// The definition of an edge's node type.
    Edge(&'a TypeDefinition),
    PageInfo,
    /// The definition of a connection with sort keys and of its type, and whether it is the first with such nodes.
    SortEnum {
        ty: &'a TypeDefinition,
        field: &'a FieldDefinition,
        is_first: bool,
    },
    /// The definition of a totals root.
    Totals(&'a FieldDefinition, TotalsPart),
    Enumeration(&'a EnumDefinition),
    Scalar(ScalarType),
    Introspection(&'a IntrospectionType),
}

impl TypeOrigin<'_> {
    pub(super) fn type_name(self) -> String {
        match self {
            Self::Object(ty) => ty.name.clone(),
            Self::Connection(node) => connection_name(&node.name),
            Self::Edge(node) => edge_name(&node.name),
            Self::PageInfo => PAGE_INFO.to_owned(),
            // Named after the type, as in the systems that clients come from. A second field of the type needs another name.
            Self::SortEnum { field, is_first: true, .. } => sort_enum_name(&field.ty),
            Self::SortEnum { ty, field, is_first: false } if ty.is_query() => sort_enum_name(&field.name),
            Self::SortEnum { ty, field, is_first: false } => ty.name.clone() + &sort_enum_name(&field.name),
            Self::Totals(root, part) => {
                capitalized(&root.name)
                    + match part {
                        TotalsPart::Totals => "",
                        TotalsPart::Group => "Group",
                        TotalsPart::Keys => "GroupKey",
                        TotalsPart::Order => "GroupOrder",
                    }
            }
            Self::Enumeration(definition) => definition.enumeration.name().to_owned(),
            Self::Scalar(scalar) => scalar.name().to_owned(),
            Self::Introspection(ty) => ty.name().to_owned(),
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

fn sort_enum_name(sorted: &str) -> String {
    capitalized(sorted) + "SortKey"
}

fn capitalized(name: &str) -> String {
    let mut name = name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}
