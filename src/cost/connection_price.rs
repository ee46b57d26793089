//! The price of an operation's connections: what each row costs, with the page sizes left open. So other page sizes are priced
//! without another look at the selection.

use crate::catalog::prices::OBJECT;
use crate::cost::price::{Cost, Priced, PricedField, credits_of, reading, search_penalty};
use crate::query::bind::ids::StepId;
use crate::query::bind::selection::{BoundOperation, BoundSelection};

/// The price of an operation, by the rows of its connections and lookups. It is linear in each page size.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConnectionPrices {
    /// What is paid once.
    pub(super) fixed: Cost,
    /// By [`StepId`]. A step comes after the one whose rows are its parents.
    pub(super) steps: Vec<RowPrice>,
}

/// The price of a step's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowPrice {
    /// The step whose rows are the parents; `None` at the root.
    pub(super) parent: Option<StepId>,
    /// What each row costs without the rows of the steps inside it.
    pub(super) each: Cost,
    /// Whether rows are summed up: several cost that together.
    pub(super) is_summed: bool,
}

impl RowPrice {
    /// How often `each` is paid for so many rows.
    fn times(&self, rows: u64) -> u64 {
        if self.is_summed { credits_of(rows) } else { rows }
    }
}

impl ConnectionPrices {
    /// The prices of an operation. They do not depend on its page sizes.
    pub(crate) fn of(operation: &BoundOperation<'_>) -> Self {
        let mut prices = Self { fixed: 0, steps: vec![RowPrice::default(); operation.steps.len()] };
        prices.add(&operation.selections, None);
        prices
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.steps.as_slice())
    }

    /// Adds what is selected from the rows of a step, or from the root.
    fn add<'a, F: Priced<'a>>(&mut self, selections: &[BoundSelection<'a, F>], parent: Option<StepId>) {
        for selection in selections {
            let field = selection.field.priced();
            let own = field.own_cost();
            match field {
                PricedField::Free => {}
                PricedField::Scalar(_) | PricedField::Aggregate(_) => self.pay(own, parent),
                PricedField::Object(object) => {
                    self.pay(own, parent);
                    self.add(&object.selections, parent);
                }
                PricedField::Lookup(lookup) => {
                    self.steps[lookup.step] = RowPrice { parent, each: own, is_summed: false };
                    self.add(&lookup.selections, Some(lookup.step));
                }
                PricedField::Connection(connection) => {
                    self.pay(search_penalty(connection.rows.page()), None);
                    self.pay(reading(connection.binding), parent);
                    self.steps[connection.step] = RowPrice { parent, each: own, is_summed: false };
                    self.add(&connection.selections, Some(connection.step));
                }
                PricedField::Totals(totals) => {
                    self.pay(search_penalty(Some(totals.rows)).saturating_add(OBJECT), None);
                    self.steps[totals.step] = RowPrice { parent, each: totals.relations, is_summed: true };
                    self.add(&totals.selections, None);
                }
                PricedField::Groups(groups) => self.add(groups, parent),
                PricedField::Count(_) => self.pay(own, parent.and_then(|step| self.steps[step].parent)),
                PricedField::Edges(edges) => self.add(edges, parent),
                PricedField::Node(node) => self.add(node, parent),
            }
        }
    }

    /// Adds a cost to each row of a step, or to what is paid once.
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

    /// The same sum over the rows of each step that came back.
    pub(super) fn actual(&self, rows: &[u64]) -> Cost {
        let costs = self.steps.iter().zip(rows).map(|(step, rows)| step.each.saturating_mul(step.times(*rows)));
        costs.fold(self.fixed, Cost::saturating_add)
    }
}
