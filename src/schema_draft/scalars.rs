//! The scalars of the fields of columns.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::types::Type;

use crate::relations::column::DescribedColumn;
use crate::relations::column_type::ValueType;
use crate::relations::description::DatabaseDescription;
use crate::relations::relation::DescribedRelation;
use crate::value::{Enumeration, ScalarType};

/// The facts that the scalars of fields depend on.
pub(super) struct Scalars<'d> {
    /// The columns of keys and foreign keys, by relation.
    keys: BTreeMap<(&'d str, &'d str), BTreeSet<&'d str>>,
    /// The enums of the file, by the enums of the database.
    pub(super) published: BTreeMap<Enumeration, Enumeration>,
}

impl<'d> Scalars<'d> {
    /// The scalars of a file that has the enums of the database.
    pub(super) fn new(database: &'d DatabaseDescription) -> Self {
        let mut keys: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for relation in &database.relations {
            let own = keys.entry((&relation.schema, &relation.name)).or_default();
            own.extend(relation.keys().next().into_iter().flatten().map(String::as_str));
            own.extend(relation.foreign_keys.iter().flat_map(|key| &key.columns).map(String::as_str));
            for foreign in &relation.foreign_keys {
                let (schema, name) = &foreign.target;
                keys.entry((schema, name)).or_default().extend(foreign.to.iter().map(String::as_str));
            }
        }
        Self { keys, published: BTreeMap::new() }
    }

    /// The scalar of a column's field, if it has one. A key is an ID where it can be.
    pub(super) fn of(&self, relation: &DescribedRelation, column: &DescribedColumn) -> Option<ScalarType> {
        let is_key = || {
            let columns = self.keys.get(&(relation.schema.as_str(), relation.name.as_str()));
            !column.is_array() && columns.is_some_and(|columns| columns.contains(column.name.as_str()))
        };
        let ty = match column.ty.value() {
            _ if !column.is_readable => return None,
            ValueType::BuiltIn(ty) => ty,
            ValueType::Enum(labels) | ValueType::DomainOfEnum(labels) => {
                return Some(ScalarType::Enum(self.published.get(labels).copied().unwrap_or(*labels)));
            }
            ValueType::Other if column.is_hstore() => return Some(ScalarType::Json),
            ValueType::Other => return Some(ScalarType::String),
        };
        Some(match *ty {
            Type::TEXT
            | Type::NAME
            | Type::VARCHAR
            | Type::BPCHAR
            | Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::UUID
                if is_key() =>
            {
                ScalarType::Id
            }
            Type::NUMERIC if column.is_whole() && is_key() => ScalarType::Id,
            Type::TEXT | Type::NAME | Type::VARCHAR | Type::BPCHAR => ScalarType::String,
            Type::INT2 | Type::INT4 => ScalarType::Int,
            Type::INT8 => ScalarType::BigInt,
            Type::NUMERIC => ScalarType::Decimal,
            Type::FLOAT4 | Type::FLOAT8 => ScalarType::Float,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => ScalarType::DateTime,
            Type::DATE => ScalarType::Date,
            Type::TIME => ScalarType::Time,
            Type::INTERVAL => ScalarType::Interval,
            Type::BOOL => ScalarType::Boolean,
            Type::UUID => ScalarType::Uuid,
            Type::BYTEA => ScalarType::Bytes,
            Type::JSON | Type::JSONB => ScalarType::Json,
            _ => return column.ty.value().is_read_as_text().then_some(ScalarType::String),
        })
    }
}
