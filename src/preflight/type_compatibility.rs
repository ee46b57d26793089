//! Whether a column's type is compatible with its use.

use tokio_postgres::types::{Kind, Type};

use crate::database::column_format::ColumnFormat;
use crate::database::parameter;
use crate::preflight::column_use::ColumnUse;
use crate::preflight::database_schema::FoundColumn;
use crate::value::ScalarType;

/// Whether statements can use a column so. The values of a type that is not built into PostgreSQL cannot be converted in either
/// direction.
pub(super) fn is_compatible(column_use: ColumnUse, column: &FoundColumn) -> bool {
    if let ColumnUse::Output(ScalarType::Enum(_)) | ColumnUse::Compared(ScalarType::Enum(_)) = column_use
        && column.labels.is_some()
    {
        return true;
    }
    let Some(ty) = &column.ty else { return column_use == ColumnUse::Internal };
    match column_use {
        ColumnUse::Internal => true,
        ColumnUse::NullCheck => ColumnFormat::of(ty).is_some(),
        ColumnUse::Output(scalar) => ColumnFormat::of(ty).is_some_and(|format| format.can_be(scalar)),
        ColumnUse::OutputList(scalar) => match ty.kind() {
            Kind::Array(element) => ColumnFormat::of(element).is_some_and(|format| format.can_be(scalar)),
            _ => false,
        },
        // The bytes of a key are sent back unchanged, in an array of the type that the statement has for the scalar.
        // All types that accept the scalar have the same format, with two exceptions: booleans have two, and numbers are cast.
        ColumnUse::ParentKey(ScalarType::Boolean) => *ty == Type::BOOL,
        ColumnUse::Compared(ScalarType::Id) | ColumnUse::ParentKey(ScalarType::Id) if *ty == Type::NUMERIC => {
            column.is_whole
        }
        // A `char` pads its values, so others would compare as equal.
        ColumnUse::ScopeValue => matches!(*ty, Type::TEXT | Type::VARCHAR),
        ColumnUse::Searched => *ty == Type::TS_VECTOR,
        ColumnUse::Compared(scalar) | ColumnUse::ParentKey(scalar) => parameter::accepts_scalar(ty, scalar),
    }
}

/// Whether PostgreSQL compares the columns with `=`, and an index on either serves the comparison.
pub(super) fn are_comparable(left: &FoundColumn, right: &FoundColumn) -> bool {
    match (left.ty.as_ref().and_then(family), right.ty.as_ref().and_then(family)) {
        (Some(left), Some(right)) => left == right,
        _ => left.type_name == right.type_name,
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
