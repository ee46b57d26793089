//! An operation's pages beside its formula: what a refusal looks through for pages that could be smaller.

use crate::cost::Cost;
use crate::cost::estimate::penalty;
use crate::cost::formula::Formula;
use crate::query::bind::{Bound, BoundConnection, BoundField, BoundOperation};

/// The pages of an operation.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    /// What they cost.
    pub(super) formula: &'a Formula,
    /// By [`StepId`](crate::query::bind::StepId): the connection; `None` where a step is the one row of a point root.
    pub(super) connections: Vec<Option<&'a BoundConnection<'a>>>,
}

impl<'a> Pages<'a> {
    /// The pages of an operation that has this formula.
    pub(super) fn of(operation: &'a BoundOperation<'a>, formula: &'a Formula) -> Self {
        let mut pages = Self { formula, connections: Vec::with_capacity(operation.steps.len()) };
        pages.add(&operation.fields);
        pages
    }

    fn add(&mut self, fields: &'a [BoundField<'a>]) {
        for field in fields {
            match &field.kind {
                Bound::Connection(connection) => self.connections.push(Some(connection)),
                Bound::Lookup(_) => self.connections.push(None),
                _ => {}
            }
            self.add(field.kind.fields());
        }
    }

    /// How many rows each step asks for.
    pub(super) fn sizes(&self) -> Vec<u64> {
        let sizes = self.connections.iter().map(|connection| connection.map_or(1, |it| u64::from(it.page.size.get())));
        sizes.collect()
    }

    /// What each step adds to the price with all that is below it.
    pub(super) fn shares(&self) -> Vec<Cost> {
        let mut times = self.sizes();
        let mut totals = Vec::with_capacity(times.len());
        self.formula.price(&times, &mut totals);
        for (place, (step, connection)) in self.formula.steps.iter().zip(&self.connections).enumerate() {
            if let Some(above) = step.above {
                totals[place] = totals[place].saturating_mul(times[above]);
                times[place] = times[place].saturating_mul(times[above]);
            } else if let Some(connection) = connection {
                totals[place] = totals[place].saturating_add(penalty(connection));
            }
        }
        totals
    }
}
