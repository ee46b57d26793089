//! Whether a column's type is compatible with its use.

use tokio_postgres::types::Type;

use crate::database::column_format::ColumnFormat;
use crate::database::parameter;
use crate::relations::column::DescribedColumn;
use crate::relations::column_type::{ColumnType, ValueType};
use crate::relations::column_use::ColumnUse;
use crate::value::ScalarType;

/// Whether statements can use a column so.
pub(crate) fn is_compatible(column_use: ColumnUse, column: &DescribedColumn) -> bool {
    match (column_use, &column.ty) {
        (ColumnUse::Internal, _)
        | (
            ColumnUse::Compared(ScalarType::Enum(_)) | ColumnUse::ParentKey(ScalarType::Enum(_)),
            ColumnType::Value(ValueType::Enum(_)),
        ) => true,
        (ColumnUse::Output(ScalarType::Enum(_)), ColumnType::Value(value))
        | (ColumnUse::OutputList(ScalarType::Enum(_)), ColumnType::Array(value))
            if value.labels().is_some() =>
        {
            true
        }
        (ColumnUse::Output(ScalarType::String), ColumnType::Value(value))
        | (ColumnUse::OutputList(ScalarType::String), ColumnType::Array(value))
            if value.is_read_as_text() =>
        {
            true
        }
        // By the cast that its extension makes.
        (ColumnUse::Output(ScalarType::Json), ColumnType::Value(ValueType::Other)) => column.is_hstore(),
        (ColumnUse::OutputList(scalar), ColumnType::Array(ValueType::BuiltIn(element))) => {
            ColumnFormat::of(element).is_some_and(|format| format.can_be(scalar))
        }
        (_, ColumnType::Value(ValueType::BuiltIn(ty))) => has_use(column_use, ty, column.is_whole()),
        (_, ColumnType::Value(_) | ColumnType::Array(_)) => false,
    }
}

/// Whether statements can use a column of a type that is built into PostgreSQL so.
fn has_use(column_use: ColumnUse, ty: &Type, is_whole: bool) -> bool {
    match column_use {
        ColumnUse::Internal => true,
        ColumnUse::Output(scalar) => ColumnFormat::of(ty).is_some_and(|format| format.can_be(scalar)),
        ColumnUse::OutputList(_) => false,
        // The bytes of a key are sent back unchanged, in an array of the type that the statement has for the scalar.
        // All types that accept the scalar have the same format, with two exceptions: booleans have two, and numbers are cast.
        ColumnUse::ParentKey(ScalarType::Boolean) => *ty == Type::BOOL,
        ColumnUse::Compared(ScalarType::Id) | ColumnUse::ParentKey(ScalarType::Id) if *ty == Type::NUMERIC => is_whole,
        // A `char` pads its values, so others would compare as equal.
        ColumnUse::ScopeValue => matches!(*ty, Type::TEXT | Type::VARCHAR),
        ColumnUse::Searched => *ty == Type::TS_VECTOR,
        ColumnUse::Compared(scalar) | ColumnUse::ParentKey(scalar) => parameter::accepts_scalar(ty, scalar),
    }
}

/// Whether a column can be searched and sorted by as this scalar.
pub(crate) fn is_compared(column: &DescribedColumn, scalar: ScalarType) -> bool {
    column.collation.nondeterministic().is_none() && is_compatible(ColumnUse::Compared(scalar), column)
}

/// Whether PostgreSQL compares the columns with `=`, and an index on the right one serves the comparison.
pub(crate) fn are_comparable(left: &DescribedColumn, right: &DescribedColumn) -> bool {
    right.collation.serves_comparison_with(left.collation) && are_of_comparable_types(left, right)
}

fn are_of_comparable_types(left: &DescribedColumn, right: &DescribedColumn) -> bool {
    match (&left.ty, &right.ty) {
        (ColumnType::Value(ValueType::Enum(left)), ColumnType::Value(ValueType::Enum(right))) => left == right,
        (ColumnType::Value(ValueType::BuiltIn(left)), ColumnType::Value(ValueType::BuiltIn(right))) => {
            left == right
                || family(left).is_some_and(|family_of_left| family(right) == Some(family_of_left))
                    && serves(right, left)
        }
        _ => left.type_name == right.type_name,
    }
}

/// Whether an index on a column of a type serves the comparison with one of another type of its family. PostgreSQL casts one of the two, and
/// an index does not have what a cast makes of its column.
fn serves(indexed: &Type, other: &Type) -> bool {
    match *indexed {
        Type::BPCHAR => *other == Type::VARCHAR,
        Type::VARCHAR => *other != Type::BPCHAR,
        Type::INT2 | Type::INT4 | Type::INT8 => !matches!(*other, Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8),
        Type::NUMERIC => !matches!(*other, Type::FLOAT4 | Type::FLOAT8),
        _ => true,
    }
}

/// Types that PostgreSQL compares with one another.
#[derive(PartialEq, Eq)]
enum TypeFamily {
    Text,
    Number,
    Moment,
    Uuid,
}

fn family(ty: &Type) -> Option<TypeFamily> {
    match *ty {
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => Some(TypeFamily::Text),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 => Some(TypeFamily::Number),
        Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::DATE => Some(TypeFamily::Moment),
        Type::UUID => Some(TypeFamily::Uuid),
        _ => None,
    }
}
