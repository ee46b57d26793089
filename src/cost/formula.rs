//! The price of an operation as a formula over page sizes: in it other sizes are tried out, and requests that differ in
//! nothing else are priced, without another look at what is selected.

use std::sync::Arc;

use crate::cost::estimate::{Estimate, own, penalty};
use crate::cost::{Cost, OBJECT};
use crate::query::bind::{Bound, BoundField, BoundOperation, StepId};

/// The price of an operation, its page sizes left open.
#[derive(Debug, PartialEq, Eq)]
pub struct Formula {
    /// What is paid once.
    pub(super) fixed: Cost,
    /// By [`StepId`]; each step comes behind the one whose rows it belongs to.
    pub(super) steps: Vec<Rows>,
}

/// The rows of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The step whose rows they belong to; `None` at the root.
    pub(super) above: Option<StepId>,
    /// What each costs, the rows of the steps below it left out.
    pub(super) each: Cost,
}

impl Formula {
    /// The formula of an operation. Its page sizes are of no account.
    pub fn of(operation: &BoundOperation<'_>) -> Self {
        let mut formula = Self { fixed: 0, steps: Vec::with_capacity(operation.steps.len()) };
        formula.add(&operation.fields, None);
        formula
    }

    /// The price with these page sizes, by step; a point root has 1.
    pub fn estimate(self: Arc<Self>, sizes: impl Iterator<Item = u32>) -> Estimate {
        let sizes: Vec<_> = sizes.map(u64::from).collect();
        let cost = self.price(&sizes, &mut Vec::new());
        Estimate::new(cost, self)
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.steps.as_slice())
    }

    fn add(&mut self, fields: &[BoundField<'_>], above: Option<StepId>) {
        for field in fields {
            let within = match &field.kind {
                Bound::Connection(connection) => {
                    self.fixed = self.fixed.saturating_add(penalty(connection));
                    Some(self.step(above))
                }
                Bound::Lookup(_) => Some(self.step(above)),
                kind => {
                    let sum = above.map_or(&mut self.fixed, |step| &mut self.steps[step].each);
                    *sum = sum.saturating_add(own(kind));
                    above
                }
            };
            self.add(field.kind.fields(), within);
        }
    }

    /// Steps are numbered as they are met here.
    fn step(&mut self, above: Option<StepId>) -> StepId {
        self.steps.push(Rows { above, each: OBJECT });
        self.steps.len() - 1
    }

    /// The price if the steps asked for so many rows. `totals` gets what the rows of each step cost for one row above.
    pub(super) fn price(&self, sizes: &[u64], totals: &mut Vec<Cost>) -> Cost {
        totals.clear();
        totals.extend(self.steps.iter().map(|step| step.each));
        let mut price = self.fixed;
        // What is below comes behind what is above, so every step is whole when its turn comes.
        for (place, step) in self.steps.iter().enumerate().rev() {
            let total = sizes[place].saturating_mul(totals[place]);
            totals[place] = total;
            let sum = step.above.map_or(&mut price, |above| &mut totals[above]);
            *sum = sum.saturating_add(total);
        }
        price
    }

    /// The same sum over rows that came back, by step.
    pub(super) fn actual(&self, rows: &[u64]) -> Cost {
        let weighed = self.steps.iter().zip(rows).map(|(step, rows)| step.each.saturating_mul(*rows));
        weighed.fold(self.fixed, Cost::saturating_add)
    }
}
