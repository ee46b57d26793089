//! The price as a tree that adds up: what each field costs, and how often it is paid.

use crate::catalog::schema::Field;
use crate::cost::estimate::Estimate;
use crate::cost::price::{Cost, Priced, PricedField, credits_of, reading, search_penalty, unindexed_terms};
use crate::query::bind::ids::StepId;
use crate::query::bind::selection::{BoundConnection, BoundOperation, BoundSelection, BoundTotals};

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
    /// What it costs without its parts, each time.
    pub own: Cost,
    /// How often it and its parts are paid: the page size of a connection, else 1.
    pub times: u64,
    /// What its search terms, or the reading of a bounded list, add once.
    pub penalty: Cost,
    /// How many of its search terms add it.
    pub unindexed_terms: u64,
    /// Whether it is paid once for a page, not for each row: a count.
    pub is_once: bool,
    /// What it costs in all.
    pub total: Cost,
    /// The step that fetches its rows, if it is a connection or a lookup.
    pub step: Option<StepId>,
    /// What is selected from it. Free fields have no line. The parts of `edges` and `node` are those of their connection.
    pub parts: Vec<CostNode>,
}

/// Breaks an estimate down. The totals of the lines add up to it.
pub(crate) fn breakdown(operation: &BoundOperation<'_>, estimate: &Estimate) -> Vec<CostNode> {
    lines(&operation.selections, estimate.sizes())
}

fn lines<'a, F: Priced<'a>>(selections: &[BoundSelection<'a, F>], sizes: &[u64]) -> Vec<CostNode> {
    let mut lines = Vec::new();
    add(selections, sizes, &mut Vec::new(), &mut lines);
    lines
}

/// Adds the lines of what is selected below `edges` and `node` with these keys.
fn add<'a, F: Priced<'a>>(
    selections: &[BoundSelection<'a, F>],
    sizes: &[u64],
    via: &mut Vec<&'a str>,
    list: &mut Vec<CostNode>,
) {
    for selection in selections {
        let field = selection.field.priced();
        let own = field.own_cost();
        let line = match field {
            PricedField::Free => continue,
            PricedField::Edges(edges) => {
                via.push(selection.key);
                add(edges, sizes, via, list);
                via.pop();
                continue;
            }
            PricedField::Groups(groups) => {
                via.push(selection.key);
                add(groups, sizes, via, list);
                via.pop();
                continue;
            }
            PricedField::Node(node) => {
                via.push(selection.key);
                add(node, sizes, via, list);
                via.pop();
                continue;
            }
            PricedField::Scalar(definition) | PricedField::Aggregate(definition) => line(definition, own, Vec::new()),
            PricedField::Count(definition) => CostNode { is_once: true, ..line(definition, own, Vec::new()) },
            PricedField::Object(object) => line(object.field, own, lines(&object.selections, sizes)),
            PricedField::Lookup(lookup) => {
                CostNode { step: Some(lookup.step), ..line(lookup.field, own, lines(&lookup.selections, sizes)) }
            }
            PricedField::Totals(totals) => totals_line(totals, own, sizes),
            PricedField::Connection(connection) => connection_line(connection, own, sizes),
        };
        let via = via.iter().map(|key| (*key).to_owned()).collect();
        list.push(CostNode { key: selection.key.to_owned(), via, ..line });
    }
}

fn totals_line(totals: &BoundTotals<'_>, own: Cost, sizes: &[u64]) -> CostNode {
    let own = own.saturating_add(credits_of(sizes[totals.step]).saturating_mul(totals.relations));
    let line = line(totals.field, own, lines(&totals.selections, sizes));
    let (penalty, unindexed_terms) = (search_penalty(Some(totals.rows)), totals.rows.unindexed_terms);
    let (total, step) = (line.total.saturating_add(penalty), Some(totals.step));
    CostNode { penalty, unindexed_terms, total, step, ..line }
}

fn connection_line(connection: &BoundConnection<'_>, own: Cost, sizes: &[u64]) -> CostNode {
    let line = line(connection.field, own, lines(&connection.selections, sizes));
    let (times, page) = (sizes[connection.step], connection.rows.page());
    let penalty = search_penalty(page).saturating_add(reading(connection.binding));
    let unindexed_terms = unindexed_terms(page);
    let once = line.parts.iter().filter(|part| part.is_once).map(|part| part.total);
    let once = once.fold(penalty, Cost::saturating_add);
    let total = once.saturating_add(times.saturating_mul(line.total));
    CostNode { times, penalty, unindexed_terms, total, step: Some(connection.step), ..line }
}

/// A line that is paid once. Parts that are paid once for a page are left out of its total.
fn line(definition: &Field, own: Cost, parts: Vec<CostNode>) -> CostNode {
    CostNode {
        key: String::new(),
        via: Vec::new(),
        field: definition.name.clone(),
        own,
        times: 1,
        penalty: 0,
        unindexed_terms: 0,
        is_once: false,
        total: parts.iter().filter(|part| !part.is_once).fold(own, |sum, part| sum.saturating_add(part.total)),
        step: None,
        parts,
    }
}
