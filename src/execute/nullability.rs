//! Whether rows hold what the schema promises, looked up without writing anything.

use crate::execute::encode;
use crate::execute::fetch::StepRows;
use crate::plan::response_template::{Op, ResponseTemplate};
use crate::query::bind::StepId;

/// The rows that are looked at in one part of the shape's program.
struct Level<'a> {
    rows: &'a StepRows,
    /// The columns that are null where an object that is joined to the row, and holds what follows, is absent.
    present: Vec<usize>,
}

/// Whether every value that the schema promises is there and can be written.
pub(super) fn holds(shape: &ResponseTemplate, steps: &[StepRows]) -> bool {
    let mut levels: Vec<Level<'_>> = Vec::new();
    let level = |step: &StepId| Level { rows: &steps[*step], present: Vec::new() };
    shape.ops.iter().all(|op| {
        let kept = match (op, levels.last()) {
            (Op::Lookup { step, non_null: true, .. }, _) => !steps[*step].rows.is_empty(),
            (Op::Object { present, non_null: true, .. }, Some(level)) => {
                level.each_row(|row| level.rows.value(row, *present).is_some())
            }
            (Op::Column { column, scalar, non_null: true, .. }, Some(level)) => {
                let mut scratch = Vec::new();
                level.each_row(|row| {
                    scratch.clear();
                    let value = level.rows.value(row, *column);
                    value.is_some_and(|(encoding, bytes)| encode::json(*scalar, encoding, bytes, &mut scratch))
                })
            }
            _ => true,
        };
        match op {
            Op::Lookup { step, .. } | Op::Connection { step } => levels.push(level(step)),
            Op::EndLookup | Op::EndConnection => {
                levels.pop();
            }
            Op::Object { present, .. } => levels.last_mut().into_iter().for_each(|level| level.present.push(*present)),
            Op::EndObject => {
                levels.last_mut().and_then(|level| level.present.pop());
            }
            _ => {}
        }
        kept
    })
}

impl Level<'_> {
    /// Whether it holds for each row that has the objects that are open.
    fn each_row(&self, mut holds: impl FnMut(usize) -> bool) -> bool {
        let is_there = |row: usize| self.present.iter().all(|column| self.rows.value(row, *column).is_some());
        (0..self.rows.rows.len()).all(|row| !is_there(row) || holds(row))
    }
}
