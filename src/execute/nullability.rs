//! Whether every non-null field has a value in the rows in memory, checked without writing anything.

use crate::execute::encode;
use crate::execute::step_rows::StepRows;
use crate::plan::response_template::{Op, ResponseTemplate};
use crate::value::ScalarType;

/// The rows that the ops of one connection or lookup read.
struct Level<'a> {
    rows: &'a StepRows,
    /// For each joined object that is open, the column that is null if the object is absent.
    present: Vec<usize>,
}

/// Whether every non-null field has a value that can be written.
pub(super) fn is_satisfied(template: &ResponseTemplate, steps: &[StepRows]) -> bool {
    let mut levels: Vec<Level<'_>> = Vec::new();
    template.ops.iter().all(|op| match op {
        Op::Lookup { step, non_null, .. } => {
            let rows = &steps[*step];
            levels.push(Level { rows, present: Vec::new() });
            !non_null || !rows.numbers().is_empty()
        }
        Op::Connection { step } => {
            levels.push(Level { rows: &steps[*step], present: Vec::new() });
            true
        }
        Op::EndLookup | Op::EndConnection => {
            levels.pop();
            true
        }
        Op::Object { present, non_null, .. } => levels.last_mut().is_none_or(|level| {
            let is_satisfied = !non_null || level.has_value(*present);
            level.present.push(*present);
            is_satisfied
        }),
        Op::EndObject => {
            levels.last_mut().and_then(|level| level.present.pop());
            true
        }
        Op::Column { column, scalar, non_null, .. } => {
            !non_null || levels.last().is_none_or(|level| level.can_be_written(*column, *scalar))
        }
        Op::Literal(_)
        | Op::FirstRow { .. }
        | Op::NextRow { .. }
        | Op::Cursor
        | Op::StartCursor
        | Op::EndCursor
        | Op::HasNextPage
        | Op::HasPreviousPage
        | Op::Count => true,
    })
}

impl Level<'_> {
    /// Whether a column is not null in any row.
    fn has_value(&self, column: usize) -> bool {
        self.every_row(|row| self.rows.value(row, column).is_some())
    }

    /// Whether a column has a value in every row that can be written as that scalar.
    fn can_be_written(&self, column: usize, scalar: ScalarType) -> bool {
        let mut scratch = Vec::new();
        self.every_row(|row| {
            scratch.clear();
            let value = self.rows.value(row, column);
            value.is_some_and(|(format, bytes)| encode::json(scalar, format, bytes, &mut scratch))
        })
    }

    /// Whether a condition holds for every row that has the open objects.
    fn every_row(&self, mut holds: impl FnMut(usize) -> bool) -> bool {
        let is_there = |row: usize| self.present.iter().all(|column| self.rows.value(row, *column).is_some());
        self.rows.numbers().all(|row| !is_there(row) || holds(row))
    }
}
