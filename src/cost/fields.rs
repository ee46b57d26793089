//! The price as a list that adds up, for programs: the tree of [`crate::cost::breakdown`], each line after its parent.

use serde::Serialize;

use crate::cost::breakdown::CostNode;
use crate::cost::price::Cost;

/// A selected field's part of the price. `requested_total_cost` is `defined_cost × times + search_penalty`; over a whole list it adds up to
/// the estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldCost<'a> {
    /// The response keys from the root to it, `edges` and `node` among them, without the indexes of list elements.
    pub path: Vec<&'a str>,
    /// Its cost without its selection, each time.
    pub defined_cost: Cost,
    /// How often it is paid: the product of the page sizes above it and its own.
    pub times: u64,
    /// The cost of its search terms, or of reading a bounded list, once; left out if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub search_penalty: Cost,
    /// Its part of the price, without its selection.
    pub requested_total_cost: Cost,
    /// Its part of the price, with its selection.
    pub requested_subtree_cost: Cost,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(cost: &Cost) -> bool {
    *cost == 0
}

/// Lists every selected field that costs something, in query order.
pub(crate) fn fields(lines: &[CostNode]) -> Vec<FieldCost<'_>> {
    let mut fields = Fields { path: Vec::new(), list: Vec::new() };
    fields.add(lines, 1, 1);
    fields.list
}

struct Fields<'a> {
    path: Vec<&'a str>,
    list: Vec<FieldCost<'a>>,
}

impl<'a> Fields<'a> {
    /// Adds lines that are paid `times` times, or `once_times` if they are paid once for a page.
    fn add(&mut self, lines: &'a [CostNode], parent_times: u64, once_times: u64) {
        for line in lines {
            let parent_times = if line.is_once { once_times } else { parent_times };
            let length = self.path.len();
            self.path.extend(line.via.iter().chain([&line.key]).map(String::as_str));
            let times = parent_times.saturating_mul(line.times);
            let search_penalty = parent_times.saturating_mul(line.penalty);
            self.list.push(FieldCost {
                path: self.path.clone(),
                defined_cost: line.own,
                times,
                search_penalty,
                requested_total_cost: times.saturating_mul(line.own).saturating_add(search_penalty),
                requested_subtree_cost: parent_times.saturating_mul(line.total),
            });
            self.add(&line.parts, times, parent_times);
            self.path.truncate(length);
        }
    }
}
