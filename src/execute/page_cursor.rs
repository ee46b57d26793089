//! The cursors of a page, or its tokens if it is one of changes.

use tokio_postgres::Row;

use crate::cursor::Encoder;
use crate::database::column_format::ColumnFormat;
use crate::execute::changes_state::{ChangesState, feed, position};
use crate::execute::encode;
use crate::execute::page_frame::PageFrame;
use crate::execute::statement_rows::{StatementRows, flag};
use crate::plan::request_plan::Plan;
use crate::plan::step::{Step, StepRows};
use crate::sync_token::Position;

/// A cursor of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageCursor {
    /// The cursor of the current row.
    OfRow,
    Start,
    End,
}

/// A page that is written.
#[derive(Clone, Copy)]
pub(super) struct WrittenPage<'r> {
    pub(super) plan: &'r Plan,
    pub(super) rows: &'r StatementRows,
    pub(super) frame: &'r PageFrame,
}

/// Writes cursors, with memory that it uses again.
#[derive(Debug, Clone, Default)]
pub(super) struct CursorWriter(Encoder);

impl CursorWriter {
    /// Appends a cursor in quotes, or nothing if there is none.
    pub(super) fn write(&mut self, page: WrittenPage<'_>, which: PageCursor, out: &mut Vec<u8>) -> bool {
        let WrittenPage { plan, rows, frame } = page;
        let step = &plan.steps()[frame.step];
        let row = page.row(step, which);
        if let Some(columns) = step.changes() {
            let (position, is_full) = (row.and_then(|row| position(rows, row, columns)), frame.is_full());
            let position = position.filter(|_| which != PageCursor::End || is_full);
            return page.write_token(which, position, out);
        }
        let (Some(row), Some(cursor)) = (row, &step.cursor) else { return false };
        self.0.begin(cursor.tag.in_scope(plan.cursor_scope(frame.step)));
        for (column, scalar) in &cursor.columns {
            let value = rows.value(row, *column);
            let format = value.map_or(ColumnFormat::Text, |(format, _)| format);
            encode::cursor_key(*scalar, format, value.map(|(_, bytes)| bytes), &mut self.0);
        }
        out.push(b'"');
        self.0.finish(out);
        out.push(b'"');
        true
    }
}

impl<'r> WrittenPage<'r> {
    /// The row that a cursor of the page, which is of this step, is of.
    fn row(self, step: &Step, which: PageCursor) -> Option<&'r Row> {
        let Self { rows, frame, .. } = self;
        // Paging on from the last row of a search's window examines the following rows, and none twice. Between both cursors of an
        // empty page no row matches.
        let last_examined = frame.last_examined(rows);
        match which {
            _ if let StepRows::Totals { columns: totals, .. } = &step.rows => {
                frame.any_row(rows).filter(|row| matches!(flag(row, totals.complete), Ok(Some(false))))
            }
            PageCursor::OfRow => frame.row(rows),
            PageCursor::Start if step.is_backward() => last_examined.or_else(|| frame.first_row(rows)),
            PageCursor::End if !step.is_backward() => last_examined.or_else(|| frame.last_row(rows)),
            PageCursor::Start => frame.first_row(rows).or(last_examined),
            PageCursor::End => frame.last_row(rows).or(last_examined),
        }
    }

    /// Appends a token of a page of changes. The end of one that has no more is a token without a position.
    fn write_token(self, which: PageCursor, position: Option<Position>, out: &mut Vec<u8>) -> bool {
        let Self { plan, rows, frame: PageFrame { step, .. } } = self;
        let step = *step;
        let (Some(columns), Some(start)) = (plan.steps()[step].changes(), plan.changes_start(step)) else {
            return false;
        };
        if position.is_none() && which != PageCursor::End {
            return false;
        }
        let token = match ChangesState::of_page(plan, rows, step) {
            Some(state) if which == PageCursor::End => state.token(start, position.or_else(|| state.last_mark.clone())),
            Some(state) => state.token(start, position),
            // The statement was not run, so the token of the request stays.
            None => start.token.clone(),
        };
        let Some(token) = token else { return false };
        out.push(b'"');
        token.write(feed(plan, columns), out);
        out.push(b'"');
        true
    }
}
