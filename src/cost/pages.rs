//! The pages of an operation beside their prices, to find pages that could be smaller. Totals are pages of the rows that they add up.

use crate::cost::estimate::Estimate;
use crate::cost::lines::{CostLine, LineKind, Path, WrittenSize, lines};
use crate::cost::operation_cost::OperationCost;
use crate::cost::price::Cost;
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_id::StepId;

/// The pages of an operation.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) cost: &'a OperationCost,
    /// How many rows of each step are paid: the page size; a lookup has 1.
    pub(super) sizes: &'a [u64],
    lines: Vec<CostLine<'a>>,
    /// The numbers of the steps' lines.
    steps: Vec<usize>,
}

impl<'a> Pages<'a> {
    /// The pages of an operation with this price.
    pub(super) fn of(operation: &'a BoundOperation<'a>, estimate: &'a Estimate) -> Self {
        let lines = lines(operation);
        let steps = lines.iter().zip(0..).filter(|(line, _)| line.step().is_some()).map(|(_, number)| number).collect();
        Self { cost: estimate.operation_cost(), sizes: estimate.sizes(), lines, steps }
    }

    /// The lines of the steps, by [`StepId`].
    fn of_steps(&self) -> impl Iterator<Item = &CostLine<'a>> {
        self.steps.iter().map(|line| &self.lines[*line])
    }

    /// The page size of a step; `None` of a lookup, and of totals whose number of rows is the default.
    pub(super) fn written_size(&self, step: StepId) -> Option<WrittenSize<'a>> {
        self.lines[self.steps[step]].written_size()
    }

    /// The response keys that lead to a step.
    pub(super) fn path(&self, step: StepId) -> Path<'a> {
        self.lines[self.steps[step]].path(&self.lines)
    }

    /// How many rows of each step are paid with one row in every page. The default of totals stays.
    pub(super) fn smallest_sizes(&self) -> Vec<u64> {
        let size =
            |(line, rows): (&CostLine<'_>, &u64)| if let LineKind::Totals(.., None) = line.kind { *rows } else { 1 };
        self.of_steps().zip(self.sizes).map(size).collect()
    }

    /// Each step's part of the price, with everything inside it.
    pub(super) fn shares(&self) -> Vec<Cost> {
        let mut times = self.sizes.to_vec();
        let mut totals = Vec::with_capacity(times.len());
        self.cost.price(&times, &mut totals);
        for (step, line) in self.of_steps().enumerate() {
            if let Some(parent) = line.around {
                totals[step] = totals[step].saturating_mul(times[parent]);
                times[step] = times[step].saturating_mul(times[parent]);
            } else {
                totals[step] = totals[step].saturating_add(line.penalty);
            }
        }
        totals
    }
}
