//! The price as a list that adds up, for programs: the tree of [`crate::cost::breakdown`], a line after its parent.

use serde::Serialize;

use crate::cost::Cost;
use crate::cost::breakdown::CostNode;

/// What a selected field adds to the price. `requested_total_cost` is `defined_cost × times + search_penalty`; over a
/// whole list it adds up to the estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldCost<'a> {
    /// The response keys on the way to it, `edges` and `node` among them, without the places in lists.
    pub path: Vec<&'a str>,
    /// What it costs by itself, each time: 1, or 5 for an aggregate.
    pub defined_cost: Cost,
    /// How often it is paid: the product of the page sizes above it and its own.
    pub times: u64,
    /// What its search terms add, once; left out where that is nothing.
    #[serde(skip_serializing_if = "is_nothing")]
    pub search_penalty: Cost,
    /// What it adds to the price by itself.
    pub requested_total_cost: Cost,
    /// What it adds together with all that is selected from it.
    pub requested_subtree_cost: Cost,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_nothing(cost: &Cost) -> bool {
    *cost == 0
}

/// Lists every selected field that costs something, in query order.
pub fn fields(lines: &[CostNode]) -> Vec<FieldCost<'_>> {
    let mut list = Vec::new();
    add(lines, 1, &mut Vec::new(), &mut list);
    list
}

fn add<'a>(lines: &'a [CostNode], above: u64, path: &mut Vec<&'a str>, list: &mut Vec<FieldCost<'a>>) {
    for line in lines {
        let length = path.len();
        path.extend(line.way.iter().chain([&line.key]).map(String::as_str));
        let times = above.saturating_mul(line.times);
        let search_penalty = above.saturating_mul(line.penalty);
        list.push(FieldCost {
            path: path.clone(),
            defined_cost: line.own,
            times,
            search_penalty,
            requested_total_cost: times.saturating_mul(line.own).saturating_add(search_penalty),
            requested_subtree_cost: above.saturating_mul(line.total),
        });
        add(&line.parts, times, path, list);
        path.truncate(length);
    }
}
