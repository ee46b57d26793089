//! The type of a column without the domains that it is made of.

use tokio_postgres::types::Type;

use crate::database::column_format::ColumnFormat;
use crate::value::Enumeration;

/// The type of a column.
#[derive(Debug, Clone)]
pub(crate) enum ColumnType {
    /// It has values.
    Value(ValueType),
    /// It has arrays of such values.
    Array(ValueType),
}

/// The type of a value.
#[derive(Debug, Clone)]
pub(crate) enum ValueType {
    /// A type that is built into PostgreSQL.
    BuiltIn(Type),
    /// An enum of the database: the name of its type in SQL, and its labels.
    Enum(Enumeration),
    /// A domain of such an enum. PostgreSQL has no comparison for it.
    DomainOfEnum(Enumeration),
    /// Another type, of an extension or of the database.
    Other,
}

impl ValueType {
    /// Whether values of it are read as PostgreSQL writes them, because no format of their own is known. Words are no such values: they are
    /// searched for.
    pub(crate) fn is_read_as_text(&self) -> bool {
        match self {
            Self::BuiltIn(ty) => ColumnFormat::of(ty).is_none() && *ty != Type::TS_VECTOR,
            Self::Other => true,
            Self::Enum(_) | Self::DomainOfEnum(_) => false,
        }
    }

    /// The enum of the values.
    pub(crate) fn labels(&self) -> Option<Enumeration> {
        match self {
            Self::Enum(labels) | Self::DomainOfEnum(labels) => Some(*labels),
            Self::BuiltIn(_) | Self::Other => None,
        }
    }
}

impl ColumnType {
    /// The type of its values, or of the elements of its arrays.
    pub(crate) fn value(&self) -> &ValueType {
        let (Self::Value(value) | Self::Array(value)) = self;
        value
    }

    /// Whether the column has values of this type, which is built into PostgreSQL.
    pub(crate) fn is_built_in(&self, ty: &Type) -> bool {
        matches!(self, Self::Value(ValueType::BuiltIn(own)) if own == ty)
    }
}
