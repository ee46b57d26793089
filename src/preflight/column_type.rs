//! The type of a column without the domains that it is made of.

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};

use crate::catalog::collation::Collation;
use crate::value::Enumeration;

/// Joins to `attribute` the facts about its type. For a domain, or one over another, the type is its base type, as results have it, and for
/// an array the base type of its elements. The modifier of `numeric` has the number of digits and the number of decimal places.
pub(crate) const COLUMN_TYPE: &str = "
    CROSS JOIN LATERAL (
        WITH RECURSIVE part AS (
            SELECT oid, typbasetype, typelem, typlen, typcategory, typtypmod, typnotnull, FALSE AS is_element, 0 AS depth
            FROM pg_catalog.pg_type
            WHERE oid = attribute.atttypid
            UNION ALL
            SELECT
                inner_type.oid, inner_type.typbasetype, inner_type.typelem, inner_type.typlen, inner_type.typcategory,
                inner_type.typtypmod, inner_type.typnotnull, part.is_element OR part.typbasetype = 0, part.depth + 1
            FROM part
            JOIN pg_catalog.pg_type AS inner_type ON inner_type.oid = CASE
                WHEN part.typbasetype <> 0 THEN part.typbasetype
                WHEN part.typcategory = 'A' AND part.typlen = -1 AND NOT part.is_element THEN part.typelem
            END
        )
        SELECT
            (array_agg(oid ORDER BY depth DESC))[1],
            bool_or(is_element),
            GREATEST(attribute.atttypmod, max(typtypmod) FILTER (WHERE NOT is_element)),
            bool_or(typnotnull AND NOT is_element)
        FROM part
    ) AS type (base, is_array, modifier, is_not_null)
    LEFT JOIN LATERAL (
        SELECT
            quote_ident(place.nspname) || '.' || quote_ident(enum.typname),
            (SELECT array_agg(label.enumlabel::text ORDER BY label.enumsortorder)
             FROM pg_catalog.pg_enum AS label
             WHERE label.enumtypid = enum.oid)
        FROM pg_catalog.pg_type AS enum
        JOIN pg_catalog.pg_namespace AS place ON place.oid = enum.typnamespace
        WHERE enum.oid = type.base AND enum.typtype = 'e'
    ) AS enum (name, labels) ON TRUE
    LEFT JOIN LATERAL (
        SELECT
            CASE WHEN place.nspname = 'pg_catalog' THEN '' ELSE quote_ident(place.nspname) || '.' END || quote_ident(own.collname),
            own.collisdeterministic
        FROM pg_catalog.pg_collation AS own
        JOIN pg_catalog.pg_namespace AS place ON place.oid = own.collnamespace
        WHERE own.oid = attribute.attcollation AND own.collprovider <> 'd'
    ) AS own_collation (name, is_deterministic) ON TRUE";

/// The expressions that [`FoundType::read`] reads.
pub(crate) const SELECTED: &str = "
        type.base,
        type.is_array,
        attribute.atttypid <> type.base,
        enum.name,
        enum.labels,
        type.modifier >= 4 AND (type.modifier - 4) & 65535 = 0,
        attribute.attnotnull OR type.is_not_null,
        own_collation.name,
        own_collation.is_deterministic";

/// The type of a column.
#[derive(Debug)]
pub(crate) enum ColumnType {
    /// It has values.
    Value(ValueType),
    /// It has arrays of such values.
    Array(ValueType),
}

/// The type of a value.
#[derive(Debug)]
pub(crate) enum ValueType {
    /// A type that is built into PostgreSQL.
    BuiltIn(Type),
    /// An enum of the database: the name of its type in SQL, and its labels.
    Enum(Enumeration),
    /// A domain of such an enum. PostgreSQL has no comparison for it.
    DomainOfEnum(Enumeration),
    /// Another type. Its values cannot be converted in either direction.
    Other,
}

/// The facts of the system catalogs about a column's type.
#[derive(Debug)]
pub(crate) struct FoundType {
    pub(crate) ty: ColumnType,
    /// Whether the column, if it is numeric, has no decimal places.
    pub(crate) is_whole: bool,
    /// Whether a constraint rules out nulls.
    pub(crate) is_not_null: bool,
    pub(crate) collation: Collation,
}

impl ValueType {
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

impl FoundType {
    /// Reads the expressions of [`SELECTED`]. The first one is at an index of the row.
    pub(crate) fn read(row: &Row, first: usize) -> Result<Self, Error> {
        let (base, is_array): (u32, bool) = (row.try_get(first)?, row.try_get(first + 1)?);
        let is_domain: bool = row.try_get(first + 2)?;
        let (name, labels): (Option<String>, Option<Vec<String>>) = (row.try_get(first + 3)?, row.try_get(first + 4)?);
        let value = match (Type::from_oid(base), name) {
            (Some(ty), _) => ValueType::BuiltIn(ty),
            (None, Some(name)) => {
                let labels = labels.unwrap_or_default().into_iter().map(|label| (label.clone(), label));
                let labels = Enumeration::new(name, labels.collect());
                if is_domain { ValueType::DomainOfEnum(labels) } else { ValueType::Enum(labels) }
            }
            (None, None) => ValueType::Other,
        };
        Ok(Self {
            ty: if is_array { ColumnType::Array(value) } else { ColumnType::Value(value) },
            is_whole: row.try_get(first + 5)?,
            is_not_null: row.try_get(first + 6)?,
            collation: match (row.try_get(first + 7)?, row.try_get(first + 8)?) {
                (Some(name), Some(is_deterministic)) => Collation::named(name, is_deterministic),
                _ => Collation::Default,
            },
        })
    }
}
