//! The pages of an operation beside their prices, to find pages that could be smaller. Totals are pages of the rows that they add up.

use crate::cost::connection_price::ConnectionPrices;
use crate::cost::estimate::Estimate;
use crate::cost::price::{Cost, Priced, PricedField, search_penalty};
use crate::query::bind::page_size::SizeSource;
use crate::query::bind::selection::{BoundOperation, BoundSelection};
use crate::query::bind::shape::StepShape;

/// The pages of an operation.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) prices: &'a ConnectionPrices,
    /// By [`StepId`](crate::query::bind::ids::StepId): the page; `None` of a lookup, and of totals whose number of rows is the default.
    pub(super) of_steps: Vec<Option<WrittenSize<'a>>>,
    /// How many rows of each step are paid.
    sizes: &'a [u64],
    shapes: &'a [StepShape],
}

/// A number of rows that a request gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenSize<'a> {
    /// The argument that has it.
    pub(super) argument: &'static str,
    pub(super) rows: u64,
    pub(super) source: SizeSource<'a>,
}

impl<'a> Pages<'a> {
    /// The pages of an operation with this price.
    pub(super) fn of(operation: &'a BoundOperation<'a>, estimate: &'a Estimate) -> Self {
        let (shapes, sizes) = (operation.steps, estimate.sizes());
        let mut pages = Self { prices: estimate.prices(), of_steps: vec![None; shapes.len()], sizes, shapes };
        pages.add(&operation.selections);
        pages
    }

    fn add<F: Priced<'a>>(&mut self, selections: &'a [BoundSelection<'a, F>]) {
        for selection in selections {
            match selection.field.priced() {
                PricedField::Free
                | PricedField::Scalar(_)
                | PricedField::Aggregate(_)
                | PricedField::Count(_)
                | PricedField::Groups(_) => {}
                PricedField::Totals(totals) => {
                    let (argument, rows) = ("rows", self.sizes[totals.step]);
                    let size = totals.rows_source.map(|source| WrittenSize { argument, rows, source });
                    self.of_steps[totals.step] = size;
                }
                PricedField::Object(object) => self.add(&object.selections),
                PricedField::Lookup(lookup) => self.add(&lookup.selections),
                PricedField::Connection(connection) => {
                    let (argument, rows) = (connection.rows.end().argument(), self.sizes[connection.step]);
                    let size = WrittenSize { argument, rows, source: connection.size_source };
                    self.of_steps[connection.step] = Some(size);
                    self.add(&connection.selections);
                }
                PricedField::Edges(edges) => self.add(edges),
                PricedField::Node(node) => self.add(node),
            }
        }
    }

    /// How many rows of each step are paid: the page size; a lookup has 1.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.sizes.to_vec()
    }

    /// The same with one row in every page. The default of totals stays.
    pub(super) fn smallest_sizes(&self) -> Vec<u64> {
        let sizes = self.sizes.iter().zip(&self.of_steps).zip(self.shapes);
        let is_fixed = |of_step: &Option<_>, shape: &_| of_step.is_none() && matches!(shape, StepShape::Totals(..));
        sizes.map(|((rows, of_step), shape)| if is_fixed(of_step, shape) { *rows } else { 1 }).collect()
    }

    /// What each step adds to the price, with everything inside it.
    pub(super) fn shares(&self) -> Vec<Cost> {
        let mut times = self.sizes();
        let mut totals = Vec::with_capacity(times.len());
        self.prices.price(&times, &mut totals);
        for (step, (rows, shape)) in self.prices.steps.iter().zip(self.shapes).enumerate() {
            if let Some(parent) = rows.parent {
                totals[step] = totals[step].saturating_mul(times[parent]);
                times[step] = times[step].saturating_mul(times[parent]);
            } else {
                totals[step] = totals[step].saturating_add(search_penalty(shape.page()));
            }
        }
        totals
    }
}
