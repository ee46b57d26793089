//! An operation's steps with what a row of each costs: the form in which other page sizes can be tried out quickly.

use crate::cost::estimate::{own, penalty};
use crate::cost::{Cost, OBJECT};
use crate::query::bind::{Bound, BoundConnection, BoundField, BoundOperation, StepId};

/// The steps of an operation, each behind the one whose rows it belongs to.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    /// By [`StepId`].
    pub(super) steps: Vec<Rows<'a>>,
    /// What is paid once.
    fixed: Cost,
}

/// The rows of a step.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    /// The step whose rows they belong to; `None` at the root.
    pub(super) above: Option<StepId>,
    /// The connection; `None` where it is the one row of a point root.
    pub(super) connection: Option<&'a BoundConnection<'a>>,
    /// What each costs, the rows of the steps below it left out.
    each: Cost,
}

impl<'a> Pages<'a> {
    /// The steps of an operation.
    pub(super) fn of(operation: &'a BoundOperation<'a>) -> Self {
        let mut pages = Self { steps: Vec::with_capacity(operation.steps), fixed: 0 };
        pages.add(&operation.fields, None);
        pages
    }

    fn add(&mut self, fields: &'a [BoundField<'a>], above: Option<StepId>) {
        for field in fields {
            let within = match &field.kind {
                Bound::Connection(connection) => {
                    self.fixed = self.fixed.saturating_add(penalty(connection));
                    Some(self.step(above, Some(connection)))
                }
                Bound::Point(_) => Some(self.step(above, None)),
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
    fn step(&mut self, above: Option<StepId>, connection: Option<&'a BoundConnection<'a>>) -> StepId {
        self.steps.push(Rows { above, connection, each: OBJECT });
        self.steps.len() - 1
    }

    /// How many rows each step asks for.
    pub(super) fn sizes(&self) -> Vec<u64> {
        let sizes = self.steps.iter().map(|step| step.connection.map_or(1, |page| u64::from(page.page.size.get())));
        sizes.collect()
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

    /// What each step adds to the price with all that is below it.
    pub(super) fn shares(&self) -> Vec<Cost> {
        let mut times = self.sizes();
        let mut totals = Vec::with_capacity(times.len());
        self.price(&times, &mut totals);
        for (place, step) in self.steps.iter().enumerate() {
            if let Some(above) = step.above {
                totals[place] = totals[place].saturating_mul(times[above]);
                times[place] = times[place].saturating_mul(times[above]);
            } else if let Some(connection) = step.connection {
                totals[place] = totals[place].saturating_add(penalty(connection));
            }
        }
        totals
    }
}
