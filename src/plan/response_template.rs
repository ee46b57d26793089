//! The response's bytes around the values, made once for a plan template: a flat list of ops, which writing a response runs
//! over the rows.

use crate::query::bind::ids::StepId;
use crate::value::ScalarType;

/// The ops that write a response's `data`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ResponseTemplate {
    /// The ops, run from the first; loops and absent objects jump.
    pub ops: Vec<Op>,
    /// Each path as its parent and its last segment.
    paths: Vec<(PathId, PathSegment)>,
}

impl ResponseTemplate {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let literals = self.ops.iter().map(Op::heap_bytes);
        let keys = self.paths.iter().map(|(_, segment)| match segment {
            PathSegment::Key(key) => key.len(),
            PathSegment::Row(_) => 0,
        });
        let lists = size_of_val(self.ops.as_slice()) + size_of_val(self.paths.as_slice());
        lists + literals.sum::<usize>() + keys.sum::<usize>()
    }

    /// The steps whose pages are written once, from their first row to their last, and of which nothing is written before that
    /// depends on all rows. Each step is one of so many.
    pub(super) fn written_in_order(&self, steps: usize) -> Vec<bool> {
        let mut in_order = vec![false; steps];
        // The steps around an op, and how often their rows were written before it.
        let mut enclosing: Vec<(StepId, u32)> = Vec::new();
        for op in &self.ops {
            match op {
                Op::Connection { step } | Op::Lookup { step, .. } => {
                    in_order[*step] = true;
                    enclosing.push((*step, 0));
                }
                Op::EndLookup => {
                    enclosing.pop();
                }
                Op::EndConnection => {
                    if let Some((step, loops)) = enclosing.pop() {
                        // Rows that are not written are fetched all the same: they are paid for.
                        in_order[step] &= loops > 0;
                    }
                }
                Op::FirstRow { .. } => {
                    if let Some((step, loops)) = enclosing.last_mut() {
                        *loops += 1;
                        in_order[*step] &= *loops == 1;
                    }
                }
                Op::StartCursor | Op::EndCursor | Op::HasNextPage | Op::HasPreviousPage | Op::Count | Op::PageEnd => {
                    if let Some((step, loops)) = enclosing.last() {
                        in_order[*step] &= *loops > 0;
                    }
                }
                Op::Literal(_)
                | Op::Column { .. }
                | Op::Object { .. }
                | Op::EndObject
                | Op::NextRow { .. }
                | Op::Cursor => {}
            }
        }
        in_order
    }

    /// The segments of a path, from the last to the root.
    pub fn segments_to_root(&self, path: PathId) -> impl Iterator<Item = &PathSegment> {
        let mut next = path;
        std::iter::from_fn(move || {
            let (parent, segment) = self.paths.get(next.0.checked_sub(1)?)?;
            next = *parent;
            Some(segment)
        })
    }
}

/// A path in the response. The elements of a list have one path together. The default is the root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathId(usize);

/// A segment of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum PathSegment {
    /// A response key.
    Key(Box<str>),
    /// The index of the current row in the list of that step's rows.
    Row(StepId),
}

/// One op. The current row is the one of the innermost loop or lookup.
#[derive(Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes as they are.
    Literal(Box<[u8]>),
    /// A column of the current row, as JSON.
    Column {
        /// Its index in the row.
        column: usize,
        /// Its type in the schema.
        scalar: ScalarType,
        /// Whether its type in the schema is non-null.
        non_null: bool,
        /// Its path in the response.
        path: PathId,
    },
    /// A joined object: `null` and a jump to `end` if this column of the current row is null.
    Object {
        /// A column that is null if the object is absent.
        present: usize,
        /// Whether its type in the schema is non-null.
        non_null: bool,
        /// Its path in the response.
        path: PathId,
        /// The position after the object's [`Op::EndObject`].
        end: usize,
    },
    /// The end of a joined object.
    EndObject,
    /// A lookup's row: `null` and a jump to `end` if there is none.
    Lookup {
        /// Its step.
        step: StepId,
        /// Whether its type in the schema is non-null.
        non_null: bool,
        /// Its path in the response.
        path: PathId,
        /// The position after the lookup's [`Op::EndLookup`].
        end: usize,
    },
    /// The end of a lookup.
    EndLookup,
    /// A connection: the rows of the step whose parent is the current row.
    Connection {
        /// Its step.
        step: StepId,
    },
    /// The end of a connection.
    EndConnection,
    /// The first row of the connection, or a jump to `end` if it has none.
    FirstRow {
        /// The position after the loop's [`Op::NextRow`].
        end: usize,
    },
    /// The separator and a jump back to `start` if the connection has another row.
    NextRow {
        /// The position after the loop's [`Op::FirstRow`].
        start: usize,
        /// A comma, unless rows are lines.
        separator: Option<u8>,
    },
    /// The current row's cursor.
    Cursor,
    /// The cursor of the connection's first row, or `null`.
    StartCursor,
    /// The cursor of the connection's last row, or `null`.
    EndCursor,
    /// Whether rows follow the page.
    HasNextPage,
    /// Whether rows precede the page.
    HasPreviousPage,
    /// The number of rows of the connection, or null.
    Count,
    /// Nothing is written: the writer remembers whether rows follow the page, and the cursor of its last row.
    PageEnd,
}

impl Op {
    /// The memory that it takes beside itself, in bytes.
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Literal(bytes) => bytes.len(),
            Self::Column { .. }
            | Self::Object { .. }
            | Self::EndObject
            | Self::Lookup { .. }
            | Self::EndLookup
            | Self::Connection { .. }
            | Self::EndConnection
            | Self::FirstRow { .. }
            | Self::NextRow { .. }
            | Self::Cursor
            | Self::StartCursor
            | Self::EndCursor
            | Self::HasNextPage
            | Self::HasPreviousPage
            | Self::Count
            | Self::PageEnd => 0,
        }
    }
}

/// Appends ops, joining adjacent literals.
#[derive(Debug, Default)]
pub struct TemplateWriter {
    ops: Vec<Op>,
    literal: Vec<u8>,
    paths: Vec<(PathId, PathSegment)>,
    /// The path of what is being written.
    path: PathId,
    /// The paths of the objects around it.
    enclosing: Vec<PathId>,
}

/// The position of an op that [`TemplateWriter::close`] will fill in.
#[derive(Debug)]
pub struct Reserved(usize);

impl TemplateWriter {
    /// Appends bytes.
    pub fn literal(&mut self, text: &str) {
        self.literal.extend_from_slice(text.as_bytes());
    }

    /// Appends a string.
    pub fn text(&mut self, text: &str) {
        // Writing to memory cannot fail, and every string can be written as JSON.
        let _ = serde_json::to_writer(&mut self.literal, text);
    }

    /// Begins an object.
    pub fn open_object(&mut self) {
        self.literal("{");
        self.enclosing.push(self.path);
    }

    /// Ends an object.
    pub fn close_object(&mut self) {
        self.literal("}");
        self.path = self.enclosing.pop().unwrap_or_default();
    }

    /// Enters the path of the elements in a list of a step's rows.
    pub fn enter_list(&mut self, step: StepId) {
        self.enter(self.path, PathSegment::Row(step));
    }

    /// Appends a key of the innermost open object, and enters the path of its value.
    pub fn key(&mut self, key: &str, is_first: bool) {
        self.bare_key(key, is_first);
        self.enter(self.enclosing.last().copied().unwrap_or_default(), PathSegment::Key(key.into()));
    }

    /// Enters the path of a key that is not written.
    pub fn enter_key(&mut self, key: &str) {
        self.enter(self.path, PathSegment::Key(key.into()));
    }

    /// The path of what is being written.
    pub fn path(&self) -> PathId {
        self.path
    }

    fn enter(&mut self, parent: PathId, segment: PathSegment) {
        self.paths.push((parent, segment));
        self.path = PathId(self.paths.len());
    }

    /// Appends a key without entering a path. Response keys are GraphQL names, which need no escaping.
    pub fn bare_key(&mut self, key: &str, is_first: bool) {
        self.literal(if is_first { "\"" } else { ",\"" });
        self.literal(key);
        self.literal("\":");
    }

    /// Appends an op.
    pub fn push(&mut self, op: Op) {
        self.flush();
        self.ops.push(op);
    }

    /// The position of the next op.
    pub fn position(&mut self) -> usize {
        self.flush();
        self.ops.len()
    }

    /// Appends an op that jumps past another one, which [`TemplateWriter::close`] appends.
    pub fn reserve(&mut self) -> Reserved {
        let position = self.position();
        self.ops.push(Op::EndObject);
        Reserved(position)
    }

    /// Appends the closing op, and fills in the opening one. `opening` gets the position after the closing op.
    pub fn close(&mut self, Reserved(position): Reserved, opening: impl FnOnce(usize) -> Op, closing: Op) {
        self.push(closing);
        self.ops[position] = opening(self.ops.len());
    }

    /// The finished template.
    pub fn finish(mut self) -> ResponseTemplate {
        self.flush();
        ResponseTemplate { ops: self.ops, paths: self.paths }
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.ops.push(Op::Literal(self.literal.as_slice().into()));
            self.literal.clear();
        }
    }
}
