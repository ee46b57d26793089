//! What the levels share while an operation is planned.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::catalog::scope::ScopeSet;
use crate::cost::limit_exceeded::too_many_columns;
use crate::error::graphql_error::GraphqlErrors;
use crate::plan::build::output::Output;
use crate::plan::page_sql::{Parent, WrittenRow};
use crate::plan::parameters::{ParameterSource, Parameters, Placeholder};
use crate::plan::response_template::TemplateWriter;
use crate::plan::result_columns::ResultColumns;
use crate::plan::scope_sql;
use crate::plan::select::Select;
use crate::plan::statement_sql::{self, Branch};
use crate::plan::step::Step;
use crate::plan::template::PlanTemplate;
use crate::query::bind::ids::StepId;
use crate::query::bind::selection::BoundSelection;
use crate::query::bind::shape::TermShapes;

/// The most columns that PostgreSQL allows in a select list.
const MAX_COLUMNS: usize = 1664;

/// A plan template that is being made.
pub(super) struct Planner<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) output: Output<'a>,
    /// By [`StepId`]. Each is set when its connection or lookup is planned.
    pub(super) steps: Vec<Step>,
    /// The branches of the query root's fields.
    pub(super) roots: Vec<Branch<'a>>,
    pub(super) columns: ResultColumns,
    pub(super) response: TemplateWriter,
    parameters: Vec<(StepId, ParameterSource)>,
    /// The scopes that limit the rows of connections.
    pub(super) limited_by: ScopeSet,
    /// The shapes of the steps' search terms.
    pub(super) terms: &'a TermShapes,
    /// The response keys of the fields around what is being planned.
    path: Vec<&'a str>,
}

/// A step whose fields are being planned.
pub(super) struct StepDraft<'a> {
    pub(super) step: StepId,
    pub(super) select: Select<'a>,
    /// The branches below it.
    pub(super) children: Vec<Branch<'a>>,
    /// Its page, unless it is a lookup.
    pub(super) page: Option<PageDraft>,
}

/// The page of a step whose fields are being planned.
pub(super) struct PageDraft {
    /// The page size. Rows are numbered once something compares their numbers with it.
    pub(super) size: Option<Placeholder>,
    pub(super) has_window: bool,
    pub(super) has_flags: bool,
}

impl<'a> Planner<'a> {
    /// An empty template with so many steps.
    pub(super) fn new(catalog: &'a Catalog, steps: usize, terms: &'a TermShapes, output: Output<'a>) -> Self {
        Self {
            catalog,
            output,
            steps: std::iter::repeat_with(Step::default).take(steps).collect(),
            roots: Vec::new(),
            columns: ResultColumns::default(),
            response: TemplateWriter::default(),
            parameters: Vec::new(),
            limited_by: ScopeSet::default(),
            terms,
            path: Vec::new(),
        }
    }

    /// The finished template. Fails if the statement has more columns than PostgreSQL allows.
    pub(super) fn finish(mut self) -> Result<PlanTemplate, GraphqlErrors> {
        let width = statement_sql::width(&self.roots, &self.columns);
        if width > MAX_COLUMNS {
            return Err(too_many_columns(width, MAX_COLUMNS));
        }
        let sql = statement_sql::text(&self.roots, &self.columns, self.steps.len());
        let (sql, limited_by) = scope_sql::limited(self.catalog.scoped(), sql, &mut self.parameters);
        Ok(PlanTemplate {
            sql_key: BuildHasherDefault::<DefaultHasher>::default().hash_one(&sql),
            sql,
            parameters: self.parameters,
            columns: self.columns,
            steps: self.steps,
            response: self.response.finish(),
            limited_by: self.limited_by.and(limited_by),
        })
    }

    /// The number after that of the last step below a step.
    pub(super) fn end(&self, step: StepId, children: &[Branch<'_>]) -> StepId {
        children.last().map_or(step + 1, |last| self.steps[last.step].end)
    }

    /// Plans fields as an object.
    pub(super) fn fields<F>(
        &mut self,
        selections: &[BoundSelection<'a, F>],
        mut field: impl FnMut(&mut Self, &'a str, &F),
    ) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            field(self, selection.key, &selection.field);
        }
        self.response.close_object();
    }

    /// The parameters that a step adds.
    pub(super) fn parameters(&mut self, step: StepId) -> Parameters<'_> {
        Parameters::of(step, &mut self.parameters)
    }

    /// The rows of a step as parents.
    pub(super) fn parent(&mut self, draft: &mut StepDraft<'a>) -> Parent {
        let Some(&PageDraft { has_window, has_flags, .. }) = draft.page.as_ref() else { return Parent::Row };
        let Some(size) = self.size(draft) else { return Parent::Row };
        Parent::RowOfPage(WrittenRow { step: draft.step, size, has_window, has_flags })
    }

    /// The page size that the numbers of a step's rows are compared with. `None` if the step is a lookup.
    pub(super) fn size(&mut self, draft: &mut StepDraft<'a>) -> Option<Placeholder> {
        let page = draft.page.as_mut()?;
        Some(*page.size.get_or_insert_with(|| self.parameters(draft.step).add(ParameterSource::PageSize)))
    }

    /// Plans what is selected from a field with this response key. Returns the field's name among the steps as well.
    pub(super) fn inside<T>(&mut self, key: &'a str, plan: impl FnOnce(&mut Self) -> T) -> (String, T) {
        self.path.push(key);
        let name = self.path.join(".");
        let planned = plan(self);
        self.path.pop();
        (name, planned)
    }

    /// Plans a `__typename`.
    pub(super) fn type_name(&mut self, object: TypeId) {
        self.response.literal("\"");
        self.response.literal(self.catalog.get(object).name());
        self.response.literal("\"");
    }
}
