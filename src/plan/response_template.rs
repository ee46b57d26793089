//! The response's bytes around the values, made once for a plan template: a flat list of ops, which writing a response runs
//! over the rows.

use std::mem;

use crate::catalog::result_type::ResultType;
use crate::catalog::schema::TypeRef;
use crate::plan::access_path::SortLimit;
use crate::plan::select::ShownColumn;
use crate::query::bind::introspection::Constant;
use crate::query::bind::step_id::StepId;
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
    pub(super) fn bytes(&self) -> usize {
        let literals = self.ops.iter().map(|op| match op {
            Op::Literal(bytes) | Op::Column { before: bytes, .. } => bytes.len(),
            Op::BoundedList { index, .. } => index.len(),
            _ => 0,
        });
        let keys = self.paths.iter().map(|(_, segment)| match segment {
            PathSegment::Key(key) => key.len(),
            PathSegment::Row(_) => 0,
        });
        let lists = size_of_val(self.ops.as_slice()) + size_of_val(self.paths.as_slice());
        lists + literals.sum::<usize>() + keys.sum::<usize>()
    }

    /// The segments of a path, from the last to the root.
    #[cfg_attr(not(feature = "server"), allow(dead_code, reason = "the server reports it"))]
    pub(crate) fn segments_to_root(&self, path: PathId) -> impl Iterator<Item = &PathSegment> {
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

/// The type of a column in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownType {
    /// A single text, an `ID` or a `String`, which the statement returns as text. Most columns are such texts.
    Text(ScalarType),
    /// A single value of another type.
    Scalar(ScalarType),
    /// A list of values.
    List {
        /// The type of its elements.
        scalar: ScalarType,
        /// Whether none is null.
        non_null: bool,
    },
}

impl ShownType {
    /// The type of a field that shows a scalar, which the statement returns so.
    pub(super) fn of(scalar: ScalarType, ty: &TypeRef, result: ResultType) -> Self {
        match (ty, scalar, result) {
            (TypeRef::NonNull(inner), ..) => Self::of(scalar, inner, result),
            (TypeRef::List(element), ..) => Self::List { scalar, non_null: element.is_non_null() },
            (TypeRef::Named(_), ScalarType::Id | ScalarType::String, ResultType::Text | ResultType::Char) => {
                Self::Text(scalar)
            }
            (TypeRef::Named(_), ..) => Self::Scalar(scalar),
        }
    }
}

/// One op. The current row is the one of the innermost loop or lookup.
#[derive(Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes as they are.
    Literal(Box<[u8]>),
    /// A column of the current row, as JSON.
    Column {
        /// The bytes before it: most often its key.
        before: Box<[u8]>,
        /// Its index in the row.
        column: usize,
        /// The index of its size, if its values may be longer than [`MAX_VALUE_BYTES`](crate::value::MAX_VALUE_BYTES): null unless this one is.
        size: Option<usize>,
        /// Its type in the schema, but for whether it is non-null.
        ty: ShownType,
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
        /// The branch of the statement whose row it is.
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
        /// The branch of the statement whose rows they are.
        step: StepId,
    },
    /// Enters a bounded list: `null` and a jump to `end` if it has too many rows.
    BoundedList {
        /// The branch of the statement whose rows they are.
        step: StepId,
        /// The column with the answer.
        is_too_long: usize,
        /// What makes it null.
        limit: SortLimit,
        /// The statement that makes an index which has its rows in order.
        index: Box<str>,
        /// Its path in the response.
        path: PathId,
        /// The position after the list's [`Op::EndConnection`], which an [`Op::EndObject`] precedes.
        end: usize,
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
    /// A column that every row of the connection has, also the row of an empty page, as JSON.
    OfPage {
        /// Its index in the row.
        column: usize,
        /// Its type in the schema.
        scalar: ScalarType,
    },
    /// A column of the current row that is a moment, with the offset from UTC that another column has, in seconds.
    LocalTime {
        /// Its index in the row.
        column: usize,
        /// The index of the offset.
        offset: usize,
        /// Its path in the response.
        path: PathId,
    },
    /// Nothing is written: the writer remembers whether rows follow the page, and the cursor of its last row.
    PageEnd,
}

/// Appends ops, joining adjacent literals.
#[derive(Debug, Default)]
pub(super) struct TemplateWriter {
    ops: Vec<Op>,
    literal: Vec<u8>,
    paths: Vec<(PathId, PathSegment)>,
    /// The path of the field that is being written.
    path: PathId,
    /// The paths of the objects around it.
    enclosing: Vec<PathId>,
}

/// The position of an op that [`TemplateWriter::close`] will fill in.
#[derive(Debug)]
pub(super) struct Reserved(usize);

impl TemplateWriter {
    /// Appends bytes.
    pub(super) fn literal(&mut self, text: &str) {
        self.literal.extend_from_slice(text.as_bytes());
    }

    /// Appends a constant.
    pub(super) fn constant(&mut self, value: &Constant<'_>) {
        // Writing to memory cannot fail, and every constant can be written as JSON.
        let _ = serde_json::to_writer(&mut self.literal, value);
    }

    /// Begins an object.
    pub(super) fn open_object(&mut self) {
        self.literal("{");
        self.enclosing.push(self.path);
    }

    /// Ends an object.
    pub(super) fn close_object(&mut self) {
        self.literal("}");
        self.path = self.enclosing.pop().unwrap_or_default();
    }

    /// Enters the path of the elements in a list of a step's rows.
    pub(super) fn enter_list(&mut self, step: StepId) {
        self.enter(self.path, PathSegment::Row(step));
    }

    /// Appends a key of the innermost open object, and enters the path of its value.
    pub(super) fn key(&mut self, key: &str, is_first: bool) {
        // Response keys are GraphQL names, which need no escaping.
        self.literal(if is_first { "\"" } else { ",\"" });
        self.literal(key);
        self.literal("\":");
        self.enter(self.enclosing.last().copied().unwrap_or_default(), PathSegment::Key(key.into()));
    }

    /// Enters the path of a key that is not written.
    pub(super) fn enter_key(&mut self, key: &str) {
        self.enter(self.path, PathSegment::Key(key.into()));
    }

    /// The path of the field that is being written.
    pub(super) fn path(&self) -> PathId {
        self.path
    }

    fn enter(&mut self, parent: PathId, segment: PathSegment) {
        self.paths.push((parent, segment));
        self.path = PathId(self.paths.len());
    }

    /// Appends a column, with the bytes before it.
    pub(super) fn column(&mut self, ShownColumn { column, size }: ShownColumn, ty: ShownType, non_null: bool) {
        let before = mem::take(&mut self.literal).into();
        self.ops.push(Op::Column { before, column, size, ty, non_null, path: self.path });
    }

    /// Appends an op.
    pub(super) fn push(&mut self, op: Op) {
        self.flush();
        self.ops.push(op);
    }

    /// The position of the next op.
    pub(super) fn position(&mut self) -> usize {
        self.flush();
        self.ops.len()
    }

    /// Appends an op that jumps past another one, which [`TemplateWriter::close`] appends.
    pub(super) fn reserve(&mut self) -> Reserved {
        let position = self.position();
        self.ops.push(Op::EndObject);
        Reserved(position)
    }

    /// Appends the closing op, and fills in the opening one. `opening` gets the position after the closing op.
    pub(super) fn close(&mut self, Reserved(position): Reserved, opening: impl FnOnce(usize) -> Op, closing: Op) {
        self.push(closing);
        self.ops[position] = opening(self.ops.len());
    }

    /// The finished template.
    pub(super) fn finish(mut self) -> ResponseTemplate {
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
