//! The page or lookup that is being written: its rows so far, and the known facts about the rows outside of it.

use tokio_postgres::Row;

use crate::execute::statement_rows::{RowKind, StatementRows, flag};
use crate::plan::step::Step;
use crate::query::bind::step_id::StepId;

/// A page or lookup that is being written. The writer holds it from the op that enters the page to the op that leaves it, on a stack: below
/// it are the frames of the rows around the page.
///
/// Rows belong to `StatementRows` and may be dropped there while the frame is open. The frame has their numbers. Of a row that it needs
/// later, it takes a copy before the row is dropped.
#[derive(Debug, Clone)]
pub(super) struct PageFrame {
    pub(super) step: StepId,
    /// The number of its first row, which describes the page; also of the only row of an empty page. If the page has no row at all, the
    /// number of a row of another step.
    start: usize,
    /// The number of the row after the rows that were read. The rows of the pages below the current row begin there, and each of these
    /// pages moves it on when it ends.
    next: usize,
    /// The first row, for the start cursor, which is written after the rows if `pageInfo` is selected after `edges`. `None` if the page is
    /// read whole.
    first: Option<RowRef>,
    /// The row whose fields are being written; after the last row, still the last one, for the end cursor.
    current: Option<RowRef>,
    /// The number of the current row. The rows from it on stay in memory, unless the frame has a copy.
    current_number: usize,
    /// The index of the current row on the page, for the paths of errors.
    pub(super) index: usize,
    /// The numbers of all rows of the page, if they are read before any is written: a field before them depends on all of them, such as
    /// `pageInfo` before `edges`, or they are written twice. Then all rows of the page stay in memory until it ends.
    whole: Option<Vec<usize>>,
    /// Whether the database has a row beyond the far end of the page. Known when the page's last row was read.
    overflow: bool,
    /// The last row of the window of a search, which may not match. The next page begins after it.
    window_end: Option<RowRef>,
    /// Whether there is a row after the window, so that the search may go on.
    is_cut: bool,
    /// Facts about the rows outside of the page, from its first row. Read when the page begins.
    outside: Outside,
}

/// Facts about the rows outside of a page. All rows of the page have them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outside {
    /// Whether there are rows at or before the `after:` cursor.
    pub(super) before_page: bool,
    /// Whether there are rows at or after the `before:` cursor.
    pub(super) after_page: bool,
    /// The number of rows that match, up to a limit, if it is known.
    pub(super) count: Option<i64>,
}

/// A row, by its number, or a copy of the row once it is dropped elsewhere.
#[derive(Debug, Clone)]
enum RowRef {
    Number(usize),
    Held(Box<Row>),
}

impl RowRef {
    fn row<'r>(&'r self, rows: &'r StatementRows) -> Option<&'r Row> {
        match self {
            Self::Number(number) => rows.get(*number).map(|row| &row.row),
            Self::Held(row) => Some(row),
        }
    }

    /// Keeps a copy of the row if it is about to be dropped.
    fn hold(&mut self, rows: &StatementRows, dropped: usize) {
        if let Self::Number(number) = self
            && *number < dropped
            && let Some(row) = rows.get(*number)
        {
            *self = Self::Held(Box::new(row.row.clone()));
        }
    }
}

/// Why a response is not written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its next rows have not arrived.
    Rows,
    /// The object that has to become null was sent.
    Write,
}

impl PageFrame {
    /// A page that begins with this row, if it has one.
    pub(super) fn begin(step: StepId, start: usize, rows: &StatementRows, layout: &Step) -> Self {
        let first = rows.get(start).filter(|row| row.step == step);
        Self::new(step, start, first.map_or_else(Outside::default, |row| Outside::of(layout, &row.row)))
    }

    /// The row of a lookup.
    pub(super) fn lookup(step: StepId, row: usize) -> Self {
        Self { next: row + 1, current: Some(RowRef::Number(row)), ..Self::new(step, row, Outside::default()) }
    }

    fn new(step: StepId, start: usize, outside: Outside) -> Self {
        Self {
            step,
            start,
            next: start,
            first: None,
            current: None,
            current_number: start,
            index: 0,
            whole: None,
            overflow: false,
            window_end: None,
            is_cut: false,
            outside,
        }
    }

    /// Reads all rows of the page before it is written. Rows that were read are not read again if some are missing.
    pub(super) fn read_whole(&mut self, rows: &StatementRows, step: &Step) -> Result<(), Stop> {
        let mut whole = self.whole.take().unwrap_or_default();
        let read = loop {
            match self.read(rows, step) {
                Ok(Some(row)) => whole.push(row),
                Ok(None) => break Ok(()),
                Err(stop) => break Err(stop),
            }
        };
        self.whole = Some(whole);
        read
    }

    /// Goes to the first row. Returns whether there is one.
    pub(super) fn go_to_first(&mut self, rows: &StatementRows, step: &Step) -> Result<bool, Stop> {
        let first = match &self.whole {
            Some(whole) => whole.first().copied(),
            None => self.read(rows, step)?,
        };
        self.index = 0;
        self.first = first.map(RowRef::Number);
        Ok(self.go_to(first))
    }

    /// Goes to the row after the current one. Returns whether there is one.
    pub(super) fn go_to_next(&mut self, rows: &StatementRows, step: &Step) -> Result<bool, Stop> {
        let next = match &self.whole {
            Some(whole) => whole.get(self.index + 1).copied(),
            None => self.read(rows, step)?,
        };
        self.index += usize::from(next.is_some());
        Ok(self.go_to(next))
    }

    fn go_to(&mut self, row: Option<usize>) -> bool {
        if let Some(row) = row {
            (self.current, self.current_number) = (Some(RowRef::Number(row)), row);
            if self.whole.is_some() {
                self.next = row + 1;
            }
        }
        row.is_some()
    }

    /// The number of the next row of the page. The rows of the pages below are passed over.
    fn read(&mut self, rows: &StatementRows, step: &Step) -> Result<Option<usize>, Stop> {
        loop {
            let Some(row) = rows.get(self.next) else {
                return if rows.is_complete() { Ok(None) } else { Err(Stop::Rows) };
            };
            let is_below = row.step > self.step && row.step < step.end;
            if row.step != self.step && !is_below {
                return Ok(None);
            }
            self.next += 1;
            match row.kind {
                _ if is_below => {}
                RowKind::OfPage => return Ok(Some(self.next - 1)),
                RowKind::BeyondPage => self.overflow = true,
                RowKind::EndOfWindow => self.window_end = Some(RowRef::Number(self.next - 1)),
                RowKind::AfterWindow => self.is_cut = true,
                RowKind::Empty => {}
            }
        }
    }

    /// The number of the first row after the rows that were read. The pages below the current row, or the pages after this page, begin
    /// there.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// The rows before this one are of no use any more.
    pub(super) fn pass(&mut self, next: usize) {
        self.next = next;
    }

    /// The number of the first row that something may still be written from.
    pub(super) fn oldest(&self) -> usize {
        if self.whole.is_some() { self.start } else { self.current_number }
    }

    /// The first row that has to stay in memory, if the page is read whole.
    pub(super) fn kept(&self) -> Option<usize> {
        self.whole.as_ref().map(|_| self.start)
    }

    /// Keeps copies of the rows that are still needed and are about to be dropped.
    pub(super) fn hold(&mut self, rows: &StatementRows, dropped: usize) {
        for row in [&mut self.first, &mut self.current, &mut self.window_end].into_iter().flatten() {
            row.hold(rows, dropped);
        }
    }

    /// The current row.
    pub(super) fn row<'r>(&'r self, rows: &'r StatementRows) -> Option<&'r Row> {
        self.current.as_ref()?.row(rows)
    }

    /// A row that was read of the page, which may be the one that says that it is empty. It is in memory if the page is read whole.
    pub(super) fn any_row<'r>(&self, rows: &'r StatementRows) -> Option<&'r Row> {
        rows.get(self.start).filter(|row| row.step == self.step).map(|row| &row.row)
    }

    /// The first row of the page.
    pub(super) fn first_row<'r>(&'r self, rows: &'r StatementRows) -> Option<&'r Row> {
        match &self.whole {
            Some(whole) => rows.get(*whole.first()?).map(|row| &row.row),
            None => self.first.as_ref()?.row(rows),
        }
    }

    /// The last row of the page.
    pub(super) fn last_row<'r>(&'r self, rows: &'r StatementRows) -> Option<&'r Row> {
        match &self.whole {
            Some(whole) => rows.get(*whole.last()?).map(|row| &row.row),
            None => self.row(rows),
        }
    }

    /// The last row that the page's search examined, if it reached the bound of its window before it found the page and the row after it.
    /// The row may not match.
    pub(super) fn last_examined<'r>(&'r self, rows: &'r StatementRows) -> Option<&'r Row> {
        self.window_end.as_ref().filter(|_| self.is_cut)?.row(rows)
    }

    /// Whether the window of the page's search ended before the page and the row after it were found.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether there are rows after the page.
    pub(super) fn has_next_page(&self, step: &Step) -> bool {
        self.outside.after_page || (!step.is_backward() && self.has_more())
    }

    /// Whether there are rows before the page.
    pub(super) fn has_previous_page(&self, step: &Step) -> bool {
        self.outside.before_page || (step.is_backward() && self.has_more())
    }

    /// The number of rows that match, if it is known.
    pub(super) fn count(&self) -> Option<i64> {
        self.outside.count
    }

    /// Whether the database has a row beyond the far end of the page.
    pub(super) fn is_full(&self) -> bool {
        self.overflow
    }

    fn has_more(&self) -> bool {
        self.overflow || self.is_cut
    }
}

impl Outside {
    fn of(step: &Step, row: &Row) -> Self {
        // There may be such rows also where a window ended.
        let is_there = |column: Option<usize>| column.is_some_and(|column| matches!(flag(row, column), Ok(Some(_))));
        Self {
            before_page: is_there(step.layout.before_page),
            after_page: is_there(step.layout.after_page),
            count: step.layout.count.and_then(|column| row.try_get(column).ok().flatten()),
        }
    }
}
