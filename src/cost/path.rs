//! The response keys on the way to a field, by which people and programs find it.

use crate::cost::price::{Priced, PricedField};
use crate::error::graphql_error::Location;
use crate::query::bind::ids::StepId;
use crate::query::bind::selection::{BoundOperation, BoundSelection};

/// The response keys from the root to a field, `edges` and `node` among them, without the indexes of list elements.
pub(super) type Path<'a> = Vec<&'a str>;

/// A selected object, lookup or connection.
pub(super) struct Nested<'p, 'a> {
    /// The step of a lookup or connection.
    pub(super) step: Option<StepId>,
    /// Where it is selected.
    pub(super) location: Location,
    pub(super) path: &'p Path<'a>,
    /// Its level of nesting, as [`crate::cost::depth`] counts.
    pub(super) level: u32,
}

/// Visits every selected object, lookup and connection, each before those inside it. If `visit` returns `false`, those inside
/// are left out.
pub(super) fn visit_nested<'a>(operation: &'a BoundOperation<'a>, visit: &mut impl FnMut(&Nested<'_, 'a>) -> bool) {
    inside(&operation.selections, &mut Vec::new(), 1, visit);
}

/// Visits what is selected at a path. Objects there have that level.
fn inside<'a, F: Priced<'a>>(
    selections: &'a [BoundSelection<'a, F>],
    path: &mut Path<'a>,
    level: u32,
    visit: &mut impl FnMut(&Nested<'_, 'a>) -> bool,
) {
    for selection in selections {
        let location = selection.location;
        path.push(selection.key);
        match selection.field.priced() {
            PricedField::Free
            | PricedField::Scalar(_)
            | PricedField::Aggregate(_)
            | PricedField::Count(_)
            | PricedField::Groups(_) => {}
            PricedField::Object(object) => {
                if visit(&Nested { step: None, location, path, level }) {
                    inside(&object.selections, path, level + 1, visit);
                }
            }
            PricedField::Lookup(lookup) => {
                if visit(&Nested { step: Some(lookup.step), location, path, level }) {
                    inside(&lookup.selections, path, level + 1, visit);
                }
            }
            PricedField::Connection(connection) => {
                if visit(&Nested { step: Some(connection.step), location, path, level }) {
                    inside(&connection.selections, path, level + 1, visit);
                }
            }
            PricedField::Totals(totals) => {
                // There are no objects inside.
                visit(&Nested { step: Some(totals.step), location, path, level });
            }
            PricedField::Edges(edges) => inside(edges, path, level, visit),
            PricedField::Node(node) => inside(node, path, level, visit),
        }
        path.pop();
    }
}
