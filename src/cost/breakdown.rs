//! The price as a tree that adds up: what each field costs, and how often it is paid.

use crate::catalog::schema::Field;
use crate::cost::estimate::penalty;
use crate::cost::{AGGREGATE, Cost, OBJECT, SCALAR, UNINDEXED_TERM};
use crate::query::bind::{Bound, BoundField, BoundOperation, StepId};

/// A line of the tree. Its `total` is `penalty + times × (own + the totals of its parts)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostNode {
    /// The key in the response.
    pub key: String,
    /// The field's name, where the key is an alias.
    pub field: String,
    /// What it costs by itself, each time.
    pub own: Cost,
    /// How often it and its parts are paid: the page size of a connection, else 1.
    pub times: u64,
    /// What its search terms add, once.
    pub penalty: Cost,
    /// How many of its search terms add it.
    pub unindexed_terms: u64,
    /// What it costs in all.
    pub total: Cost,
    /// The step that fetches its rows, where it is a connection or a point root.
    pub step: Option<StepId>,
    /// What is selected from it. `edges` and `node` are left out, for they cost nothing; so is all that is free.
    pub parts: Vec<CostNode>,
}

/// Breaks a price down. The totals of the lines add up to the estimate.
pub fn breakdown(operation: &BoundOperation<'_>) -> Vec<CostNode> {
    nodes(&operation.fields)
}

fn nodes(fields: &[BoundField<'_>]) -> Vec<CostNode> {
    let mut lines = Vec::new();
    for field in fields {
        match &field.kind {
            Bound::Edges(fields) | Bound::Node(fields) => lines.extend(nodes(fields)),
            Bound::TypeName(_) | Bound::PageInfo(_) | Bound::Cursor | Bound::PageFact(_) => {}
            Bound::Column(definition, _) => lines.push(line(field, definition, SCALAR, 1, 0, &[])),
            Bound::Aggregate(definition, _) => lines.push(line(field, definition, AGGREGATE, 1, 0, &[])),
            Bound::One(definition, _, fields) => lines.push(line(field, definition, OBJECT, 1, 0, fields)),
            Bound::Point(point) => {
                let line = line(field, point.field, OBJECT, 1, 0, &point.fields);
                lines.push(CostNode { step: Some(point.step), ..line });
            }
            Bound::Connection(connection) => {
                let times = u64::from(connection.page.size.get());
                let penalty = penalty(connection);
                let line = line(field, connection.field, OBJECT, times, penalty, &connection.fields);
                lines.push(CostNode { step: Some(connection.step), ..line });
            }
        }
    }
    lines
}

fn line(
    field: &BoundField<'_>,
    definition: &Field,
    own: Cost,
    times: u64,
    penalty: Cost,
    fields: &[BoundField<'_>],
) -> CostNode {
    let parts = nodes(fields);
    let once = parts.iter().fold(own, |sum, part| sum.saturating_add(part.total));
    CostNode {
        key: field.key.to_owned(),
        field: definition.name.clone(),
        own,
        times,
        penalty,
        unindexed_terms: penalty / UNINDEXED_TERM,
        total: penalty.saturating_add(times.saturating_mul(once)),
        step: None,
        parts,
    }
}
