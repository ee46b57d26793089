//! A column of a row as JSON.

use crate::database::column_format::ColumnFormat;
use crate::execute::encode;
use crate::execute::list::list;
use crate::plan::response_template::ShownType;

/// Appends a column's value. Returns `false`, and appends nothing, if its type in the schema cannot have the value.
#[inline]
pub(super) fn json(ty: ShownType, format: ColumnFormat, raw: &[u8], out: &mut Vec<u8>) -> bool {
    match ty {
        ShownType::Text(_) => encode::text(raw, out),
        ShownType::Scalar(scalar) => encode::json(scalar, format, raw, out),
        ShownType::List { scalar, non_null } => list(scalar, non_null, raw, out),
    }
}
