//! What the levels share while an operation is planned.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem;

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::plan::branch::{self, Branch};
use crate::plan::build::output::Output;
use crate::plan::response_template::TemplateWriter;
use crate::plan::result_columns::ResultColumns;
use crate::plan::select::Select;
use crate::plan::sql::{Parameters, Placeholder};
use crate::plan::statement::{Parent, WrittenRow};
use crate::plan::step::{Slot, Step};
use crate::plan::template::PlanTemplate;
use crate::query::bind::ids::StepId;

/// A plan template that is being made.
pub(super) struct Planner<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) output: Output,
    /// By [`StepId`]. Each is set when its connection or lookup is planned.
    pub(super) steps: Vec<Step>,
    /// The branches of the query root's fields.
    pub(super) roots: Vec<Branch<'a>>,
    pub(super) columns: ResultColumns,
    pub(super) response: TemplateWriter,
    parameters: Vec<(StepId, Slot)>,
}

/// A step whose fields are being planned.
pub(super) struct StepDraft<'a> {
    pub(super) step: StepId,
    pub(super) select: Select<'a>,
    /// The branches below it.
    pub(super) children: Vec<Branch<'a>>,
    pub(super) rows: DraftRows,
}

impl StepDraft<'_> {
    /// The page size, if the numbers of rows are compared with it.
    pub(super) fn size(&self) -> Option<Placeholder> {
        match self.rows {
            DraftRows::One => None,
            DraftRows::Page { size, .. } => size,
        }
    }
}

/// The rows of a step whose fields are being planned.
pub(super) enum DraftRows {
    /// That of a lookup.
    One,
    /// Those of a page. Rows are numbered once something compares their numbers with the page size.
    Page { size: Option<Placeholder>, has_window: bool, has_flags: bool },
}

impl<'a> Planner<'a> {
    /// An empty template with so many steps.
    pub(super) fn new(catalog: &'a Catalog, steps: usize, output: Output) -> Self {
        Self {
            catalog,
            output,
            steps: std::iter::repeat_with(Step::default).take(steps).collect(),
            roots: Vec::new(),
            columns: ResultColumns::default(),
            response: TemplateWriter::default(),
            parameters: Vec::new(),
        }
    }

    /// The finished template.
    pub(super) fn finish(mut self) -> PlanTemplate {
        for id in (0..self.steps.len()).rev() {
            let end = self.steps[id].end.max(id + 1);
            self.steps[id].end = end;
            if let Some(parent) = self.steps[id].parent {
                self.steps[parent].end = self.steps[parent].end.max(end);
            }
        }
        let response = self.response.finish();
        let in_order = response.written_in_order(self.steps.len());
        for (step, in_order) in self.steps.iter_mut().zip(in_order) {
            step.is_written_in_order = in_order;
        }
        let sql = branch::text(&self.roots, &self.columns, self.steps.len());
        PlanTemplate {
            sql_key: BuildHasherDefault::<DefaultHasher>::default().hash_one(&sql),
            sql,
            parameters: mem::take(&mut self.parameters),
            columns: self.columns,
            steps: self.steps,
            response,
        }
    }

    /// The parameters that a step adds.
    pub(super) fn parameters(&mut self, step: StepId) -> Parameters<'_> {
        Parameters::of(step, &mut self.parameters)
    }

    /// The rows of a step as parents.
    pub(super) fn parent(&mut self, draft: &mut StepDraft<'a>) -> Parent {
        let DraftRows::Page { has_window, has_flags, .. } = draft.rows else { return Parent::Row };
        let Some(size) = self.size(draft) else { return Parent::Row };
        Parent::RowOfPage(WrittenRow { step: draft.step, size, has_window, has_flags })
    }

    /// The page size that the numbers of a step's rows are compared with. `None` if the step is a lookup.
    pub(super) fn size(&mut self, draft: &mut StepDraft<'a>) -> Option<Placeholder> {
        let DraftRows::Page { size, .. } = &mut draft.rows else { return None };
        Some(*size.get_or_insert_with(|| self.parameters(draft.step).add(Slot::PageSize)))
    }

    /// Plans a `__typename`.
    pub(super) fn type_name(&mut self, object: TypeId) {
        self.response.literal("\"");
        self.response.literal(self.catalog.get(object).name());
        self.response.literal("\"");
    }
}
