//! A column of a row as JSON.

use crate::database::column_format::ColumnFormat;
use crate::execute::encode;
use crate::execute::list::list;
use crate::plan::response_template::ColumnType;

/// Appends a column's value. Returns `false`, and appends nothing, if its type in the schema cannot have the value.
#[inline]
pub(super) fn json(ty: ColumnType, format: ColumnFormat, raw: &[u8], out: &mut Vec<u8>) -> bool {
    match ty {
        ColumnType::Text(_) => encode::text(raw, out),
        ColumnType::Scalar(scalar) => encode::json(scalar, format, raw, out),
        ColumnType::List { scalar, non_null } => list(scalar, non_null, raw, out),
    }
}
