//! The price as a tree that adds up: what each field costs, and how often it is paid.

use crate::catalog::schema::Field;
use crate::cost::estimate::{own, penalty};
use crate::cost::{Cost, UNINDEXED_TERM};
use crate::query::bind::{Bound, BoundField, BoundOperation, StepId};

/// A line of the tree. Its `total` is `penalty + times × (own + the totals of its parts)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostNode {
    /// The key in the response.
    pub key: String,
    /// The keys of `edges` and `node` on the way to it from the line that it is a part of.
    pub way: Vec<String>,
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
    /// What is selected from it. `edges` and `node` are no lines, for they cost nothing; neither is all that is free.
    pub parts: Vec<CostNode>,
}

/// Breaks a price down. The totals of the lines add up to the estimate.
pub fn breakdown(operation: &BoundOperation<'_>) -> Vec<CostNode> {
    let mut lines = Vec::new();
    add(&operation.fields, &mut Vec::new(), &mut lines);
    lines
}

/// Adds the lines of fields that are reached by this way.
fn add<'a>(fields: &'a [BoundField<'_>], way: &mut Vec<&'a str>, lines: &mut Vec<CostNode>) {
    for field in fields {
        let definition = match &field.kind {
            Bound::Edges(fields) | Bound::Node(fields) => {
                way.push(field.key);
                add(fields, way, lines);
                way.pop();
                continue;
            }
            Bound::TypeName(_) | Bound::PageInfo(_) | Bound::Cursor | Bound::PageInfoField(_) | Bound::Constant(_) => {
                continue;
            }
            Bound::Column(definition, _) | Bound::Aggregate(definition, _) | Bound::One(definition, ..) => definition,
            Bound::Lookup(point) => point.field,
            Bound::Connection(connection) => connection.field,
        };
        let line = line(field, definition);
        lines.push(CostNode { way: way.iter().map(|key| (*key).to_owned()).collect(), ..line });
    }
}

fn line(field: &BoundField<'_>, definition: &Field) -> CostNode {
    let own = own(&field.kind);
    let (step, times, penalty) = match &field.kind {
        Bound::Connection(page) => (Some(page.step), u64::from(page.page.size.get()), penalty(page)),
        Bound::Lookup(point) => (Some(point.step), 1, 0),
        _ => (None, 1, 0),
    };
    let mut parts = Vec::new();
    add(field.kind.fields(), &mut Vec::new(), &mut parts);
    let once = parts.iter().fold(own, |sum, part| sum.saturating_add(part.total));
    CostNode {
        key: field.key.to_owned(),
        way: Vec::new(),
        field: definition.name.clone(),
        own,
        times,
        penalty,
        unindexed_terms: penalty / UNINDEXED_TERM,
        total: penalty.saturating_add(times.saturating_mul(once)),
        step,
        parts,
    }
}
