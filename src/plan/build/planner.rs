//! What the levels share while an operation is planned.

use crate::catalog::Catalog;
use crate::catalog::binding::Column;
use crate::catalog::ids::TypeId;
use crate::plan::response_template::TemplateWriter;
use crate::plan::sql::Alias;
use crate::plan::step::{Slot, Step};
use crate::plan::template::PlanTemplate;
use crate::query::bind::ids::StepId;

/// A plan template that is being made.
pub(super) struct Planner<'a> {
    pub(super) catalog: &'a Catalog,
    /// By [`StepId`]. Each is set when its connection or lookup is planned.
    pub(super) steps: Vec<Step>,
    pub(super) response: TemplateWriter,
}

/// The row whose fields are being planned.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) step: StepId,
    pub(super) alias: Alias,
    /// The columns whose values the request has, because a lookup searches for them, and where the values are.
    pub(super) known: &'a [(&'a Column, Slot)],
}

impl<'a> Planner<'a> {
    /// An empty template with so many steps.
    pub(super) fn new(catalog: &'a Catalog, steps: usize) -> Self {
        let steps = std::iter::repeat_with(Step::default).take(steps).collect();
        Self { catalog, steps, response: TemplateWriter::default() }
    }

    /// The finished template.
    pub(super) fn finish(self) -> PlanTemplate {
        PlanTemplate::new(self.steps, self.response.finish())
    }

    /// Plans a `__typename`.
    pub(super) fn type_name(&mut self, object: TypeId) {
        self.response.literal("\"");
        self.response.literal(self.catalog.get(object).name());
        self.response.literal("\"");
    }
}
