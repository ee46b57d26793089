//! Values of a request that columns are compared with.

use crate::catalog::column::Column;
use crate::value::Value;

/// Parses a value that a column is compared with. If the column cannot hold it, returns what it can hold.
pub(super) fn parse(column: &Column, text: &str) -> Result<Value, &'static str> {
    #[cfg(test)]
    PARSED_VALUES.with(|count| count.set(count.get() + 1));
    column.stored.parse(column.scalar, text)
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
