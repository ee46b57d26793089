//! The shape's program, run over the rows of the steps: the answer's `data`, in parts of about the size that is wanted.

use std::sync::Arc;

use thiserror::Error;

use crate::cursor::Encoder;
use crate::execute::encode;
use crate::execute::fetch::{Group, StepRows, raw};
use crate::plan::Plan;
use crate::plan::shape::Op;
use crate::plan::step::Parents;
use crate::query::bind::StepId;

/// An answer that is ready to be written. It holds its rows and needs nothing else.
#[derive(Debug)]
pub struct Answer {
    plan: Arc<Plan>,
    steps: Vec<StepRows>,
    counts: Vec<u64>,
    at: usize,
    frames: Vec<Frame>,
    scopes: Vec<Scope>,
    /// Bytes that were handed out before the present part.
    handed_out: usize,
    broken_promises: u64,
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

/// An answer that cannot be finished: what is wrong became known only after its beginning was handed out.
#[derive(Debug, Error)]
#[error("the database holds a null where the schema promises a value, and part of the answer has been sent")]
pub struct WriteError;

/// The rows of a connection, or of a point root, and the one at hand.
#[derive(Debug, Clone, Copy)]
struct Frame {
    step: StepId,
    group: Group,
    row: usize,
}

/// An object that may be null: what becomes of it if a promise inside is broken.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// Where it begins in the answer.
    start: usize,
    /// Where the program goes on behind it.
    end: usize,
    /// How many frames are open around it.
    frames: usize,
}

impl Answer {
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
            broken_promises: 0,
            cursor: Encoder::default(),
            scratch: Vec::new(),
        }
    }

    /// How many rows each step came to, for the actual cost.
    pub fn row_counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many nulls were found where the schema promises a value. The nearest object around each that may be null is
    /// null instead, as the specification has it.
    pub fn broken_promises(&self) -> u64 {
        self.broken_promises
    }

    /// Appends the next part of the `data` value: all that is left, or at least that many bytes. `out` is empty at each
    /// call but the first, where something may stand before the value.
    pub fn write(&mut self, out: &mut Vec<u8>, at_least: usize) -> Result<Progress, WriteError> {
        let plan = Arc::clone(&self.plan);
        let before = if self.at == 0 { out.len() } else { 0 };
        // Places in the answer are counted from its own first byte.
        let base = before.wrapping_sub(self.handed_out);
        while let Some(op) = plan.shape.ops.get(self.at) {
            self.at += 1;
            match op {
                Op::Literal(bytes) => out.extend_from_slice(bytes),
                Op::Column { column, scalar, non_null } => {
                    let is_written = self
                        .value(*column)
                        .is_some_and(|(encoding, bytes)| encode::json(*scalar, encoding, bytes, out));
                    match (is_written, non_null) {
                        (true, _) => {}
                        (false, false) => out.extend_from_slice(b"null"),
                        (false, true) => self.break_promise(out, base)?,
                    }
                }
                Op::Object { present, end } => {
                    if self.value(*present).is_some() {
                        self.open(*end, out, base);
                    } else {
                        out.extend_from_slice(b"null");
                        self.at = *end;
                    }
                }
                Op::EndObject => {
                    self.scopes.pop();
                }
                Op::Point { step, end } => {
                    if self.steps[*step].rows.is_empty() {
                        out.extend_from_slice(b"null");
                        self.at = *end;
                    } else {
                        self.open(*end, out, base);
                        let group = self.steps[*step].groups[0];
                        self.frames.push(Frame { step: *step, group, row: group.start });
                    }
                }
                Op::EndPoint => {
                    self.scopes.pop();
                    self.frames.pop();
                }
                Op::Connection { step } => {
                    let parent = match plan.steps[*step].parents {
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
                        if out.len() - before >= at_least {
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
    fn value(&self, column: usize) -> Option<(encode::Encoding, &[u8])> {
        let frame = self.frames.last()?;
        let step = &self.steps[frame.step];
        let bytes = raw(step.rows.get(frame.row)?, column).ok()??;
        Some((*step.encodings.get(column)?, bytes.0))
    }

    fn open(&mut self, end: usize, out: &[u8], base: usize) {
        let start = out.len().wrapping_sub(base);
        self.scopes.push(Scope { start, end, frames: self.frames.len() });
    }

    /// Makes the nearest object that may be null a null, or the whole answer.
    fn break_promise(&mut self, out: &mut Vec<u8>, base: usize) -> Result<(), WriteError> {
        self.broken_promises += 1;
        let end = self.plan.shape.ops.len();
        let scope = self.scopes.pop().unwrap_or(Scope { start: 0, end, frames: 0 });
        if scope.start < self.handed_out {
            return Err(WriteError);
        }
        out.truncate(scope.start.wrapping_add(base));
        out.extend_from_slice(b"null");
        self.frames.truncate(scope.frames);
        self.at = scope.end;
        Ok(())
    }

    fn cursor(&mut self, row: impl FnOnce(Frame) -> Option<usize>, out: &mut Vec<u8>) {
        let Some((frame, row)) = self.frames.last().and_then(|frame| Some((*frame, row(*frame)?))) else {
            return out.extend_from_slice(b"null");
        };
        let step = &self.steps[frame.step];
        let (Some(row), Some(cursor)) = (step.rows.get(row), &self.plan.steps[frame.step].cursor) else {
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
        let holds = self.frames.last().is_some_and(|frame| fact(frame.group, plan.steps[frame.step].backward));
        out.extend_from_slice(if holds { b"true" } else { b"false" });
    }
}
