//! The response keys on the way to a field, for people and programs that are to find it.

use crate::query::bind::{Bound, BoundField, BoundOperation};

/// The response keys from the root to a field, `edges` and `node` among them, without the places in lists.
pub(super) type Path<'a> = Vec<&'a str>;

/// Visits every field with its path and its level (as [`crate::cost::depth`] counts them; what adds none has that of the
/// object that it is selected from), what is above first. Where `visit` says no, nothing below is visited.
pub(super) fn walk<'a>(operation: &'a BoundOperation<'a>, visit: &mut impl FnMut(&Bound<'a>, &Path<'a>, u32) -> bool) {
    each(&operation.fields, &mut Vec::new(), 0, visit);
}

fn each<'a>(
    fields: &'a [BoundField<'a>],
    path: &mut Path<'a>,
    above: u32,
    visit: &mut impl FnMut(&Bound<'a>, &Path<'a>, u32) -> bool,
) {
    for field in fields {
        let is_level = matches!(field.kind, Bound::One(..) | Bound::Lookup(_) | Bound::Connection(_));
        let level = above + u32::from(is_level);
        path.push(field.key);
        if visit(&field.kind, path, level) {
            each(field.kind.fields(), path, level, visit);
        }
        path.pop();
    }
}
