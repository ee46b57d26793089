//! The rows of a plan's statement, in the order of the response.
//!
//! Rows are counted from the statement's first. A response that is written while its rows arrive drops written rows, so only the
//! last ones may be in memory.

use std::collections::VecDeque;

use tokio_postgres::Row;

use crate::catalog::result_type::ResultType;
use crate::database::column_format::ColumnFormat;
use crate::database::parameter::RawValue;
use crate::execute::error::ExecuteError;
use crate::plan::request_plan::Plan;
use crate::plan::step::{StepRows, TotalsColumns};
use crate::query::bind::step_id::StepId;

/// Bytes that a row takes beside its values, and each of its columns.
const ROW_OVERHEAD: usize = 112;
const COLUMN_OVERHEAD: usize = 24;

/// The most rows of the first page that memory is reserved for.
const MAX_RESERVED: usize = 100;

/// The rows of a statement. They belong to its `ResponseWriter`, which lives as long as its response. Rows come and go, and what is known
/// of them stays: the response ends with the number of rows of each step, and with the searches that ended early.
#[derive(Debug, Clone)]
pub(super) struct StatementRows {
    /// The format of each column, by its index in a row. The first column is the number of the step; the plan decides the formats of the
    /// others, so that no row is asked for its types.
    formats: Vec<ColumnFormat>,
    /// The rows that have arrived and may still be read, in the order of the response.
    rows: VecDeque<StatementRow>,
    /// How many rows before these were dropped. Numbers of rows include them, so that a number stays valid when rows are dropped.
    dropped: usize,
    /// Bytes of memory that `rows` takes, about. It falls when rows are dropped, and is compared with what a response may hold.
    memory: usize,
    /// Bytes of the values of all rows that have arrived. It never falls: it is what PostgreSQL has sent.
    bytes: u64,
    /// Whether all rows have arrived. Until then a missing row may still come.
    is_complete: bool,
    /// What has arrived of each step, also in rows that were dropped.
    steps: Vec<Arrived>,
    /// The first row of each page of changes, which describes the page. Kept until the end, because the token at the end of the page and
    /// the response's `extensions` are made from it.
    changes: Vec<(StepId, Row)>,
}

/// A row of a step.
#[derive(Debug, Clone)]
pub(super) struct StatementRow {
    pub(super) step: StepId,
    /// Decided when the row arrives, because it depends on the rows of its page before it, which may be dropped.
    pub(super) kind: RowKind,
    /// As it came: columns are decoded only when they are written.
    pub(super) row: Row,
}

/// What a row is to its page. All rows of a page say what lies outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    /// It is on the page.
    OfPage,
    /// It lies beyond the far end of the page, which is full.
    BeyondPage,
    /// It is the last row of the page's window, and may not match the search.
    EndOfWindow,
    /// It is a row after the window: the search may go on.
    AfterWindow,
    /// It is no row: the page is empty.
    Empty,
}

/// The rows of a step that have arrived.
#[derive(Debug, Clone, Default)]
struct Arrived {
    /// The number of rows of all pages, or of the rows that were summed up. The actual cost is computed from it.
    rows: u64,
    /// The number of the current page's parent among the rows of its step. Another number begins another page.
    parent: u64,
    /// The number of the current page's rows. The row after a full page lies beyond it.
    rows_of_page: u32,
    /// Whether the window of a page ended before the page was full, or before totals had all of their rows, and there is a row after it.
    is_cut: bool,
    /// Whether more rows match than totals add up.
    is_beyond_rows: bool,
    /// Whether the windows of the probes before and after a page ended before they found a row that matches.
    cut_probes: [bool; 2],
}

impl StatementRows {
    /// No rows yet of the statement of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        let types = plan.columns().types().iter().map(|ty| format(*ty));
        let first_page = plan.steps().first().and_then(|_| usize::try_from(plan.size(0)).ok());
        Self {
            formats: std::iter::once(ColumnFormat::Int).chain(types).collect(),
            rows: VecDeque::with_capacity(first_page.map_or(0, |rows| rows.min(MAX_RESERVED) + 1)),
            dropped: 0,
            memory: 0,
            bytes: 0,
            is_complete: false,
            steps: vec![Arrived::default(); plan.steps().len()],
            changes: Vec::new(),
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, plan: &Plan, row: Row) -> Result<(), ExecuteError> {
        let id = self.value(&row, 0).and_then(|(_, bytes)| bytes.try_into().ok()).map(u32::from_be_bytes);
        let id = id.and_then(|id| StepId::try_from(id).ok()).ok_or(ExecuteError::Misshapen)?;
        let step = plan.steps().get(id).ok_or(ExecuteError::Misshapen)?;
        // Rows of an execution for several requests have one column more: the number of the request.
        if !matches!(row.len().checked_sub(self.formats.len()), Some(0 | 1)) {
            return Err(ExecuteError::Misshapen);
        }
        let parent = step.parent.map_or(1, |parent| self.steps[parent].rows);
        let arrived = &mut self.steps[id];
        if arrived.parent != parent {
            (arrived.parent, arrived.rows_of_page) = (parent, 0);
        }
        let kind = arrived.kind(plan, id, &row)?;
        if step.changes().is_some() && !self.changes.iter().any(|(known, _)| *known == id) {
            self.changes.push((id, row.clone()));
        }
        let bytes = row.raw_size_bytes();
        self.memory += self.memory_of(bytes);
        self.bytes += bytes as u64;
        self.rows.push_back(StatementRow { step: id, kind, row });
        Ok(())
    }

    /// All rows have arrived.
    pub(super) fn finish(&mut self) {
        self.is_complete = true;
    }

    /// Whether all rows have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// A row, by its number, unless it was dropped or has not arrived.
    pub(super) fn get(&self, number: usize) -> Option<&StatementRow> {
        self.rows.get(number.checked_sub(self.dropped)?)
    }

    /// The number of rows that have arrived.
    pub(super) fn end(&self) -> usize {
        self.dropped + self.rows.len()
    }

    /// The number of rows of each step's pages that have arrived; of totals, how many were summed up.
    pub(super) fn counts(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().map(|step| step.rows)
    }

    /// Whether a search of a step examined as many rows as it may before it found its page and the row after it.
    pub(super) fn is_cut(&self, step: StepId) -> bool {
        self.steps[step].is_cut
    }

    /// Whether more rows match than totals add up.
    pub(super) fn is_beyond_rows(&self, step: StepId) -> bool {
        self.steps[step].is_beyond_rows
    }

    /// The pages of changes, each with a row that describes it.
    pub(super) fn changes(&self) -> &[(StepId, Row)] {
        &self.changes
    }

    /// Whether it is not known if a row before a page of a step matches, and one after it, since a window ended.
    pub(super) fn cut_probes(&self, step: StepId) -> [bool; 2] {
        self.steps[step].cut_probes
    }

    /// Drops the rows before this one.
    pub(super) fn drop_before(&mut self, number: usize) {
        while self.dropped < number
            && let Some(row) = self.rows.pop_front()
        {
            self.memory -= self.memory_of(row.row.raw_size_bytes());
            self.dropped += 1;
        }
    }

    /// A column of a row, and its format; `None` is a null.
    #[inline]
    pub(super) fn value<'r>(&self, row: &'r Row, column: usize) -> Option<(ColumnFormat, &'r [u8])> {
        let bytes: Option<RawValue<'r>> = row.try_get(column).ok()?;
        Some((*self.formats.get(column)?, bytes?.0))
    }

    /// The size that a column of a row says.
    pub(super) fn size(&self, row: &Row, column: usize) -> Option<u64> {
        let (_, bytes) = self.value(row, column)?;
        u64::try_from(i64::from_be_bytes(bytes.try_into().ok()?)).ok()
    }

    /// Bytes of the values of all rows that have arrived.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of memory that the rows take, about.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes of memory that a row takes whose values have so many.
    fn memory_of(&self, bytes: usize) -> usize {
        bytes + ROW_OVERHEAD + self.formats.len() * COLUMN_OVERHEAD
    }
}

impl Arrived {
    /// What the next row is.
    fn kind(&mut self, plan: &Plan, id: StepId, row: &Row) -> Result<RowKind, ExecuteError> {
        let step = &plan.steps()[id];
        let search = match &step.rows {
            StepRows::Lookup | StepRows::Changes(_) => None,
            StepRows::Page { search, .. } => search.as_ref(),
            StepRows::Totals { columns, .. } => return self.kind_of_group(plan, id, columns, row),
        };
        if search.is_some() {
            for (cut, column) in self.cut_probes.iter_mut().zip([step.layout.before_page, step.layout.after_page]) {
                *cut |= column.map_or(Ok(None), |column| flag(row, column))? == Some(false);
            }
        }
        if let Some(column) = step.layout.present
            && !truth(row, column)?
        {
            return Ok(RowKind::Empty);
        }
        if let Some(search) = search {
            let number: Option<i64> = row.try_get(search.number).map_err(|_| ExecuteError::Misshapen)?;
            // There is one only if the page is not full.
            if number.is_some_and(|number| number > plan.window(id)) {
                self.is_cut = true;
                return Ok(RowKind::AfterWindow);
            }
            if !truth(row, search.matches)? {
                return Ok(RowKind::EndOfWindow);
            }
        }
        let is_beyond = match step.layout.beyond_page {
            Some(column) => truth(row, column)?,
            None => self.rows_of_page == plan.size(id),
        };
        if is_beyond {
            return Ok(RowKind::BeyondPage);
        }
        self.rows_of_page += 1;
        self.rows += 1;
        Ok(RowKind::OfPage)
    }

    /// What the next row of totals is.
    fn kind_of_group(
        &mut self,
        plan: &Plan,
        id: StepId,
        totals: &TotalsColumns,
        row: &Row,
    ) -> Result<RowKind, ExecuteError> {
        let rows: Option<i64> = row.try_get(totals.rows).map_err(|_| ExecuteError::Misshapen)?;
        self.rows = rows.and_then(|rows| u64::try_from(rows).ok()).ok_or(ExecuteError::Misshapen)?;
        let is_complete = truth(row, totals.complete)?;
        self.is_cut = !is_complete && self.rows < plan.rows(id).into();
        self.is_beyond_rows = !is_complete && !self.is_cut;
        let present = plan.steps()[id].layout.present.ok_or(ExecuteError::Misshapen)?;
        Ok(if truth(row, present)? { RowKind::OfPage } else { RowKind::Empty })
    }
}

/// A boolean; null is false.
fn truth(row: &Row, column: usize) -> Result<bool, ExecuteError> {
    Ok(flag(row, column)? == Some(true))
}

/// A boolean, or a null.
pub(super) fn flag(row: &Row, column: usize) -> Result<Option<bool>, ExecuteError> {
    row.try_get(column).map_err(|_| ExecuteError::Misshapen)
}

/// The binary format of a column of the statement.
fn format(ty: ResultType) -> ColumnFormat {
    match ty {
        ResultType::Text | ResultType::Char => ColumnFormat::Text,
        ResultType::Int8 => ColumnFormat::Int,
        ResultType::Numeric => ColumnFormat::Numeric,
        ResultType::Float8 => ColumnFormat::Float8,
        ResultType::Timestamp => ColumnFormat::Timestamp,
        ResultType::Date => ColumnFormat::Date,
        ResultType::Boolean => ColumnFormat::Boolean,
        ResultType::Uuid => ColumnFormat::Uuid,
        ResultType::Float4 => ColumnFormat::Float4,
        ResultType::Time => ColumnFormat::Time,
        ResultType::Interval => ColumnFormat::Interval,
        ResultType::Bytes => ColumnFormat::Bytes,
        ResultType::Json => ColumnFormat::Json,
        ResultType::Array(_) => ColumnFormat::Array,
    }
}
