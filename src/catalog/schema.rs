//! The type system as GraphQL defines it: types, fields, arguments, directives.

use std::num::TryFromIntError;

use fnv::FnvHashMap;

use crate::catalog::ids::{EntityId, TypeId};
use crate::value::ScalarType;

/// The types and directives of a schema.
pub(crate) struct TypeSystem {
    /// The schema's own types in the order of publication, then the types of introspection. No two have one name.
    pub(crate) types: Vec<Type>,
    pub(crate) directives: Vec<Directive>,
    /// The query root, one of the types.
    pub(crate) query: TypeId,
}

/// A named type.
#[derive(Debug)]
pub enum Type {
    /// A scalar type.
    Scalar(Scalar),
    /// An enum type.
    Enum(EnumType),
    /// An object type.
    Object(ObjectType),
}

impl Type {
    /// The type's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Scalar(scalar) => scalar.scalar.name(),
            Self::Enum(enumeration) => &enumeration.name,
            Self::Object(object) => &object.name,
        }
    }

    /// The type's description.
    pub(super) fn description(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) => Some(scalar.description),
            Self::Enum(enumeration) => enumeration.description.as_deref(),
            Self::Object(object) => object.description.as_deref(),
        }
    }

    /// The object type; `None` for scalars and enums.
    pub fn as_object(&self) -> Option<&ObjectType> {
        match self {
            Self::Object(object) => Some(object),
            Self::Scalar(_) | Self::Enum(_) => None,
        }
    }
}

/// A scalar type, built in or custom.
#[derive(Debug)]
pub struct Scalar {
    /// The scalar's representation.
    pub scalar: ScalarType,
    /// The meaning of values, and their form.
    pub description: &'static str,
    /// The URL of a custom scalar's specification.
    pub specified_by: Option<&'static str>,
}

/// The values of a column, the sort keys of a connection, or an enum of introspection.
#[derive(Debug)]
pub struct EnumType {
    /// The type's name.
    pub name: String,
    /// The type's description.
    pub description: Option<String>,
    /// The values, in the order of publication.
    pub values: Vec<EnumValue>,
}

impl EnumType {
    /// The names of the values, in the order of publication.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|value| value.name.as_str())
    }
}

/// A value of an enum type.
#[derive(Debug)]
pub struct EnumValue {
    /// The value's name.
    pub name: String,
    /// The value's description.
    pub description: Option<String>,
    /// The reason for the value's deprecation; `None` if it is not deprecated.
    pub deprecation: Option<String>,
}

/// A type with fields: of rows, of a connection and its parts, of introspection, or the root of queries.
#[derive(Debug)]
pub struct ObjectType {
    /// The type's name.
    pub name: String,
    /// The type's description.
    pub description: Option<String>,
    /// The published fields, in the order of publication.
    pub fields: Vec<Field>,
    /// The level of the grammar that the type's fields are on.
    pub kind: ObjectKind,
    /// Fields that can be selected and are not published: `__schema` and `__type` of the query root.
    pub meta_fields: Vec<Field>,
    /// The indexes of all fields. The hash need not withstand chosen keys, because all names are the schema's own; one
    /// that does would take twice as long.
    by_name: FnvHashMap<String, u16>,
}

/// The level of the grammar that the fields of an object type are on, which decides what their bindings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// The query root.
    Root,
    /// A type that is bound to a relation.
    Entity(EntityId),
    /// A connection type.
    Connection,
    /// An edge type.
    Edge,
    /// The type of every connection's `pageInfo`.
    PageInfo,
    /// A type of totals.
    Totals,
    /// A type of the groups of totals.
    Group {
        /// How many keys they can have.
        keys: usize,
    },
    /// A type of introspection.
    Introspection,
}

impl ObjectType {
    /// A type whose fields have distinct names.
    pub(crate) fn new(name: String, description: Option<String>, kind: ObjectKind, fields: Vec<Field>) -> Self {
        let by_name = (0..).zip(&fields).map(|(index, field)| (field.name.clone(), index)).collect();
        Self { name, description, fields, kind, meta_fields: Vec::new(), by_name }
    }

    /// Adds a field that can be selected and is not published. Fails if there are more fields than their indexes can count.
    pub(crate) fn add_meta_field(&mut self, field: Field) -> Result<(), TryFromIntError> {
        let index = u16::try_from(self.fields.len() + self.meta_fields.len())?;
        self.by_name.insert(field.name.clone(), index);
        self.meta_fields.push(field);
        Ok(())
    }

    /// The index of the field with that name, for [`ObjectType::field`].
    pub fn field_index(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// The field with that index. The meta-fields follow the published fields.
    pub fn field(&self, index: u16) -> &Field {
        let index = usize::from(index);
        self.fields.get(index).unwrap_or_else(|| &self.meta_fields[index - self.fields.len()])
    }
}

/// A field of an object type.
#[derive(Debug)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The field's description.
    pub description: Option<String>,
    /// The field's arguments, in the order of publication.
    pub arguments: Vec<Argument>,
    /// The field's type.
    pub ty: TypeRef,
    /// The reason for the field's deprecation; `None` if it is not deprecated.
    pub deprecation: Option<String>,
}

/// An argument of a field or directive.
#[derive(Debug)]
pub struct Argument {
    /// The argument's name.
    pub name: String,
    /// The argument's description.
    pub description: Option<String>,
    /// The argument's type.
    pub ty: TypeRef,
    /// The default value in SDL notation. Only arguments of introspection fields and directives have one.
    pub default: Option<String>,
    /// The role that the argument has for the binder.
    pub role: ArgumentRole,
}

/// The role of an argument for the binder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentRole {
    /// `first`: a page size, from the front.
    First,
    /// `last`: a page size, from the back.
    Last,
    /// `after`: the cursor that the page follows.
    After,
    /// `since`: the time after which changes are of interest.
    Since,
    /// `before`: the cursor that the page precedes.
    Before,
    /// `query`: the search string.
    Query,
    /// `sortKey`: what the rows are sorted by.
    SortKey,
    /// `reverse`: whether the sort order is reversed.
    Reverse,
    /// `countUpTo`: how many rows are counted at most.
    CountUpTo,
    /// `rows`: how many rows are summed up at most.
    Rows,
    /// `groupBy`: the keys of groups.
    GroupBy,
    /// `orderBy`: what groups are in the order of.
    OrderBy,
    /// `timeZone`: whose days, weeks and months are keys of groups.
    TimeZone,
    /// A key of a lookup field: its index among the field's keys.
    Key(usize),
    /// `name` of `__type`.
    TypeName,
    /// `includeDeprecated` of introspection fields.
    IncludeDeprecated,
    /// An argument of a directive.
    OfDirective,
}

impl ArgumentRole {
    /// Whether the price of a field may depend on the argument's value.
    pub(crate) fn is_priced(self) -> bool {
        match self {
            Self::First | Self::Last | Self::Query | Self::Rows | Self::GroupBy | Self::OrderBy => true,
            Self::After
            | Self::Since
            | Self::Before
            | Self::SortKey
            | Self::Reverse
            | Self::CountUpTo
            | Self::TimeZone
            | Self::Key(_)
            | Self::TypeName
            | Self::IncludeDeprecated
            | Self::OfDirective => false,
        }
    }
}

/// A directive of documents or schemas.
#[derive(Debug)]
pub struct Directive {
    /// The directive's name, without the at sign.
    pub name: String,
    /// The directive's description.
    pub description: Option<String>,
    /// The directive's arguments.
    pub arguments: Vec<Argument>,
    /// Whether one location can have the directive several times.
    pub repeatable: bool,
    /// The directive's locations, in SDL notation.
    pub locations: Vec<&'static str>,
}

/// A reference to a type: a named type, or a list or non-null type around another reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRef {
    /// A nullable named type.
    Named(TypeId),
    /// A nullable list.
    List(Box<TypeRef>),
    /// A non-null type.
    NonNull(Box<TypeRef>),
}

impl TypeRef {
    /// The named type inside all lists and non-null types.
    pub fn named(&self) -> TypeId {
        match self {
            Self::Named(id) => *id,
            Self::List(inner) | Self::NonNull(inner) => inner.named(),
        }
    }

    /// Whether the type is non-null.
    pub fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    /// Whether it is a list, non-null or not.
    pub fn is_list(&self) -> bool {
        match self {
            Self::List(_) => true,
            Self::NonNull(inner) => inner.is_list(),
            Self::Named(_) => false,
        }
    }

    /// The type as a non-null type.
    #[must_use]
    pub fn non_null(self) -> Self {
        match self {
            Self::NonNull(_) => self,
            Self::Named(_) | Self::List(_) => Self::NonNull(Box::new(self)),
        }
    }
}
