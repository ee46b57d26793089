//! The answer's bytes around the values, made once per plan as a flat program: writing an answer is running it over rows.

use crate::query::bind::StepId;
use crate::value::ScalarType;

/// The program that writes an answer's `data`.
#[derive(Debug, Default)]
pub struct Shape {
    /// The operations, run from the first; loops and absent objects jump.
    pub ops: Vec<Op>,
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
    },
    /// A joined object: `null` and on to `end` where this column of the current row is null.
    Object {
        /// A column that is null where the object is absent.
        present: usize,
        /// Behind the object's [`Op::EndObject`].
        end: usize,
    },
    /// The end of a joined object.
    EndObject,
    /// A point root's row: `null` and on to `end` where there is none.
    Point {
        /// Its step.
        step: StepId,
        /// Behind the root's [`Op::EndPoint`].
        end: usize,
    },
    /// The end of a point root.
    EndPoint,
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
pub struct ShapeWriter {
    ops: Vec<Op>,
    literal: Vec<u8>,
}

impl ShapeWriter {
    /// Adds bytes.
    pub fn literal(&mut self, text: &str) {
        self.literal.extend_from_slice(text.as_bytes());
    }

    /// Adds an object's key. Response keys are GraphQL names, which need no escaping.
    pub fn key(&mut self, key: &str, is_first: bool) {
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
            Op::Object { end, .. } | Op::Point { end, .. } | Op::FirstRow { end } => *end = behind,
            _ => {}
        }
    }

    /// The finished program.
    pub fn finish(mut self) -> Shape {
        self.flush();
        Shape { ops: self.ops }
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            let literal = std::mem::take(&mut self.literal);
            self.ops.push(Op::Literal(literal.into_boxed_slice()));
        }
    }
}
