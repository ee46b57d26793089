//! The types as GraphQL sees them: objects, scalars, enums, fields, arguments.

use fnv::FnvHashMap;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, Entity};
use crate::value::ScalarType;

/// A type of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(super) u16);

impl TypeId {
    /// Its place in [`Catalog::types`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A field of an object type of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId {
    /// The type that declares it.
    pub object: TypeId,
    /// Its place among the type's fields.
    pub index: u16,
}

/// A named type.
#[derive(Debug)]
pub enum Type {
    /// Leaves with a value.
    Scalar(Scalar),
    /// Leaves with one of a few names.
    Enum(EnumType),
    /// What has fields.
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

    /// The object type, where it is one.
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
    /// Which one.
    pub scalar: ScalarType,
    /// What it is, for custom scalars.
    pub description: Option<&'static str>,
    /// Where it is specified, for custom scalars.
    pub specified_by: Option<&'static str>,
}

/// An enum type.
#[derive(Debug)]
pub struct EnumType {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The names of its values.
    pub values: Vec<String>,
}

/// An object type.
#[derive(Debug)]
pub struct ObjectType {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Its fields, in the order of publication.
    pub fields: Vec<Field>,
    /// Its table or view; none for the machinery of connections and the query root.
    pub entity: Option<Entity>,
    /// Fields that can be selected and are not published: `__schema` and `__type` of the query root.
    pub unlisted: Vec<Field>,
    /// The places of the fields. Their names are the schema's own and nobody who asks can add any: they need no hash that
    /// withstands chosen keys, which would take twice as long.
    pub(super) by_name: FnvHashMap<String, u16>,
}

impl ObjectType {
    /// The place of the field of that name, for [`ObjectType::field`].
    pub fn position(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// The field in that place. The unlisted ones stand behind the others.
    pub fn field(&self, place: u16) -> &Field {
        let place = usize::from(place);
        self.fields.get(place).unwrap_or_else(|| &self.unlisted[place - self.fields.len()])
    }
}

/// A field of an object type.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<Argument>,
    /// Its type.
    pub ty: TypeRef,
    /// What it stands for.
    pub binding: Binding,
    /// What to use instead, where it is deprecated.
    pub deprecation: Option<String>,
}

/// An argument of a field.
#[derive(Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Its type.
    pub ty: TypeRef,
    /// Its value where none is given, as a document writes it. The arguments of a schema file's fields have none.
    pub default: Option<String>,
    /// What the planner does with it.
    pub role: ArgumentRole,
}

/// What an argument means to the binder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentRole {
    /// Rows from the front.
    First,
    /// Rows from the back.
    Last,
    /// Only rows behind this cursor.
    After,
    /// Only rows before this cursor.
    Before,
    /// The search string.
    Query,
    /// The sort key.
    SortKey,
    /// The other direction.
    Reverse,
    /// A value that a point root looks for: its place among the root's keys.
    Key(usize),
    /// The name of a type that is to be described.
    TypeName,
    /// Whether what is deprecated is told, too.
    IncludeDeprecated,
    /// An argument of a directive.
    OfDirective,
}

/// A directive that documents or schemas may hold.
#[derive(Debug)]
pub struct Directive {
    /// Its name, without the at sign.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<Argument>,
    /// Whether it may stand at one place several times.
    pub repeatable: bool,
    /// Where it may stand, in the specification's words.
    pub locations: Vec<&'static str>,
}

/// A type as it is referred to: a named one, perhaps in lists, perhaps not null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRef {
    /// A named type that may be null.
    Named(TypeId),
    /// A list that may be null.
    List(Box<TypeRef>),
    /// A type that is never null.
    NonNull(Box<TypeRef>),
}

impl TypeRef {
    /// The named type at the core.
    pub fn named(&self) -> TypeId {
        match self {
            Self::Named(id) => *id,
            Self::List(inner) | Self::NonNull(inner) => inner.named(),
        }
    }

    /// Whether it is never null.
    pub fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    /// The same, never null.
    #[must_use]
    pub fn non_null(self) -> Self {
        match self {
            Self::NonNull(_) => self,
            Self::Named(_) | Self::List(_) => Self::NonNull(Box::new(self)),
        }
    }

    /// The reference as SDL writes it.
    pub fn display(&self, catalog: &Catalog) -> String {
        match self {
            Self::Named(id) => catalog.get(*id).name().to_owned(),
            Self::List(inner) => format!("[{}]", inner.display(catalog)),
            Self::NonNull(inner) => format!("{}!", inner.display(catalog)),
        }
    }
}
