//! The shape's program, run over the rows of the steps: the answer's `data`, in parts of about the size that is wanted.

use std::sync::Arc;

use thiserror::Error;

use crate::cursor::Encoder;
use crate::execute::encode::{self, ColumnFormat};
use crate::execute::fetch::{Group, StepRows, raw};
use crate::execute::field_error::{Cause, FieldError, MOST_FAULTS, PathPart};
use crate::execute::nullability;
use crate::plan::Plan;
use crate::plan::response_template::{Op, PathId, Segment};
use crate::plan::step::Parents;
use crate::query::bind::StepId;

/// An answer that is ready to be written. It holds its rows and needs nothing else.
#[derive(Debug, Clone)]
pub struct ResponseWriter {
    plan: Arc<Plan>,
    steps: Vec<StepRows>,
    counts: Vec<u64>,
    at: usize,
    frames: Vec<Frame>,
    scopes: Vec<Scope>,
    /// Bytes that were handed out before the present part.
    handed_out: usize,
    /// Whether the rows hold what the schema promises, as soon as somebody had to know.
    satisfies_nullability: Option<bool>,
    faults: Vec<FieldError>,
    nullability_violations: u64,
    cursor: Encoder,
    scratch: Vec<u8>,
}

/// How far an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more.
    More,
    /// That was all.
    Done,
}

/// An answer that cannot be finished, because what is to become null has been handed out. Rows are looked through before
/// anything is, so this is a fault of this program.
#[derive(Debug, Error)]
#[error("a value is missing whose absence was not foreseen, and part of the answer has been sent")]
pub struct WriteError;

/// The rows of a connection, or of a point root, and the one at hand.
#[derive(Debug, Clone, Copy)]
struct Frame {
    step: StepId,
    group: Group,
    row: usize,
}

/// An object that may be absent: what becomes of it if a promise inside is broken.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// Whether the schema promises that it is there, so that a null goes on to the object around it.
    non_null: bool,
    /// Where it begins in the answer.
    start: usize,
    /// Where the program goes on behind it.
    end: usize,
    /// How many frames are open around it.
    frames: usize,
}

impl ResponseWriter {
    pub(super) fn new(plan: Arc<Plan>, steps: Vec<StepRows>) -> Self {
        let counts = steps.iter().map(|step| step.rows.len() as u64).collect();
        Self {
            plan,
            steps,
            counts,
            at: 0,
            frames: Vec::new(),
            scopes: Vec::new(),
            handed_out: 0,
            satisfies_nullability: None,
            faults: Vec::new(),
            nullability_violations: 0,
            cursor: Encoder::default(),
            scratch: Vec::new(),
        }
    }

    /// How many rows each step came to, for the actual cost.
    pub fn row_counts(&self) -> &[u64] {
        &self.counts
    }

    /// The fields that could not be answered, in the answer's order: the first [`MOST_FAULTS`]. Complete when all is
    /// written.
    pub fn faults(&self) -> &[FieldError] {
        &self.faults
    }

    /// How many fields could not be answered.
    pub fn nullability_violations(&self) -> u64 {
        self.nullability_violations
    }

    /// Appends the next part of the `data` value: all that is left, or at least that many bytes. `out` is empty at each
    /// call but the first, where something may stand before the value.
    ///
    /// An answer whose rows break a promise is written whole, however large: a null then makes something around it null,
    /// which must not have been handed out.
    pub fn write(&mut self, out: &mut Vec<u8>, at_least: usize) -> Result<Progress, WriteError> {
        let plan = Arc::clone(&self.plan);
        let before = if self.at == 0 { out.len() } else { 0 };
        // Places in the answer are counted from its own first byte.
        let base = before.wrapping_sub(self.handed_out);
        while let Some(op) = plan.shape().ops.get(self.at) {
            self.at += 1;
            match op {
                Op::Literal(bytes) => out.extend_from_slice(bytes),
                Op::Column { column, scalar, non_null, place } => {
                    let cause = match self.value(*column) {
                        Some((encoding, bytes)) if encode::json(*scalar, encoding, bytes, out) => continue,
                        Some(_) => Some(Cause::Unwritable(*scalar)),
                        None => non_null.then_some(Cause::Missing),
                    };
                    if let Some(cause) = cause {
                        self.tell(cause, *place);
                    }
                    self.null(*non_null, out, base)?;
                }
                Op::Object { present, non_null, place, end } => {
                    if self.value(*present).is_some() {
                        self.open(*non_null, *end, out, base);
                    } else {
                        self.absent(*non_null, *place, *end, out, base)?;
                    }
                }
                Op::EndObject => {
                    self.scopes.pop();
                }
                Op::Lookup { step, non_null, place, end } => {
                    if self.steps[*step].rows.is_empty() {
                        self.absent(*non_null, *place, *end, out, base)?;
                    } else {
                        self.open(*non_null, *end, out, base);
                        let group = self.steps[*step].groups[0];
                        self.frames.push(Frame { step: *step, group, row: group.start });
                    }
                }
                Op::EndLookup => {
                    self.scopes.pop();
                    self.frames.pop();
                }
                Op::Connection { step } => {
                    let parent = match plan.steps()[*step].parents {
                        Parents::Known => 0,
                        Parents::Rows { .. } => self.frames.last().map_or(0, |frame| frame.row),
                    };
                    let group = self.steps[*step].groups.get(parent).copied().unwrap_or_default();
                    self.frames.push(Frame { step: *step, group, row: group.start });
                }
                Op::EndConnection => {
                    self.frames.pop();
                }
                Op::FirstRow { end } => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.row = frame.group.start;
                        if frame.group.start == frame.group.end {
                            self.at = *end;
                        }
                    }
                }
                Op::NextRow { start } => {
                    if let Some(frame) = self.frames.last_mut()
                        && frame.row + 1 < frame.group.end
                    {
                        frame.row += 1;
                        out.push(b',');
                        self.at = *start;
                        if out.len() - before >= at_least && self.satisfies_nullability() {
                            self.handed_out += out.len() - before;
                            return Ok(Progress::More);
                        }
                    }
                }
                Op::Cursor => self.cursor(|frame| Some(frame.row), out),
                Op::StartCursor => {
                    self.cursor(|Frame { group, .. }| (group.start < group.end).then_some(group.start), out);
                }
                Op::EndCursor => {
                    self.cursor(|Frame { group, .. }| (group.start < group.end).then(|| group.end - 1), out);
                }
                Op::HasNextPage => {
                    let fact = |group: Group, backward: bool| group.behind_page || (group.overflow && !backward);
                    self.page_fact(&plan, fact, out);
                }
                Op::HasPreviousPage => {
                    let fact = |group: Group, backward: bool| group.before_page || (group.overflow && backward);
                    self.page_fact(&plan, fact, out);
                }
            }
        }
        self.handed_out += out.len() - before;
        Ok(Progress::Done)
    }

    /// A column of the row at hand, and its form; `None` is a null.
    fn value(&self, column: usize) -> Option<(ColumnFormat, &[u8])> {
        let frame = self.frames.last()?;
        self.steps[frame.step].value(frame.row, column)
    }

    fn open(&mut self, non_null: bool, end: usize, out: &[u8], base: usize) {
        let start = out.len().wrapping_sub(base);
        self.scopes.push(Scope { non_null, start, end, frames: self.frames.len() });
    }

    /// An object that is not there.
    fn absent(
        &mut self,
        non_null: bool,
        place: PathId,
        end: usize,
        out: &mut Vec<u8>,
        base: usize,
    ) -> Result<(), WriteError> {
        self.at = end;
        if non_null {
            self.tell(Cause::Missing, place);
        }
        self.null(non_null, out, base)
    }

    /// Writes a null; where none may be, the nearest object around it that may be null becomes one, or the whole answer.
    fn null(&mut self, non_null: bool, out: &mut Vec<u8>, base: usize) -> Result<(), WriteError> {
        if non_null {
            let mut nullable = None;
            while let Some(scope) = self.scopes.pop() {
                if !scope.non_null {
                    nullable = Some(scope);
                    break;
                }
            }
            let whole = Scope { non_null: false, start: 0, end: self.plan.shape().ops.len(), frames: 0 };
            let scope = nullable.unwrap_or(whole);
            if scope.start < self.handed_out {
                return Err(WriteError);
            }
            out.truncate(scope.start.wrapping_add(base));
            self.frames.truncate(scope.frames);
            self.at = scope.end;
        }
        out.extend_from_slice(b"null");
        Ok(())
    }

    /// Keeps in mind what is wrong at a place of the row at hand.
    fn tell(&mut self, cause: Cause, place: PathId) {
        self.nullability_violations += 1;
        if self.faults.len() < MOST_FAULTS {
            let part = |segment: &Segment| match segment {
                Segment::Key(key) => PathPart::Key(key.clone()),
                Segment::Row(step) => {
                    let frame = self.frames.iter().find(|frame| frame.step == *step);
                    PathPart::Index(frame.map_or(0, |frame| frame.row - frame.group.start))
                }
            };
            let mut path: Vec<_> = self.plan.shape().way_up(place).map(part).collect();
            path.reverse();
            self.faults.push(FieldError { cause, path });
        }
    }

    /// Whether the rows hold a value wherever the schema promises one. Looked through once, when the first part of a
    /// large answer is to be handed out.
    fn satisfies_nullability(&mut self) -> bool {
        *self.satisfies_nullability.get_or_insert_with(|| nullability::holds(self.plan.shape(), &self.steps))
    }

    fn cursor(&mut self, row: impl FnOnce(Frame) -> Option<usize>, out: &mut Vec<u8>) {
        let Some((frame, row)) = self.frames.last().and_then(|frame| Some((*frame, row(*frame)?))) else {
            return out.extend_from_slice(b"null");
        };
        let step = &self.steps[frame.step];
        let (Some(row), Some(cursor)) = (step.rows.get(row), &self.plan.steps()[frame.step].cursor) else {
            return out.extend_from_slice(b"null");
        };
        self.cursor.begin(cursor.tag);
        for (column, scalar) in &cursor.columns {
            let bytes = raw(row, *column).ok().flatten().map(|raw| raw.0);
            encode::cursor_key(*scalar, step.encodings[*column], bytes, &mut self.scratch, &mut self.cursor);
        }
        out.push(b'"');
        self.cursor.finish(out);
        out.push(b'"');
    }

    fn page_fact(&self, plan: &Plan, fact: impl FnOnce(Group, bool) -> bool, out: &mut Vec<u8>) {
        let holds = self.frames.last().is_some_and(|frame| fact(frame.group, plan.steps()[frame.step].backward));
        out.extend_from_slice(if holds { b"true" } else { b"false" });
    }
}
