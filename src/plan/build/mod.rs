//! A plan template from a bound operation: one pass that appends the response template and gathers what each step has to
//! read. A file for each group of levels.

mod connection;
mod object;
mod page_range;

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::plan::introspection::constant;
use crate::plan::response_template::TemplateWriter;
use crate::plan::sql::Alias;
use crate::plan::step::{Slot, Step};
use crate::plan::template::PlanTemplate;
use crate::query::bind::ids::StepId;
use crate::query::bind::selection::{BoundOperation, BoundRootField, BoundSelection};

/// Plans an operation. This cannot fail: the types of a bound operation rule out every error.
pub fn template<'a>(catalog: &'a Catalog, operation: &BoundOperation<'a>) -> PlanTemplate {
    let steps = operation.steps.iter().map(|_| Step::default()).collect();
    let mut planner = Planner { catalog, steps, response: TemplateWriter::default() };
    planner.root(&operation.selections);
    PlanTemplate { steps: planner.steps, response: planner.response.finish() }
}

struct Planner<'a> {
    catalog: &'a Catalog,
    /// By [`StepId`]. Each is set when its connection or lookup is planned.
    steps: Vec<Step>,
    response: TemplateWriter,
}

/// The row whose fields are being planned.
#[derive(Clone, Copy)]
struct Row<'a> {
    step: StepId,
    alias: Alias,
    /// The columns whose values the request has, because a lookup searches for them, and where the values are.
    known: &'a [(&'a str, Slot)],
}

impl<'a> Planner<'a> {
    fn root(&mut self, selections: &[BoundSelection<'a, BoundRootField<'a>>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundRootField::TypeName(object) => self.type_name(*object),
                BoundRootField::Lookup(lookup) => self.lookup(lookup),
                BoundRootField::Connection(connection) => self.connection(connection, None),
                BoundRootField::Introspection(value) => constant(value, &mut self.response),
            }
        }
        self.response.close_object();
    }

    fn type_name(&mut self, object: TypeId) {
        self.response.literal("\"");
        self.response.literal(self.catalog.get(object).name());
        self.response.literal("\"");
    }
}
