//! Depth and price of an operation: what each row of its steps costs, with the page sizes left open. So other page sizes are priced
//! without another look at the selection.

use crate::cost::lines::{CostLine, LineKind, visit_lines};
use crate::cost::price::{Cost, credits_of};
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_id::StepId;

/// Depth and price of an operation. The price is linear in the rows of each connection and lookup.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationCost {
    /// The deepest level of object nesting; 0 if it selects no objects.
    pub(super) depth: u32,
    /// The credits that are paid once.
    fixed: Cost,
    /// By [`StepId`]. A step comes after the one whose rows are its parents.
    pub(super) steps: Vec<RowPrice>,
}

/// The price of a step's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowPrice {
    /// The step whose rows are the parents; `None` at the root.
    pub(super) parent: Option<StepId>,
    /// The credits for each row, without the rows of the steps inside it.
    each: Cost,
    /// Whether rows are summed up: several cost that together.
    is_summed: bool,
}

impl RowPrice {
    /// How often `each` is paid for this many rows.
    fn times(&self, rows: u64) -> u64 {
        if self.is_summed { credits_of(rows) } else { rows }
    }
}

impl OperationCost {
    /// The cost of an operation. It does not depend on page sizes.
    pub(crate) fn of(operation: &BoundOperation<'_>) -> Self {
        let mut cost = Self { steps: vec![RowPrice::default(); operation.steps.len()], ..Self::default() };
        visit_lines(operation, |line| cost.add(&line));
        cost
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.steps.as_slice())
    }

    /// Adds a line. Its step comes after the one around it.
    fn add(&mut self, line: &CostLine<'_>) {
        self.depth = self.depth.max(line.level);
        let parent = line.around;
        self.pay(line.penalty, parent);
        match line.kind {
            LineKind::Leaf | LineKind::List | LineKind::Object => self.pay(line.own, parent),
            LineKind::Count => self.pay(line.own, parent.and_then(|step| self.steps[step].parent)),
            LineKind::Lookup(step) | LineKind::Page(step, ..) => {
                self.steps[step] = RowPrice { parent, each: line.own, is_summed: false };
            }
            LineKind::Totals(step, relations, _) => {
                self.pay(line.own, parent);
                self.steps[step] = RowPrice { parent, each: relations, is_summed: true };
            }
        }
    }

    /// Adds a cost to each row of a step, or to the credits that are paid once.
    fn pay(&mut self, cost: Cost, step: Option<StepId>) {
        let sum = step.map_or(&mut self.fixed, |step| &mut self.steps[step].each);
        *sum = sum.saturating_add(cost);
    }

    /// The price if the steps have these page sizes. `totals` gets what the rows of each step cost for one parent.
    pub(super) fn price(&self, sizes: &[u64], totals: &mut Vec<Cost>) -> Cost {
        totals.clear();
        totals.extend(self.steps.iter().map(|step| step.each));
        let mut price = self.fixed;
        // A parent comes before its steps, so in reverse order a step's total is complete when it is added to its parent's.
        for (step, rows) in self.steps.iter().enumerate().rev() {
            let total = rows.times(sizes[step]).saturating_mul(totals[step]);
            totals[step] = total;
            let sum = rows.parent.map_or(&mut price, |parent| &mut totals[parent]);
            *sum = sum.saturating_add(total);
        }
        price
    }

    /// The price computed over the rows of each step that were returned.
    pub(super) fn actual(&self, rows: &[u64]) -> Cost {
        let costs = self.steps.iter().zip(rows).map(|(step, rows)| step.each.saturating_mul(step.times(*rows)));
        costs.fold(self.fixed, Cost::saturating_add)
    }
}
