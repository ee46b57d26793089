//! The pages of an operation beside their prices, to find pages that could be smaller.

use crate::cost::connection_price::ConnectionPrices;
use crate::cost::price::{Cost, Priced, PricedField, search_penalty};
use crate::query::bind::resolve::StepArguments;
use crate::query::bind::selection::{BoundConnection, BoundOperation, BoundSelection};

/// The pages of an operation.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) prices: &'a ConnectionPrices,
    /// By [`StepId`](crate::query::bind::ids::StepId): the connection; `None` if the step is a lookup or totals.
    pub(super) connections: Vec<Option<&'a BoundConnection<'a>>>,
    /// The arguments of the steps.
    arguments: &'a [StepArguments],
}

impl<'a> Pages<'a> {
    /// The pages of an operation that has these prices.
    pub(super) fn of(operation: &'a BoundOperation<'a>, prices: &'a ConnectionPrices) -> Self {
        let mut pages = Self { prices, connections: vec![None; operation.steps.len()], arguments: operation.steps };
        pages.add(&operation.selections);
        pages
    }

    fn add<F: Priced<'a>>(&mut self, selections: &'a [BoundSelection<'a, F>]) {
        for selection in selections {
            match selection.field.priced() {
                // Totals have no pages.
                PricedField::Free
                | PricedField::Scalar(_)
                | PricedField::Aggregate(_)
                | PricedField::Count(_)
                | PricedField::Totals(_)
                | PricedField::Groups(_) => {}
                PricedField::Object(object) => self.add(&object.selections),
                PricedField::Lookup(lookup) => self.add(&lookup.selections),
                PricedField::Connection(connection) => {
                    self.connections[connection.step] = Some(connection);
                    self.add(&connection.selections);
                }
                PricedField::Edges(edges) => self.add(edges),
                PricedField::Node(node) => self.add(node),
            }
        }
    }

    /// How many rows of each step are paid: the page size; a lookup has 1.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.arguments.iter().map(|arguments| u64::from(arguments.rows())).collect()
    }

    /// The same with one row in every page. Totals have no page that could be smaller.
    pub(super) fn smallest_sizes(&self) -> Vec<u64> {
        let smallest = |arguments: &StepArguments| if arguments.totals.is_some() { arguments.rows() } else { 1 };
        self.arguments.iter().map(|arguments| u64::from(smallest(arguments))).collect()
    }

    /// What each step adds to the price, with everything inside it.
    pub(super) fn shares(&self) -> Vec<Cost> {
        let mut times = self.sizes();
        let mut totals = Vec::with_capacity(times.len());
        self.prices.price(&times, &mut totals);
        for (step, (rows, arguments)) in self.prices.steps.iter().zip(self.arguments).enumerate() {
            if let Some(parent) = rows.parent {
                totals[step] = totals[step].saturating_mul(times[parent]);
                times[step] = times[step].saturating_mul(times[parent]);
            } else {
                totals[step] = totals[step].saturating_add(search_penalty(arguments));
            }
        }
        totals
    }
}
