//! The price as a tree that adds up: what each field costs, and how often it is paid.

use std::mem;

use crate::cost::estimate::Estimate;
use crate::cost::lines::{CostLine, LineKind, lines};
use crate::cost::price::{Cost, credits_of};
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_id::StepId;

/// A line of the tree. Its `total` is `penalty + times × (own + the totals of its parts)`; parts that are paid once are not
/// multiplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostNode {
    /// The key in the response.
    pub key: String,
    /// The response keys of `edges`, `node` and `groups` between it and the line that it is a part of.
    pub via: Vec<String>,
    /// The field's name. It differs from the key if that is an alias.
    pub field: String,
    /// Its cost without its parts, each time.
    pub own: Cost,
    /// How often it and its parts are paid: the page size of a connection, else 1.
    pub times: u64,
    /// The cost of its search terms, or of reading a bounded list, once.
    pub penalty: Cost,
    /// How many of its search terms add it.
    pub unindexed_terms: u64,
    /// Whether it is paid once for a page, not for each row: a count.
    pub is_once: bool,
    /// Its cost in all.
    pub total: Cost,
    /// The step that fetches its rows, if it is a connection or a lookup.
    pub step: Option<StepId>,
    /// The lines of its selection. Free fields have no line. The parts of `edges` and `node` are parts of their connection.
    pub parts: Vec<CostNode>,
}

/// Breaks an estimate down. The totals of the lines add up to it.
pub(crate) fn breakdown(operation: &BoundOperation<'_>, estimate: &Estimate) -> Vec<CostNode> {
    let (lines, mut roots) = (lines(operation), Vec::new());
    let mut parts = vec![Vec::new(); lines.len()];
    // A line comes before its parts, so in reverse order they are complete when the line is reached.
    for (number, line) in lines.iter().enumerate().rev() {
        let mut nodes: Vec<CostNode> = mem::take(&mut parts[number]);
        if let LineKind::List = line.kind {
            for node in &mut nodes {
                node.via.insert(0, line.key.to_owned());
            }
        } else {
            nodes.reverse();
            nodes = vec![node(line, estimate.sizes(), nodes)];
        }
        line.parent.map_or(&mut roots, |parent| &mut parts[parent]).append(&mut nodes);
    }
    roots.reverse();
    roots
}

fn node(line: &CostLine<'_>, sizes: &[u64], parts: Vec<CostNode>) -> CostNode {
    let (own, times) = match line.kind {
        LineKind::Page(step, ..) => (line.own, sizes[step]),
        LineKind::Totals(step, relations, _) => {
            (line.own.saturating_add(credits_of(sizes[step]).saturating_mul(relations)), 1)
        }
        LineKind::Leaf | LineKind::Count | LineKind::List | LineKind::Object | LineKind::Lookup(_) => (line.own, 1),
    };
    let sum = |is_once: bool, of: Cost| {
        let parts = parts.iter().filter(|part| part.is_once == is_once);
        parts.fold(of, |sum, part| sum.saturating_add(part.total))
    };
    CostNode {
        key: line.key.to_owned(),
        via: Vec::new(),
        field: line.field.to_owned(),
        own,
        times,
        penalty: line.penalty,
        unindexed_terms: line.unindexed_terms,
        is_once: matches!(line.kind, LineKind::Count),
        total: sum(true, line.penalty).saturating_add(times.saturating_mul(sum(false, own))),
        step: line.step(),
        parts,
    }
}
