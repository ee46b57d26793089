//! The ops of a response template, run over the rows of the statement in their order. They write the response's `data` in parts of about
//! the requested size, from rows that are all there or that arrive meanwhile.

use std::sync::Arc;

use thiserror::Error;
use tokio_postgres::Row;

use crate::database::column_format::ColumnFormat;
use crate::execute::changes_state::ChangesState;
use crate::execute::column;
use crate::execute::encode;
use crate::execute::error::ExecuteError;
use crate::execute::field_error::{Cause, FieldError, MAX_FIELD_ERRORS, PathPart};
use crate::execute::null_check::NullCheck;
use crate::execute::page_cursor::{CursorWriter, PageCursor, WrittenPage};
use crate::execute::page_frame::{PageFrame, Stop};
use crate::execute::partial_results::{PartialTotals, ShortSearch};
use crate::execute::response_part::{OpenObject, ResponsePart};
use crate::execute::statement_rows::{StatementRows, flag};
use crate::plan::request_plan::Plan;
use crate::plan::response_template::{Op, PathId, PathSegment, ShownType};
use crate::plan::step::{Step, StepRows};
use crate::query::bind::changes::ChangesStart;
use crate::query::bind::step_id::StepId;
use crate::value::ScalarType;

/// A response that is written: one that has all of its rows, or one whose rows arrive while it is written. It lives from the sending of the
/// statement until the end of the response: `errors` and `extensions`, which follow `data`, are read from it. It has all its state, so that
/// it can stop after any op and go on later: rows may be missing, or a part may be large enough.
#[derive(Debug, Clone)]
pub struct ResponseWriter {
    /// Shared with the request, which reports its cost, and with the cache of plans, which holds its template.
    plan: Arc<Plan>,
    /// The rows that have arrived. While they arrive, rows that were written are dropped.
    rows: StatementRows,
    /// The position of the next op in the plan's template.
    next: usize,
    /// The pages and lookups around the next op, from the root inwards. Each remembers its own place among the rows.
    frames: Vec<PageFrame>,
    /// The number of the row from which on the fields of the query root are found. Below the root, the innermost frame has that number.
    next_row: usize,
    /// A page that is read whole before it is written, while rows of it are missing. The op that enters it runs again, and goes on here.
    reading: Option<PageFrame>,
    /// The objects around the next op, from the root inwards, with the positions in `data` to which a null would have to go back.
    scopes: Vec<OpenObject>,
    /// Bytes of the parts that were returned before the present one. They are sent: an object that begins in them cannot become null.
    returned: usize,
    /// How many bytes come before `data` in the present part. `None` between two parts.
    prefix: Option<usize>,
    /// The rows that were checked for nulls in non-null fields, so that each row is checked once, before it is dropped or written.
    null_check: NullCheck,
    /// The first errors of fields, for the response's `errors`. Their number is bounded, because each row can have one.
    field_errors: Vec<FieldError>,
    /// The number of all errors of fields, also of errors that have no place in `field_errors`.
    field_error_count: u64,
    /// The memory in which a cursor is encoded, which each cursor uses again.
    cursors: CursorWriter,
    /// The end of the only page of an export, from which the next page is asked for. `None` until the page is written.
    page_end: Option<PageEnd>,
    /// The lists below rows of the root that ended early. Exports report them after the page.
    short_lists: Vec<ShortList>,
}

/// A row of a collection of the root with a list that ended early, and the list's step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShortList {
    /// The index of the row on its page.
    row: usize,
    step: StepId,
}

/// The end of a page whose rows are written as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEnd {
    /// Whether rows follow the page.
    pub has_next_page: bool,
    /// The cursor of the page's last row; empty if there is none.
    pub(crate) end_cursor: String,
}

/// How far a response is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to write.
    More,
    /// The response is complete.
    Done,
}

/// Why no more of a response was written for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// The part is large enough.
    Part,
    /// The response is complete.
    End,
    /// It has to go on with rows that have not arrived.
    Rows,
}

/// A response that cannot be finished, because the object that has to become null is in a part that was returned. The rows in
/// memory are checked before a part is returned. So this is a bug, unless rows arrive while the response is written.
#[derive(Debug, Error)]
#[error("a value is missing whose absence was not foreseen, and part of the answer has been sent")]
pub struct WriteError;

impl ResponseWriter {
    /// The response to a plan, without rows. Boxed, because it is handed on from one future to the next.
    pub(super) fn new(plan: Arc<Plan>) -> Box<Self> {
        Box::new(Self {
            rows: StatementRows::new(&plan),
            plan,
            next: 0,
            frames: Vec::new(),
            next_row: 0,
            reading: None,
            scopes: Vec::new(),
            returned: 0,
            prefix: None,
            null_check: NullCheck::default(),
            field_errors: Vec::new(),
            field_error_count: 0,
            cursors: CursorWriter::default(),
            page_end: None,
            short_lists: Vec::new(),
        })
    }

    /// Adds a row of the plan's statement.
    pub(super) fn push(&mut self, row: Row) -> Result<(), ExecuteError> {
        self.rows.push(&self.plan, row)
    }

    /// The statement has no more rows.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
    }

    /// Bytes of the values of all rows that have arrived.
    pub(super) fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// Bytes of memory that the rows take, about.
    pub fn memory(&self) -> usize {
        self.rows.memory()
    }

    /// The number of rows of each step that have arrived, for the actual cost.
    pub fn row_counts(&self) -> Vec<u64> {
        self.rows.counts().collect()
    }

    /// The searches whose windows ended early. Complete when the rows are.
    pub fn short_searches(&self) -> impl Iterator<Item = ShortSearch<'_>> {
        let steps = self.plan.steps().iter().enumerate();
        steps.filter_map(|(id, step)| {
            let is_page_cut = self.rows.is_cut(id);
            let [before_page, after_page] = self.rows.cut_probes(id);
            // Totals say themselves that they are not complete.
            let is_flagged = is_page_cut && !step.is_totals();
            let has_previous_page = before_page || (is_flagged && step.is_backward());
            let has_next_page = after_page || (is_flagged && !step.is_backward());
            let of_probe = || step.access_path.window().map_or(0, |window| window.probe_rows.into());
            let rows_examined = if is_page_cut { self.plan.average_window(id) } else { of_probe() };
            let search = ShortSearch { key: &step.name, rows_examined, is_page_cut, has_next_page, has_previous_page };
            (is_page_cut || has_next_page || has_previous_page).then_some(search)
        })
    }

    /// The totals of fewer rows than match. Complete when the rows are.
    pub(crate) fn partial_totals(&self) -> impl Iterator<Item = PartialTotals<'_>> {
        self.plan.steps().iter().enumerate().filter(|(id, _)| self.rows.is_beyond_rows(*id)).filter_map(|(id, step)| {
            let StepRows::Totals { in_parts_of, .. } = &step.rows else { return None };
            Some(PartialTotals { key: &step.name, rows: self.plan.rows(id), in_parts_of: in_parts_of.as_deref() })
        })
    }

    /// The lists below rows of the root whose windows ended early, of each row, by its index on its page, and each step once. Complete
    /// when the response is.
    pub(crate) fn short_lists(&self) -> impl Iterator<Item = (usize, ShortSearch<'_>)> {
        self.short_lists.iter().map(|list| {
            let step = &self.plan.steps()[list.step];
            let search = ShortSearch {
                key: &step.name,
                rows_examined: self.plan.average_window(list.step),
                is_page_cut: true,
                has_next_page: !step.is_backward(),
                has_previous_page: step.is_backward(),
            };
            (list.row, search)
        })
    }

    /// The fields that could not be written, in the response's order: the first [`MAX_FIELD_ERRORS`]. Complete when the
    /// response is.
    pub fn field_errors(&self) -> &[FieldError] {
        &self.field_errors
    }

    /// How many fields could not be written.
    pub fn field_error_count(&self) -> u64 {
        self.field_error_count
    }

    /// The end of the page, if the response is one whose rows are written as lines, and is complete.
    pub(crate) fn page_end(&self) -> Option<&PageEnd> {
        self.page_end.as_ref()
    }

    /// Appends the next part of `data`: all that is left, or at least that many bytes. `out` must be empty at each call but
    /// the first, when it may have other bytes before `data`.
    ///
    /// A response in which a non-null field has no value is written whole, however large: the object that becomes null must
    /// not be in a part that was returned.
    pub fn write(&mut self, out: &mut Vec<u8>, at_least: usize) -> Result<Progress, WriteError> {
        match self.write_available(out, at_least)? {
            Pause::Part => Ok(Progress::More),
            Pause::End => Ok(Progress::Done),
            // Responses that have all of their rows wait for none.
            Pause::Rows => Err(WriteError),
        }
    }

    /// Drops the rows that are written.
    pub(super) fn drop_written(&mut self) {
        let reading = self.reading.iter().filter_map(PageFrame::kept);
        let whole = self.frames.iter().filter_map(PageFrame::kept).chain(reading).min();
        let written = whole.unwrap_or_else(|| self.next_row());
        self.null_check.check(&self.plan, &self.rows);
        for frame in &mut self.frames {
            frame.hold(&self.rows, written);
        }
        self.rows.drop_before(written);
    }

    /// As [`ResponseWriter::write`], with the rows that have arrived. After a pause for rows, call it again with the same `out`.
    pub(super) fn write_available(&mut self, out: &mut Vec<u8>, at_least: usize) -> Result<Pause, WriteError> {
        let plan = Arc::clone(&self.plan);
        let prefix = *self.prefix.get_or_insert(out.len());
        let mut part = ResponsePart { out, base: prefix.wrapping_sub(self.returned) };
        while let Some(op) = plan.response_template().ops.get(self.next) {
            self.next += 1;
            match self.run(&plan, op, &mut part) {
                Ok(()) => {}
                Err(Stop::Rows) => {
                    // Goes on with this op when rows have arrived.
                    self.next -= 1;
                    return Ok(Pause::Rows);
                }
                Err(Stop::Write) => return Err(WriteError),
            }
            if let Op::NextRow { start, .. } = op
                && self.next == *start
                && part.out.len() - prefix >= at_least
                && self.satisfies_nullability(&plan)
            {
                self.returned += part.out.len() - prefix;
                self.prefix = None;
                return Ok(Pause::Part);
            }
        }
        self.returned += part.out.len() - prefix;
        self.prefix = None;
        Ok(Pause::End)
    }

    /// Runs one op, after which `next` is the position of the next.
    fn run(&mut self, plan: &Plan, op: &Op, part: &mut ResponsePart<'_>) -> Result<(), Stop> {
        match op {
            Op::Literal(_) | Op::Column { .. } => self.fields(plan, part)?,
            Op::Object { present, non_null, path, end } => match self.value(*present) {
                Some(_) => self.open(*non_null, *end, part),
                None => self.absent(*end, non_null.then_some(*path), part)?,
            },
            Op::EndObject => {
                self.scopes.pop();
            }
            Op::Lookup { step, non_null, path, end } => match self.find(*step)? {
                Some(row) => {
                    self.open(*non_null, *end, part);
                    self.frames.push(PageFrame::lookup(*step, row));
                }
                None => self.absent(*end, non_null.then_some(*path), part)?,
            },
            Op::EndLookup => {
                self.scopes.pop();
                self.leave();
            }
            Op::Connection { step } => self.enter(plan, *step)?,
            Op::BoundedList { step, is_too_long, limit, index, path, end } => {
                self.enter(plan, *step)?;
                let start = part.offset();
                self.scopes.push(OpenObject { non_null: false, start, end: *end, frames: self.frames.len() - 1 });
                if self.is_of_page(*is_too_long) {
                    self.report(Cause::ListTooLong { limit: *limit, index: index.clone() }, *path);
                    self.null(true, part)?;
                }
            }
            Op::EndConnection => {
                self.note_short_list();
                self.leave();
            }
            Op::FirstRow { end } => self.first_row(plan, *end)?,
            Op::NextRow { start, separator } => {
                if self.next_row_of_page(plan)? {
                    part.out.extend(*separator);
                    self.next = *start;
                }
            }
            Op::Cursor => self.cursor(plan, PageCursor::OfRow, part.out),
            Op::StartCursor => self.cursor(plan, PageCursor::Start, part.out),
            Op::EndCursor => self.cursor(plan, PageCursor::End, part.out),
            Op::HasNextPage => self.page_flag(plan, PageFrame::has_next_page, part.out),
            Op::HasPreviousPage => self.page_flag(plan, PageFrame::has_previous_page, part.out),
            Op::Count => self.count(part.out),
            Op::OfPage { column, scalar } => self.of_page(*column, *scalar, part.out),
            Op::LocalTime { column, offset, path } => {
                if !self.local_time(*column, *offset, part.out) {
                    self.report(Cause::Unwritable(ShownType::Scalar(ScalarType::DateTime)), *path);
                }
            }
            Op::PageEnd => self.end_page(plan),
        }
        Ok(())
    }

    /// Whether every non-null field has a value, as far as rows have arrived.
    fn satisfies_nullability(&mut self, plan: &Plan) -> bool {
        let oldest = self.frames.first().map_or(self.next_row, PageFrame::oldest);
        self.null_check.is_passed(plan, &self.rows, oldest)
    }

    /// The number of the row from which on the pages below the current row are found.
    fn next_row(&self) -> usize {
        self.frames.last().map_or(self.next_row, PageFrame::next)
    }

    /// Passes over the rows before this one, of the current row's pages.
    fn pass(&mut self, next: usize) {
        match self.frames.last_mut() {
            Some(frame) => frame.pass(next),
            None => self.next_row = next,
        }
    }

    /// The number of the first row of a step below the current row, if it has one. Rows of steps before it that were not written are
    /// passed over.
    fn find(&mut self, step: StepId) -> Result<Option<usize>, Stop> {
        let parent = self.frames.last().map(|frame| frame.step);
        let mut number = self.next_row();
        let found = loop {
            match self.rows.get(number).map(|row| row.step) {
                None if self.rows.is_complete() => break Ok(None),
                None => break Err(Stop::Rows),
                Some(found) if found == step => break Ok(Some(number)),
                Some(found) if found < step && parent.is_none_or(|parent| found > parent) => number += 1,
                Some(_) => break Ok(None),
            }
        };
        self.pass(number);
        found
    }

    /// Enters a connection.
    fn enter(&mut self, plan: &Plan, id: StepId) -> Result<(), Stop> {
        let step = &plan.steps()[id];
        let mut frame = if let Some(frame) = self.reading.take() {
            frame
        } else {
            let row = self.find(id)?;
            PageFrame::begin(id, row.unwrap_or_else(|| self.next_row()), &self.rows, step)
        };
        if !step.is_written_in_order && frame.read_whole(&self.rows, step) == Err(Stop::Rows) {
            self.reading = Some(frame);
            return Err(Stop::Rows);
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Remembers the list that was written if it ended early.
    fn note_short_list(&mut self) {
        let [root, .., list] = self.frames.as_slice() else { return };
        if !list.is_cut() {
            return;
        }
        let short = ShortList { row: root.index, step: list.step };
        let of_row = self.short_lists.iter().rev().take_while(|other| other.row == short.row);
        if !of_row.into_iter().any(|other| *other == short) {
            self.short_lists.push(short);
        }
    }

    /// Leaves a connection or lookup.
    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.pass(frame.next());
        }
    }

    fn first_row(&mut self, plan: &Plan, end: usize) -> Result<(), Stop> {
        if let Some(frame) = self.frames.last_mut()
            && !frame.go_to_first(&self.rows, &plan.steps()[frame.step])?
        {
            self.next = end;
        }
        Ok(())
    }

    fn next_row_of_page(&mut self, plan: &Plan) -> Result<bool, Stop> {
        match self.frames.last_mut() {
            Some(frame) => frame.go_to_next(&self.rows, &plan.steps()[frame.step]),
            None => Ok(false),
        }
    }

    /// Writes literals and columns of the current row, from the op before `next` up to the first other op. Most ops are literals and
    /// columns: the row is looked up once for a sequence of them.
    fn fields(&mut self, plan: &Plan, part: &mut ResponsePart<'_>) -> Result<(), Stop> {
        let out = &mut *part.out;
        let row = self.frames.last().and_then(|frame| frame.row(&self.rows));
        let ops = &plan.response_template().ops;
        let mut position = self.next - 1;
        let (cause, non_null, path) = loop {
            match ops.get(position) {
                Some(Op::Literal(bytes)) => out.extend_from_slice(bytes),
                Some(Op::Column { before, column, size, ty, non_null, path }) => {
                    out.extend_from_slice(before);
                    match row.and_then(|row| self.rows.value(row, *column)) {
                        Some((format, bytes)) if column::json(*ty, format, bytes, out) => {}
                        Some(_) => break (Cause::Unwritable(*ty), *non_null, *path),
                        None if let Some(bytes) =
                            size.and_then(|size| row.and_then(|row| self.rows.size(row, size))) =>
                        {
                            break (Cause::TooLong(bytes), *non_null, *path);
                        }
                        None if *non_null => break (Cause::Missing, true, *path),
                        None => out.extend_from_slice(b"null"),
                    }
                }
                _ => {
                    self.next = position;
                    return Ok(());
                }
            }
            position += 1;
        };
        self.next = position + 1;
        self.report(cause, path);
        self.null(non_null, part)
    }

    /// A column of the current row, and its format; `None` is a null.
    fn value(&self, column: usize) -> Option<(ColumnFormat, &[u8])> {
        self.rows.value(self.frames.last()?.row(&self.rows)?, column)
    }

    fn open(&mut self, non_null: bool, end: usize, part: &ResponsePart<'_>) {
        self.scopes.push(OpenObject { non_null, start: part.offset(), end, frames: self.frames.len() });
    }

    /// Writes an absent object, and goes on with the op at `end`. If it may not be absent, `missing` is its path.
    fn absent(&mut self, end: usize, missing: Option<PathId>, part: &mut ResponsePart<'_>) -> Result<(), Stop> {
        self.next = end;
        if let Some(path) = missing {
            self.report(Cause::Missing, path);
        }
        self.null(missing.is_some(), part)
    }

    /// Writes a null. In place of a field that is non-null, the nearest nullable object around it becomes null, or `data`.
    fn null(&mut self, non_null: bool, part: &mut ResponsePart<'_>) -> Result<(), Stop> {
        if non_null {
            let mut nullable = None;
            while let Some(scope) = self.scopes.pop() {
                if !scope.non_null {
                    nullable = Some(scope);
                    break;
                }
            }
            let whole =
                OpenObject { non_null: false, start: 0, end: self.plan.response_template().ops.len(), frames: 0 };
            let scope = nullable.unwrap_or(whole);
            if scope.start < self.returned {
                return Err(Stop::Write);
            }
            part.out.truncate(scope.start.wrapping_add(part.base));
            self.frames.truncate(scope.frames);
            self.next = scope.end;
        }
        part.out.extend_from_slice(b"null");
        Ok(())
    }

    /// Records the error of a field of the current row.
    fn report(&mut self, cause: Cause, path: PathId) {
        self.field_error_count += 1;
        if self.field_errors.len() < MAX_FIELD_ERRORS {
            let part = |segment: &PathSegment| match segment {
                PathSegment::Key(key) => PathPart::Key(key.clone()),
                PathSegment::Row(step) => {
                    let frame = self.frames.iter().find(|frame| frame.step == *step);
                    PathPart::Index(frame.map_or(0, |frame| frame.index))
                }
            };
            let mut path: Vec<_> = self.plan.response_template().segments_to_root(path).map(part).collect();
            path.reverse();
            self.field_errors.push(FieldError { cause, path });
        }
    }

    fn cursor(&mut self, plan: &Plan, which: PageCursor, out: &mut Vec<u8>) {
        if !self.write_cursor(plan, which, out) {
            out.extend_from_slice(b"null");
        }
    }

    /// Appends a cursor of the current page, if there is one.
    fn write_cursor(&mut self, plan: &Plan, which: PageCursor, out: &mut Vec<u8>) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        self.cursors.write(WrittenPage { plan, rows: &self.rows, frame }, which, out)
    }

    /// The states of the pages of changes. Complete when the rows are.
    pub(crate) fn changes_states(&self) -> impl Iterator<Item = (&ChangesStart, ChangesState)> {
        let steps = self.rows.changes().iter().map(|(step, _)| *step);
        steps.filter_map(|step| {
            Some((self.plan.changes_start(step)?, ChangesState::of_page(&self.plan, &self.rows, step)?))
        })
    }

    /// Whether the only page of changes is empty, and nothing follows it.
    pub(crate) fn is_without_changes(&self) -> bool {
        let is_end = |(_, state): (_, ChangesState)| state.last_mark.is_none();
        self.rows.counts().next() == Some(0) && self.changes_states().all(is_end)
    }

    /// Remembers where the page ends.
    fn end_page(&mut self, plan: &Plan) {
        let mut cursor = Vec::new();
        self.write_cursor(plan, PageCursor::End, &mut cursor);
        let has_next_page = self.frames.last().is_some_and(|frame| frame.has_next_page(&plan.steps()[frame.step]));
        let end_cursor = String::from_utf8_lossy(&cursor).trim_matches('"').to_owned();
        self.page_end = Some(PageEnd { has_next_page, end_cursor });
    }

    fn count(&self, out: &mut Vec<u8>) {
        match self.frames.last().and_then(PageFrame::count) {
            Some(count) => out.extend_from_slice(count.to_string().as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
    }

    /// Whether a column that all rows of the page have is true.
    fn is_of_page(&self, column: usize) -> bool {
        let row = self.frames.last().and_then(|frame| frame.any_row(&self.rows));
        row.is_some_and(|row| matches!(flag(row, column), Ok(Some(true))))
    }

    /// A column that all rows of the page have.
    fn of_page(&self, column: usize, scalar: ScalarType, out: &mut Vec<u8>) {
        let row = self.frames.last().and_then(|frame| frame.any_row(&self.rows));
        let value = row.and_then(|row| self.rows.value(row, column));
        if !value.is_some_and(|(format, bytes)| encode::json(scalar, format, bytes, out)) {
            out.extend_from_slice(b"null");
        }
    }

    /// Writes a time with its offset, or a null. Returns whether it could be written.
    fn local_time(&self, column: usize, offset: usize, out: &mut Vec<u8>) -> bool {
        let offset = self.value(offset).map(|(_, bytes)| bytes);
        let written = self.value(column).map(|(format, bytes)| encode::local_time(format, bytes, offset, out));
        if written != Some(true) {
            out.extend_from_slice(b"null");
        }
        written != Some(false)
    }

    fn page_flag(&self, plan: &Plan, flag: fn(&PageFrame, &Step) -> bool, out: &mut Vec<u8>) {
        let holds = self.frames.last().is_some_and(|frame| flag(frame, &plan.steps()[frame.step]));
        out.extend_from_slice(if holds { b"true" } else { b"false" });
    }
}
