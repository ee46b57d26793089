//! The answer's bytes around the values, made once per plan as a flat program: writing an answer is running it over rows.

use crate::query::bind::StepId;
use crate::value::ScalarType;

/// The program that writes an answer's `data`.
#[derive(Debug, Default)]
pub struct ResponseTemplate {
    /// The operations, run from the first; loops and absent objects jump.
    pub ops: Vec<Op>,
    places: Vec<(PathId, Segment)>,
}

impl ResponseTemplate {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let literals = self.ops.iter().map(|op| match op {
            Op::Literal(bytes) => bytes.len(),
            _ => 0,
        });
        let keys = self.places.iter().map(|(_, segment)| match segment {
            Segment::Key(key) => key.len(),
            Segment::Row(_) => 0,
        });
        let lists = size_of_val(self.ops.as_slice()) + size_of_val(self.places.as_slice());
        lists + literals.sum::<usize>() + keys.sum::<usize>()
    }

    /// The way from the root to a place, from its end.
    pub fn way_up(&self, place: PathId) -> impl Iterator<Item = &Segment> {
        let mut next = place;
        std::iter::from_fn(move || {
            let (parent, segment) = self.places.get(next.0.checked_sub(1)?)?;
            next = *parent;
            Some(segment)
        })
    }
}

/// A place in the answer, of which a list has one for all its elements. The default is the whole answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathId(usize);

/// A part of the way to a place.
#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// A response key.
    Key(Box<str>),
    /// The current row's number in the list of that step's rows.
    Row(StepId),
}

/// One operation of the program. The current row is the one of the innermost loop or point root.
#[derive(Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes as they are.
    Literal(Box<[u8]>),
    /// A column of the current row, as JSON.
    Column {
        /// Its place in the row.
        column: usize,
        /// Its type in the schema.
        scalar: ScalarType,
        /// Whether the schema promises that it is never null.
        non_null: bool,
        /// Where it stands in the answer.
        place: PathId,
    },
    /// A joined object: `null` and on to `end` where this column of the current row is null.
    Object {
        /// A column that is null where the object is absent.
        present: usize,
        /// Whether the schema promises that it is never null.
        non_null: bool,
        /// Where it stands in the answer.
        place: PathId,
        /// Behind the object's [`Op::EndObject`].
        end: usize,
    },
    /// The end of a joined object.
    EndObject,
    /// A point root's row: `null` and on to `end` where there is none.
    Lookup {
        /// Its step.
        step: StepId,
        /// Whether the schema promises that there is one.
        non_null: bool,
        /// Where it stands in the answer.
        place: PathId,
        /// Behind the root's [`Op::EndLookup`].
        end: usize,
    },
    /// The end of a point root.
    EndLookup,
    /// A connection: the rows of the step that belong to the current row.
    Connection {
        /// Its step.
        step: StepId,
    },
    /// The end of a connection.
    EndConnection,
    /// The first row of the connection, or on to `end` where it has none.
    FirstRow {
        /// Behind the loop's [`Op::NextRow`].
        end: usize,
    },
    /// A comma and back to `start` where the connection has another row.
    NextRow {
        /// Behind the loop's [`Op::FirstRow`].
        start: usize,
    },
    /// The current row's cursor.
    Cursor,
    /// The cursor of the connection's first row, or `null`.
    StartCursor,
    /// The cursor of the connection's last row, or `null`.
    EndCursor,
    /// Whether rows follow the page.
    HasNextPage,
    /// Whether rows stand before the page.
    HasPreviousPage,
}

/// Writes a program, joining neighbouring literals.
#[derive(Debug, Default)]
pub struct TemplateWriter {
    ops: Vec<Op>,
    literal: Vec<u8>,
    places: Vec<(PathId, Segment)>,
    /// The place of what is being written.
    place: PathId,
    /// The places of the objects around it.
    around: Vec<PathId>,
}

impl TemplateWriter {
    /// Adds bytes.
    pub fn literal(&mut self, text: &str) {
        self.literal.extend_from_slice(text.as_bytes());
    }

    /// Adds a string.
    pub fn text(&mut self, text: &str) {
        // Writing to memory cannot fail, and neither can a string be no JSON.
        let _ = serde_json::to_writer(&mut self.literal, text);
    }

    /// Begins an object.
    pub fn open_object(&mut self) {
        self.literal("{");
        self.around.push(self.place);
    }

    /// Ends an object.
    pub fn close_object(&mut self) {
        self.literal("}");
        self.place = self.around.pop().unwrap_or_default();
    }

    /// What follows is in a list of a step's rows.
    pub fn in_list(&mut self, step: StepId) {
        self.enter(self.place, Segment::Row(step));
    }

    /// Adds a key of the object that was begun last. Its value, which follows, has a place of its own.
    pub fn key(&mut self, key: &str, is_first: bool) {
        self.bare_key(key, is_first);
        self.enter(self.around.last().copied().unwrap_or_default(), Segment::Key(key.into()));
    }

    /// The place of what follows.
    pub fn place(&self) -> PathId {
        self.place
    }

    fn enter(&mut self, parent: PathId, segment: Segment) {
        self.places.push((parent, segment));
        self.place = PathId(self.places.len());
    }

    /// Adds a key of a constant. Response keys are GraphQL names, which need no escaping.
    pub fn bare_key(&mut self, key: &str, is_first: bool) {
        self.literal(if is_first { "\"" } else { ",\"" });
        self.literal(key);
        self.literal("\":");
    }

    /// Adds an operation and returns its place.
    pub fn push(&mut self, op: Op) -> usize {
        self.flush();
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// The place behind everything added so far.
    pub fn here(&mut self) -> usize {
        self.flush();
        self.ops.len()
    }

    /// Adds the end of an object, and lets its beginning jump behind it.
    pub fn close(&mut self, begin: usize, closing: Op) {
        self.push(closing);
        let behind = self.here();
        match &mut self.ops[begin] {
            Op::Object { end, .. } | Op::Lookup { end, .. } | Op::FirstRow { end } => *end = behind,
            _ => {}
        }
    }

    /// The finished program.
    pub fn finish(mut self) -> ResponseTemplate {
        self.flush();
        ResponseTemplate { ops: self.ops, places: self.places }
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.ops.push(Op::Literal(self.literal.as_slice().into()));
            self.literal.clear();
        }
    }
}
