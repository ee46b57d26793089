//! The ops of a response template, run over the rows of the steps. They write the response's `data` in parts of about the
//! requested size.

use std::sync::Arc;

use thiserror::Error;

use crate::cursor::Encoder;
use crate::execute::encode::{self, ColumnFormat};
use crate::execute::field_error::{Cause, FieldError, MAX_FIELD_ERRORS, PathPart};
use crate::execute::nullability;
use crate::execute::step_rows::{Group, StepRows, raw};
use crate::plan::request_plan::Plan;
use crate::plan::response_template::{Op, PathId, PathSegment};
use crate::plan::step::{Parents, SearchColumns};
use crate::query::bind::ids::StepId;

/// A response that is written: one that has all of its rows, or one whose rows arrive while it is written.
#[derive(Debug, Clone)]
pub struct ResponseWriter {
    plan: Arc<Plan>,
    steps: Vec<StepRows>,
    /// The position of the next op.
    next: usize,
    frames: Vec<Frame>,
    scopes: Vec<Scope>,
    /// Bytes of the parts that were returned before the present one.
    returned: usize,
    /// The present part: how many bytes came before `data` in it.
    prefix: Option<usize>,
    /// Whether every non-null field has a value; checked when it is first needed.
    satisfies_nullability: Option<bool>,
    field_errors: Vec<FieldError>,
    field_error_count: u64,
    cursor: Encoder,
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
    /// It has to go on with rows of that step that have not arrived.
    Rows(StepId),
}

/// A response that cannot be finished, because the object that has to become null is in a part that was returned. The rows in
/// memory are checked before a part is returned. So this is a bug, unless rows arrive while the response is written.
#[derive(Debug, Error)]
#[error("a value is missing whose absence was not foreseen, and part of the answer has been sent")]
pub struct WriteError;

/// The rows of a connection or lookup, and the current one.
#[derive(Debug, Clone, Copy)]
struct Frame {
    step: StepId,
    /// The number of the parent.
    parent: usize,
    row: usize,
}

/// An open object. If a non-null field inside it has no value, the nearest nullable one becomes null.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// Whether its type is non-null, so that a null propagates to the object around it.
    non_null: bool,
    /// The offset of its first byte in `data`.
    start: usize,
    /// The position of the op after it.
    end: usize,
    /// The number of frames around it.
    frames: usize,
}

/// A search whose window ended before its page, and the row after it, were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortSearch<'a> {
    /// The response key of its collection root.
    pub key: &'a str,
    /// How many rows of the order it examined.
    pub rows_examined: i64,
}

/// Whether a search ended with its window, and at which end of the page that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndOfWindow {
    None,
    BeforePage,
    AfterPage,
}

/// The row that a cursor is made of.
#[derive(Debug, Clone, Copy)]
enum CursorRow {
    OfPage(usize),
    /// The last row of a search's window. Paging on from there examines the following rows, and none twice.
    LastExamined,
}

impl CursorRow {
    /// The row of `startCursor`.
    fn first(group: Group, end: EndOfWindow) -> Option<Self> {
        let row = (group.start < group.end).then_some(Self::OfPage(group.start));
        if end == EndOfWindow::BeforePage { Some(Self::LastExamined) } else { row.or_else(|| Self::of_empty(end)) }
    }

    /// The row of `endCursor`.
    fn last(group: Group, end: EndOfWindow) -> Option<Self> {
        let row = (group.start < group.end).then(|| Self::OfPage(group.end - 1));
        if end == EndOfWindow::AfterPage { Some(Self::LastExamined) } else { row.or_else(|| Self::of_empty(end)) }
    }

    /// Both cursors of an empty page: no row between them matches.
    fn of_empty(end: EndOfWindow) -> Option<Self> {
        (end != EndOfWindow::None).then_some(Self::LastExamined)
    }
}

impl ResponseWriter {
    pub(super) fn new(plan: Arc<Plan>, steps: Vec<StepRows>) -> Self {
        Self {
            plan,
            steps,
            next: 0,
            frames: Vec::new(),
            scopes: Vec::new(),
            returned: 0,
            prefix: None,
            satisfies_nullability: None,
            field_errors: Vec::new(),
            field_error_count: 0,
            cursor: Encoder::default(),
        }
    }

    /// Bytes of memory that the rows take, about.
    pub fn memory(&self) -> usize {
        self.steps.iter().map(StepRows::memory).sum()
    }

    /// The number of rows of each step that have arrived, for the actual cost.
    pub fn row_counts(&self) -> Vec<u64> {
        self.steps.iter().map(|step| step.end() as u64).collect()
    }

    /// The searches that ended with their windows.
    pub fn short_searches(&self) -> impl Iterator<Item = ShortSearch<'_>> {
        let steps = self.plan.steps().iter().zip(&self.steps).filter(|(_, rows)| rows.last_examined.is_some());
        steps.filter_map(|(step, _)| {
            let SearchColumns { key, window, .. } = step.search.as_ref()?;
            Some(ShortSearch { key, rows_examined: *window })
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
            Pause::Rows(_) => Err(WriteError),
        }
    }

    /// The rows of the steps.
    pub(super) fn steps_mut(&mut self) -> &mut [StepRows] {
        // What was checked are the rows that were there.
        self.satisfies_nullability = None;
        &mut self.steps
    }

    /// Drops the rows of a step that are written.
    pub(super) fn drop_written(&mut self, step: StepId) {
        let parent = self.parent(step);
        let rows = &mut self.steps[step];
        if let Some(frame) = self.frames.iter().find(|frame| frame.step == step) {
            // The last row is kept for its cursor.
            return rows.drop_before(frame.row, frame.parent);
        }
        let group = rows.group(parent);
        rows.drop_before(if group.start < group.end { group.start } else { rows.end() }, parent);
    }

    /// As [`ResponseWriter::write`], with the rows that have arrived. After a pause for rows, call it again with the same `out`.
    pub(super) fn write_available(&mut self, out: &mut Vec<u8>, at_least: usize) -> Result<Pause, WriteError> {
        let plan = Arc::clone(&self.plan);
        let prefix = *self.prefix.get_or_insert(out.len());
        // The index in `out` of an offset in `data` is the offset plus this.
        let base = prefix.wrapping_sub(self.returned);
        while let Some(op) = plan.response_template().ops.get(self.next) {
            self.next += 1;
            match op {
                Op::Literal(bytes) => out.extend_from_slice(bytes),
                Op::Column { column, scalar, non_null, path } => {
                    let cause = match self.value(*column) {
                        Some((format, bytes)) if encode::json(*scalar, format, bytes, out) => continue,
                        Some(_) => Some(Cause::Unwritable(*scalar)),
                        None => non_null.then_some(Cause::Missing),
                    };
                    if let Some(cause) = cause {
                        self.report(cause, *path);
                    }
                    self.null(*non_null, out, base)?;
                }
                Op::Object { present, non_null, path, end } => {
                    if self.value(*present).is_some() {
                        self.open(*non_null, *end, out, base);
                    } else {
                        self.absent(*non_null, *path, *end, out, base)?;
                    }
                }
                Op::EndObject => {
                    self.scopes.pop();
                }
                Op::Lookup { step, non_null, path, end } => {
                    if !self.steps[*step].is_ready(0, 0) {
                        return Ok(self.pause_for(*step));
                    }
                    if self.steps[*step].numbers().is_empty() {
                        self.absent(*non_null, *path, *end, out, base)?;
                    } else {
                        self.open(*non_null, *end, out, base);
                        self.frames.push(Frame { step: *step, parent: 0, row: 0 });
                    }
                }
                Op::EndLookup => {
                    self.scopes.pop();
                    self.frames.pop();
                }
                Op::Connection { step } => {
                    let parent = self.parent(*step);
                    let rows = &self.steps[*step];
                    let row = rows.group(parent).start;
                    if !rows.is_ready(parent, row) {
                        return Ok(self.pause_for(*step));
                    }
                    self.frames.push(Frame { step: *step, parent, row });
                }
                Op::EndConnection => {
                    self.frames.pop();
                }
                Op::FirstRow { end } => {
                    if let Some(frame) = self.frames.last_mut() {
                        let group = self.steps[frame.step].group(frame.parent);
                        frame.row = group.start;
                        if group.start == group.end {
                            self.next = *end;
                        }
                    }
                }
                Op::NextRow { start } => {
                    if let Some(frame) = self.frames.last_mut() {
                        let (step, rows) = (frame.step, &self.steps[frame.step]);
                        if frame.row + 1 < rows.group(frame.parent).end {
                            frame.row += 1;
                            out.push(b',');
                            self.next = *start;
                            if out.len() - prefix >= at_least && self.satisfies_nullability() {
                                self.returned += out.len() - prefix;
                                self.prefix = None;
                                return Ok(Pause::Part);
                            }
                        } else if !rows.is_ready(frame.parent, frame.row + 1) {
                            return Ok(self.pause_for(step));
                        }
                    }
                }
                Op::Cursor => self.cursor(|row, _, _| Some(CursorRow::OfPage(row)), out),
                Op::StartCursor => self.cursor(|_, group, step| CursorRow::first(group, step), out),
                Op::EndCursor => self.cursor(|_, group, step| CursorRow::last(group, step), out),
                Op::HasNextPage => {
                    let flag = |group: Group, backward: bool| group.after_page || (group.overflow && !backward);
                    self.page_flag(&plan, flag, out);
                }
                Op::Count => self.count(out),
                Op::HasPreviousPage => {
                    let flag = |group: Group, backward: bool| group.before_page || (group.overflow && backward);
                    self.page_flag(&plan, flag, out);
                }
            }
        }
        self.returned += out.len() - prefix;
        self.prefix = None;
        Ok(Pause::End)
    }

    /// Goes on with this op when rows of the step have arrived.
    fn pause_for(&mut self, step: StepId) -> Pause {
        self.next -= 1;
        Pause::Rows(step)
    }

    /// The number of the parent, among those of a step, whose rows are written or follow next.
    fn parent(&self, step: StepId) -> usize {
        match self.plan.steps()[step].parents {
            Parents::Known => 0,
            Parents::Rows { .. } => self.frames.last().map_or(0, |frame| frame.row),
        }
    }

    /// A column of the current row, and its format; `None` is a null.
    fn value(&self, column: usize) -> Option<(ColumnFormat, &[u8])> {
        let frame = self.frames.last()?;
        self.steps[frame.step].value(frame.row, column)
    }

    fn open(&mut self, non_null: bool, end: usize, out: &[u8], base: usize) {
        let start = out.len().wrapping_sub(base);
        self.scopes.push(Scope { non_null, start, end, frames: self.frames.len() });
    }

    /// Writes an absent object.
    fn absent(
        &mut self,
        non_null: bool,
        path: PathId,
        end: usize,
        out: &mut Vec<u8>,
        base: usize,
    ) -> Result<(), WriteError> {
        self.next = end;
        if non_null {
            self.report(Cause::Missing, path);
        }
        self.null(non_null, out, base)
    }

    /// Writes a null. In place of a field that is non-null, the nearest nullable object around it becomes null, or `data`.
    fn null(&mut self, non_null: bool, out: &mut Vec<u8>, base: usize) -> Result<(), WriteError> {
        if non_null {
            let mut nullable = None;
            while let Some(scope) = self.scopes.pop() {
                if !scope.non_null {
                    nullable = Some(scope);
                    break;
                }
            }
            let whole = Scope { non_null: false, start: 0, end: self.plan.response_template().ops.len(), frames: 0 };
            let scope = nullable.unwrap_or(whole);
            if scope.start < self.returned {
                return Err(WriteError);
            }
            out.truncate(scope.start.wrapping_add(base));
            self.frames.truncate(scope.frames);
            self.next = scope.end;
        }
        out.extend_from_slice(b"null");
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
                    PathPart::Index(
                        frame.map_or(0, |frame| frame.row - self.steps[frame.step].group(frame.parent).start),
                    )
                }
            };
            let mut path: Vec<_> = self.plan.response_template().segments_to_root(path).map(part).collect();
            path.reverse();
            self.field_errors.push(FieldError { cause, path });
        }
    }

    /// Whether every non-null field has a value. Checks once, before the first part of a large response is returned.
    fn satisfies_nullability(&mut self) -> bool {
        *self
            .satisfies_nullability
            .get_or_insert_with(|| nullability::is_satisfied(self.plan.response_template(), &self.steps))
    }

    fn cursor(&mut self, row: impl FnOnce(usize, Group, EndOfWindow) -> Option<CursorRow>, out: &mut Vec<u8>) {
        let Some(frame) = self.frames.last().copied() else { return out.extend_from_slice(b"null") };
        let (rows, step) = (&self.steps[frame.step], &self.plan.steps()[frame.step]);
        let group = rows.group(frame.parent);
        let end = match (&rows.last_examined, step.backward) {
            (None, _) => EndOfWindow::None,
            (Some(_), false) => EndOfWindow::AfterPage,
            (Some(_), true) => EndOfWindow::BeforePage,
        };
        let row = row(frame.row, group, end).and_then(|row| match row {
            CursorRow::OfPage(row) if row == group.start => rows.first_of(group),
            CursorRow::OfPage(row) => rows.row(row),
            CursorRow::LastExamined => rows.last_examined.as_ref(),
        });
        let (Some(row), Some(cursor)) = (row, &step.cursor) else { return out.extend_from_slice(b"null") };
        self.cursor.begin(cursor.tag);
        for (column, scalar) in &cursor.columns {
            let bytes = raw(row, *column).ok().flatten().map(|raw| raw.0);
            encode::cursor_key(*scalar, rows.formats[*column], bytes, &mut self.cursor);
        }
        out.push(b'"');
        self.cursor.finish(out);
        out.push(b'"');
    }

    fn count(&self, out: &mut Vec<u8>) {
        let count = self.frames.last().and_then(|frame| self.steps[frame.step].group(frame.parent).count);
        match count {
            Some(count) => out.extend_from_slice(count.to_string().as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn page_flag(&self, plan: &Plan, flag: impl FnOnce(Group, bool) -> bool, out: &mut Vec<u8>) {
        let flag = |frame: &Frame| flag(self.steps[frame.step].group(frame.parent), plan.steps()[frame.step].backward);
        let holds = self.frames.last().is_some_and(flag);
        out.extend_from_slice(if holds { b"true" } else { b"false" });
    }
}
