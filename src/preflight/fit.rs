//! Whether a column's type is fit for its use.

use tokio_postgres::types::Type;

use crate::database::parameter;
use crate::execute::encode::ColumnFormat;
use crate::preflight::database_schema::FoundColumn;
use crate::value::ScalarType;

/// What a column is for; its type must be fit for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is named in a statement, and its values stay in the database.
    Named,
    /// It is read, and looked at only for being null.
    Read,
    /// It is answered as this scalar.
    Answered(ScalarType),
    /// It is compared with a value of this scalar that a caller gave.
    Compared(ScalarType),
    /// It is read as a parent's key, and sent back to find the parent's children.
    Carried(ScalarType),
}

/// Whether a column of that type can be used so. Types that are not PostgreSQL's own are `None`: nothing is written from
/// them, nor sent for them.
pub(super) fn is_fit(used: Use, ty: Option<&Type>) -> bool {
    let Some(ty) = ty else { return used == Use::Named };
    match used {
        Use::Named => true,
        Use::Read => ColumnFormat::of(ty).is_some(),
        Use::Answered(scalar) => ColumnFormat::of(ty).is_some_and(|encoding| encoding.can_be(scalar)),
        // A key's bytes go back as they came, in an array of the type that the statement has for the scalar. They are the
        // same for every type that a value can be sent as, but for flags; whole numbers are cast on the way.
        Use::Carried(ScalarType::Boolean) => *ty == Type::BOOL,
        Use::Compared(scalar) | Use::Carried(scalar) => parameter::accepts_scalar(ty, scalar),
    }
}

/// Whether `=` stands between two such columns, with an index serving it from either side.
pub(super) fn are_comparable(left: &FoundColumn, right: &FoundColumn) -> bool {
    match (left.ty.as_ref().and_then(family), right.ty.as_ref().and_then(family)) {
        (Some(left), Some(right)) => left == right,
        _ => left.type_name == right.type_name,
    }
}

/// Types that compare with one another.
#[derive(PartialEq, Eq)]
enum Family {
    Text,
    Number,
    Moment,
}

fn family(ty: &Type) -> Option<Family> {
    match *ty {
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => Some(Family::Text),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 => Some(Family::Number),
        Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::DATE => Some(Family::Moment),
        _ => None,
    }
}
