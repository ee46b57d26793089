//! Levels of object nesting: a root field is level 1, each object or connection inside it one more; `edges`, `node`,
//! `pageInfo` and fragments add none.

use crate::query::bind::{Bound, BoundField, BoundOperation};
use crate::refusal::Location;

/// How deep an operation nests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depth {
    /// The deepest level; 0 where nothing but `__typename` is selected.
    pub levels: u32,
    /// The fields that first pass the allowed level, in document order.
    pub beyond: Vec<Location>,
}

/// Measures an operation, marking what lies deeper than `allowed`.
pub fn depth(operation: &BoundOperation<'_>, allowed: u32) -> Depth {
    let mut depth = Depth::default();
    measure(&operation.fields, 1, allowed, &mut depth);
    depth
}

fn measure(fields: &[BoundField<'_>], level: u32, allowed: u32, depth: &mut Depth) {
    for field in fields {
        let nested = match &field.kind {
            Bound::One(_, _, fields) => fields,
            Bound::Point(point) => &point.fields,
            Bound::Connection(connection) => &connection.fields,
            Bound::Edges(fields) | Bound::Node(fields) => {
                measure(fields, level, allowed, depth);
                continue;
            }
            Bound::TypeName(_)
            | Bound::Column(..)
            | Bound::Aggregate(..)
            | Bound::PageInfo(_)
            | Bound::Cursor
            | Bound::PageFact(_)
            | Bound::Constant(_) => continue,
        };
        depth.levels = depth.levels.max(level);
        if level == allowed + 1 {
            depth.beyond.push(field.location);
        }
        measure(nested, level + 1, allowed, depth);
    }
}
