//! A column of a relation.

use tokio_postgres::types::Type;

use crate::catalog::collation::Collation;
use crate::relations::column_type::{ColumnType, ValueType};
use crate::value::MAX_VALUE_BYTES;

/// A column that exists.
#[derive(Debug, Clone)]
pub(crate) struct DescribedColumn {
    /// The name in the database, which need not be a GraphQL name.
    pub(crate) name: String,
    pub(crate) ty: ColumnType,
    /// Its type in SQL.
    pub(crate) type_name: String,
    /// Whether the role may read it.
    pub(crate) is_readable: bool,
    /// Whether a constraint rules out nulls.
    pub(crate) is_not_null: bool,
    /// The modifier of its type, as `pg_attribute.atttypmod` has it.
    pub(crate) modifier: i32,
    /// Whether PostgreSQL computes it from others of its row.
    #[cfg(feature = "tools")]
    pub(crate) is_generated: bool,
    /// By what its texts are compared.
    pub(crate) collation: Collation,
    /// The comment by `COMMENT ON`.
    pub(crate) comment: Option<String>,
    /// The text search configuration that its words were made with, if it is a `tsvector` and the database tells, as a schema file names it.
    pub(crate) language: Option<String>,
}

/// The declared characters of a column whose values, of four bytes each at most, cannot be longer than [`MAX_VALUE_BYTES`].
const SHORT: usize = MAX_VALUE_BYTES / 4;

impl DescribedColumn {
    /// A column of a type that is built into PostgreSQL.
    #[cfg(test)]
    pub(crate) fn of_type(name: &str, ty: Type) -> Self {
        Self {
            name: name.to_owned(),
            type_name: ty.name().to_owned(),
            ty: ColumnType::Value(ValueType::BuiltIn(ty)),
            is_readable: true,
            is_not_null: false,
            modifier: -1,
            #[cfg(feature = "tools")]
            is_generated: false,
            collation: Collation::Default,
            comment: None,
            language: None,
        }
    }

    /// Whether it has arrays, which are read and not compared.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self.ty, ColumnType::Array(_))
    }

    /// Its declared length, if it has texts.
    pub(crate) fn length(&self) -> Option<usize> {
        let is_text = [Type::VARCHAR, Type::BPCHAR].iter().any(|ty| self.ty.is_built_in(ty));
        usize::try_from(self.modifier - 4).ok().filter(|_| is_text)
    }

    /// Whether it is numeric, and has no decimal places.
    pub(crate) fn is_whole(&self) -> bool {
        self.ty.is_built_in(&Type::NUMERIC) && self.modifier >= 4 && (self.modifier - 4) % 65_536 == 0
    }

    /// Whether its values may be longer than [`MAX_VALUE_BYTES`].
    pub(crate) fn is_long(&self) -> bool {
        let has_any_length = match self.ty.value() {
            ValueType::BuiltIn(Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::BYTEA | Type::JSON | Type::JSONB) => {
                true
            }
            value => value.is_read_as_text(),
        };
        has_any_length && self.length().is_none_or(|length| length > SHORT)
    }

    /// Whether its values are sets of keys and values, of the extension `hstore`.
    pub(crate) fn is_hstore(&self) -> bool {
        let name = self.type_name.rsplit('.').next();
        matches!(self.ty, ColumnType::Value(ValueType::Other)) && name == Some("hstore")
    }

    /// Whether it has words that can be searched for, and the role may do so.
    pub(crate) fn has_words(&self) -> bool {
        self.is_readable && self.ty.is_built_in(&Type::TS_VECTOR)
    }

    /// Whether PostgreSQL has values of it that no field has: NaN and infinities, JSON that most parsers reject, bytes of files, and arrays of
    /// any number of elements and dimensions.
    pub(crate) fn has_unrepresentable(&self) -> bool {
        let ColumnType::Value(ValueType::BuiltIn(ty)) = &self.ty else { return self.is_array() || self.is_hstore() };
        matches!(
            *ty,
            Type::NUMERIC
                | Type::FLOAT4
                | Type::FLOAT8
                | Type::TIMESTAMP
                | Type::TIMESTAMPTZ
                | Type::DATE
                | Type::INTERVAL
                | Type::JSON
                | Type::JSONB
                | Type::BYTEA
        )
    }
}
