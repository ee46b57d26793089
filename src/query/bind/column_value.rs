//! Values of a request that columns are compared with.

use crate::catalog::Catalog;
use crate::catalog::binding::Column;
use crate::catalog::integer_ranges::IntegerRange;
use crate::value::{ScalarType, Value};

/// Parses a value that a column of a relation is compared with. If the column cannot hold it, returns what it can hold.
pub(super) fn parse(catalog: &Catalog, relation: &str, column: &Column, text: &str) -> Result<Value, &'static str> {
    #[cfg(test)]
    PARSED_VALUES.with(|count| count.set(count.get() + 1));
    let value = column.scalar.parse(text).map_err(|error| error.expected)?;
    check(catalog, relation, column, &value)?;
    Ok(value)
}

/// Checks whether a column of a relation can hold a value of its scalar type. If it cannot, returns what it can hold.
pub(super) fn check(catalog: &Catalog, relation: &str, column: &Column, value: &Value) -> Result<(), &'static str> {
    let range = || catalog.integer_ranges().get(relation, &column.name);
    let is_held = match value {
        Value::Int(number) => range().contains(*number),
        Value::Numeric(_) => column.scalar == ScalarType::Decimal || range() == IntegerRange::Any,
        Value::Text(_) | Value::Decimal(_) | Value::DateTime(_) | Value::Boolean(_) => true,
    };
    if is_held { Ok(()) } else { Err(range().describe()) }
}

#[cfg(test)]
thread_local! {
    static PARSED_VALUES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many values this thread has parsed.
#[cfg(test)]
pub(super) fn parsed_values() -> usize {
    PARSED_VALUES.with(std::cell::Cell::get)
}
