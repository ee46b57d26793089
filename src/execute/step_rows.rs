//! The rows of a step, grouped by their parents.
//!
//! Rows and parents are counted from the step's first. A response that is written while its rows arrive drops those that it
//! has written, so only the last ones may be in memory.

use std::ops::Range;

use tokio_postgres::Row;

use crate::database::parameter::RawValue;
use crate::execute::encode::ColumnFormat;
use crate::execute::error::ExecuteError;
use crate::plan::step::Step;

/// Bytes that a row takes beside its values, and each of its columns.
const ROW_OVERHEAD: usize = 96;
const COLUMN_OVERHEAD: usize = 24;

/// The rows of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepRows {
    /// The rows of the pages, in the response's order, group after group.
    rows: Vec<Row>,
    /// How many rows before them were dropped.
    dropped_rows: usize,
    /// The rows of each parent, in the parents' order.
    groups: Vec<Group>,
    /// How many groups before them were dropped.
    dropped_groups: usize,
    /// The number of groups all of whose rows have arrived, from the first.
    complete: usize,
    /// The first row of the first group, if that row was dropped.
    start: Option<Row>,
    /// Whether a page is written when all of its rows have arrived, and not before.
    whole_pages: bool,
    /// The format of each column.
    pub(crate) formats: Vec<ColumnFormat>,
    /// The last row that a search examined, if it examined as many as it may before it found its page and the row after it. It
    /// may not match.
    pub(crate) last_examined: Option<Row>,
}

/// The rows of one parent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    /// The number of its first row.
    pub(crate) start: usize,
    /// The number after its last row, of those that have arrived.
    pub(crate) end: usize,
    /// Whether the database has a row beyond the far end of the page; it may not match if a search ended with its window.
    pub(crate) overflow: bool,
    /// Whether there are rows at or before the `after:` cursor.
    pub(crate) before_page: bool,
    /// Whether there are rows at or after the `before:` cursor.
    pub(crate) after_page: bool,
    /// The number of rows that match, up to a limit, if it is known.
    pub(crate) count: Option<i64>,
}

impl StepRows {
    /// No rows yet, with columns in these formats.
    pub(super) fn new(formats: Vec<ColumnFormat>) -> Self {
        Self { formats, ..Self::default() }
    }

    /// No rows yet, which are written as they arrive, or page by page.
    pub(super) fn streamed(formats: Vec<ColumnFormat>, whole_pages: bool) -> Self {
        Self { whole_pages, formats, ..Self::default() }
    }

    /// A column of a row, and its format; `None` is a null.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<(ColumnFormat, &[u8])> {
        let bytes = raw(self.row(row)?, column).ok()??;
        Some((*self.formats.get(column)?, bytes.0))
    }

    /// A row, unless it was dropped.
    pub(super) fn row(&self, row: usize) -> Option<&Row> {
        self.rows.get(row.checked_sub(self.dropped_rows)?)
    }

    /// The rows with these numbers; none if some of them are not in memory.
    pub(super) fn slice(&self, numbers: Range<usize>) -> &[Row] {
        let index = |number: usize| number.checked_sub(self.dropped_rows);
        let (Some(start), Some(end)) = (index(numbers.start), index(numbers.end)) else { return &[] };
        self.rows.get(start..end).unwrap_or_default()
    }

    /// The numbers of the rows in memory.
    pub(super) fn numbers(&self) -> Range<usize> {
        self.dropped_rows..self.end()
    }

    /// The number of rows that have arrived.
    pub(super) fn end(&self) -> usize {
        self.dropped_rows + self.rows.len()
    }

    /// The rows of a parent, as far as they have arrived.
    pub(super) fn group(&self, parent: usize) -> Group {
        let group = parent.checked_sub(self.dropped_groups).and_then(|index| self.groups.get(index));
        group.copied().unwrap_or_default()
    }

    /// The first row of a group.
    pub(super) fn first_of(&self, group: Group) -> Option<&Row> {
        if group.start < self.dropped_rows { self.start.as_ref() } else { self.row(group.start) }
    }

    /// Whether all rows of a parent have arrived.
    pub(super) fn is_complete(&self, parent: usize) -> bool {
        parent < self.complete
    }

    /// Whether a row of that parent can be written, or the parent is known not to have it.
    pub(super) fn is_ready(&self, parent: usize, row: usize) -> bool {
        self.is_complete(parent) || (!self.whole_pages && row < self.group(parent).end)
    }

    /// The number of rows that can be written.
    pub(super) fn end_of_ready(&self) -> usize {
        if !self.whole_pages {
            return self.end();
        }
        let next = self.complete.checked_sub(self.dropped_groups).and_then(|index| self.groups.get(index));
        next.map_or(self.end(), |group| group.start)
    }

    /// Drops the rows before this one, and the groups before this parent.
    pub(super) fn drop_before(&mut self, row: usize, parent: usize) {
        let groups = parent.saturating_sub(self.dropped_groups).min(self.groups.len());
        self.groups.drain(..groups);
        self.dropped_groups += groups;
        let rows = row.saturating_sub(self.dropped_rows).min(self.rows.len());
        if let Some(group) = self.groups.first()
            && (self.dropped_rows..self.dropped_rows + rows).contains(&group.start)
        {
            self.start = self.row(group.start).cloned();
        }
        self.rows.drain(..rows);
        self.dropped_rows += rows;
    }

    /// Drops all rows. The next ones are those of this parent.
    pub(super) fn restart(&mut self, parent: usize) {
        self.dropped_rows = self.end();
        self.rows.clear();
        self.groups.clear();
        (self.dropped_groups, self.complete) = (parent, parent);
    }

    /// Bytes of memory that the rows take, about.
    pub(super) fn memory(&self) -> usize {
        let row = |row: &Row| row.raw_size_bytes() + row_memory(row.len());
        self.rows.iter().map(row).sum()
    }
}

/// Bytes of memory that a row of so many columns takes beside its values, about.
pub(super) fn row_memory(columns: usize) -> usize {
    columns * COLUMN_OVERHEAD + ROW_OVERHEAD
}

/// The bytes of a column; `None` is a null.
pub(crate) fn raw(row: &Row, column: usize) -> Result<Option<RawValue<'_>>, ExecuteError> {
    row.try_get(column).map_err(|_| ExecuteError::Misshapen)
}

/// Groups the rows of a statement by their parents. Rows arrive in the parents' order.
pub(super) struct RowGrouper<'a> {
    step: &'a Step,
    /// The most rows of a group.
    size: u32,
    /// The numbers of the parents whose rows the statement fetches.
    parents: Range<usize>,
    search: SearchEnd,
}

impl<'a> RowGrouper<'a> {
    /// Of a statement for the parents with these numbers.
    pub(super) fn new(step: &'a Step, size: u32, parents: Range<usize>) -> Self {
        Self { step, size, parents, search: SearchEnd::default() }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, rows: &mut StepRows, row: Row) -> Result<(), ExecuteError> {
        let layout = self.step.layout;
        let index = match layout.ordinal {
            None => 0,
            Some(column) => ordinal(&row, column)?.checked_sub(1).ok_or(ExecuteError::Misshapen)?,
        };
        let (parent, opened) = (self.parents.start + index, rows.dropped_groups + rows.groups.len());
        if parent >= self.parents.end || parent + 1 < opened {
            return Err(ExecuteError::Misshapen);
        }
        for _ in opened..=parent {
            self.open(rows);
        }
        let Some(group) = rows.groups.last_mut() else { return Err(ExecuteError::Misshapen) };
        if let Some(column) = layout.before_page {
            group.before_page = truth(&row, column)?;
        }
        if let Some(column) = layout.after_page {
            group.after_page = truth(&row, column)?;
        }
        if let Some(column) = layout.count {
            group.count = row.try_get(column).map_err(|_| ExecuteError::Misshapen)?;
        }
        let is_row = layout.present.map_or(Ok(true), |column| truth(&row, column))?;
        if !is_row || !self.search.examine(self.step, &row)? {
            return Ok(());
        }
        if u32::try_from(group.end - group.start).is_ok_and(|rows| rows < self.size) {
            rows.rows.push(row);
            group.end += 1;
        } else {
            group.overflow = true;
        }
        Ok(())
    }

    /// The statement has no more rows.
    pub(super) fn finish(&mut self, rows: &mut StepRows) {
        while rows.dropped_groups + rows.groups.len() < self.parents.end {
            self.open(rows);
        }
        self.close(rows);
        if let Some(last_examined) = rows.groups.last_mut().and_then(|group| self.search.end(group)) {
            rows.last_examined = Some(last_examined);
        }
    }

    /// Ends the last group and begins the next.
    fn open(&self, rows: &mut StepRows) {
        self.close(rows);
        let start = rows.end();
        rows.groups.push(Group { start, end: start, ..Group::default() });
    }

    /// Ends the last group.
    fn close(&self, rows: &mut StepRows) {
        let opened = rows.dropped_groups + rows.groups.len();
        if rows.complete == opened {
            return;
        }
        rows.complete = opened;
        if self.step.backward
            && let Some(group) = rows.groups.last()
        {
            rows.rows[group.start - rows.dropped_rows..group.end - rows.dropped_rows].reverse();
        }
    }
}

/// Where a search ends if its page is not full before.
#[derive(Debug, Default)]
struct SearchEnd {
    /// The last row of the window.
    last: Option<Row>,
    /// Whether there is a row after it.
    has_more: bool,
}

impl SearchEnd {
    /// Whether the row belongs to the page, and not only to the window.
    fn examine(&mut self, step: &Step, row: &Row) -> Result<bool, ExecuteError> {
        let Some(search) = &step.search else { return Ok(true) };
        let number: Option<i64> = row.try_get(search.number).map_err(|_| ExecuteError::Misshapen)?;
        let number = number.unwrap_or(0);
        if number == search.window {
            self.last = Some(row.clone());
        }
        self.has_more |= number > search.window;
        Ok(number <= search.window && truth(row, search.matches)?)
    }

    /// The last row of the window, if the page ends with it and rows follow.
    fn end(&mut self, group: &mut Group) -> Option<Row> {
        if group.overflow || !self.has_more {
            return None;
        }
        group.overflow = true;
        self.last.take()
    }
}

fn ordinal(row: &Row, column: usize) -> Result<usize, ExecuteError> {
    let ordinal: i64 = row.try_get(column).map_err(|_| ExecuteError::Misshapen)?;
    usize::try_from(ordinal).map_err(|_| ExecuteError::Misshapen)
}

/// A boolean; null is false.
fn truth(row: &Row, column: usize) -> Result<bool, ExecuteError> {
    let truth: Option<bool> = row.try_get(column).map_err(|_| ExecuteError::Misshapen)?;
    Ok(truth == Some(true))
}
