//! Whether every non-null field has a value in the rows that have arrived, checked without writing anything.

use tokio_postgres::Row;

use crate::execute::column;
use crate::execute::statement_rows::{RowKind, StatementRows};
use crate::plan::request_plan::Plan;
use crate::plan::response_template::{Op, ResponseTemplate, ShownType};
use crate::query::bind::step_id::StepId;

/// A check of the rows of a response, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct NullCheck {
    /// By step, once they are needed.
    non_nulls: Option<Vec<Vec<NonNull>>>,
    /// The number of rows that were checked.
    checked: usize,
    /// The last row that lacks a value.
    violated: Option<usize>,
}

/// A value that a row must have.
#[derive(Debug, Clone)]
struct NonNull {
    /// The joined objects around it, by the columns that are null if they are absent: without them it need not be there.
    within: Vec<usize>,
    column: usize,
    /// Its type; `None` for a joined object.
    ty: Option<ShownType>,
}

impl NullCheck {
    /// Checks the rows that have arrived since the last check. Rows are checked before they are dropped.
    pub(super) fn check(&mut self, plan: &Plan, rows: &StatementRows) {
        let template = plan.response_template();
        let non_nulls = self.non_nulls.get_or_insert_with(|| non_nulls(template, plan.steps().len()));
        for number in self.checked..rows.end() {
            let Some(row) = rows.get(number).filter(|row| row.kind == RowKind::OfPage) else { continue };
            if !non_nulls[row.step].iter().all(|non_null| non_null.holds(rows, &row.row)) {
                self.violated = Some(number);
            }
        }
        self.checked = rows.end();
    }

    /// Whether all rows pass that have arrived, from the oldest one from which something may still be written.
    pub(super) fn is_passed(&mut self, plan: &Plan, rows: &StatementRows, oldest: usize) -> bool {
        self.check(plan, rows);
        self.violated.is_none_or(|number| number < oldest)
            && (!rows.is_complete() || lookups_are_there(plan.response_template(), rows))
    }
}

impl NonNull {
    fn holds(&self, rows: &StatementRows, row: &Row) -> bool {
        let is_there = |column: &usize| rows.value(row, *column).is_some();
        !self.within.iter().all(is_there)
            || match self.ty {
                None => is_there(&self.column),
                Some(ty) => rows
                    .value(row, self.column)
                    .is_some_and(|(format, bytes)| column::json(ty, format, bytes, &mut Vec::new())),
            }
    }
}

/// Whether every lookup of a non-null type found a row.
fn lookups_are_there(template: &ResponseTemplate, rows: &StatementRows) -> bool {
    let counts: Vec<_> = rows.counts().collect();
    template.ops.iter().all(|op| match op {
        Op::Lookup { step, non_null: true, .. } => counts[*step] > 0,
        _ => true,
    })
}

/// The values that the rows of each step must have.
fn non_nulls(template: &ResponseTemplate, steps: usize) -> Vec<Vec<NonNull>> {
    let mut non_nulls = vec![Vec::new(); steps];
    // The steps around an op, and the joined objects that are open in their rows.
    let mut levels: Vec<(StepId, Vec<usize>)> = Vec::new();
    for op in &template.ops {
        match op {
            Op::Lookup { step, .. } | Op::Connection { step } | Op::BoundedList { step, .. } => {
                levels.push((*step, Vec::new()));
            }
            Op::EndLookup | Op::EndConnection => {
                levels.pop();
            }
            Op::Object { present, non_null, .. } => {
                if let Some((step, within)) = levels.last_mut() {
                    if *non_null {
                        non_nulls[*step].push(NonNull { within: within.clone(), column: *present, ty: None });
                    }
                    within.push(*present);
                }
            }
            Op::EndObject => {
                levels.last_mut().and_then(|(_, within)| within.pop());
            }
            Op::Column { column, ty, non_null: true, .. } => {
                if let Some((step, within)) = levels.last() {
                    let non_null = NonNull { within: within.clone(), column: *column, ty: Some(*ty) };
                    non_nulls[*step].push(non_null);
                }
            }
            Op::Column { .. }
            | Op::Literal(_)
            | Op::FirstRow { .. }
            | Op::NextRow { .. }
            | Op::Cursor
            | Op::StartCursor
            | Op::EndCursor
            | Op::HasNextPage
            | Op::HasPreviousPage
            | Op::Count
            | Op::OfPage { .. }
            | Op::LocalTime { .. }
            | Op::PageEnd => {}
        }
    }
    non_nulls
}
