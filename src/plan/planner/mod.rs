//! A plan template from a bound operation: one pass that appends the response template and gathers what each step has to read.
//!
//! - `root`: the fields of the query root
//! - `object`: lookups, and the fields of objects
//! - `connection`: connections, and the fields of connections, edges and `pageInfo`; `page_fields`: the selected fields of a page beside
//!   its rows
//! - `page`: how the rows of a connection's page are found; `search`: its search terms
//! - `totals`: totals and their groups
//! - `changes`: the changes of a type
//! - `lines`: the nodes of a collection as lines of JSON, for an export
//! - `output`: how the rows of a response are written

mod changes;
mod connection;
mod lines;
mod object;
pub mod output;
mod page;
mod page_fields;
mod root;
mod search;
mod totals;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::catalog::scope::ScopeSet;
use crate::cost::limit_exceeded::too_many_columns;
use crate::error::graphql_error::GraphqlErrors;
use crate::plan::page_sql::{Parent, WrittenRow};
use crate::plan::parameters::{ParameterSource, Parameters, Placeholder};
use crate::plan::planner::output::Output;
use crate::plan::response_template::TemplateWriter;
use crate::plan::result_columns::ResultColumns;
use crate::plan::scope_sql;
use crate::plan::select::Select;
use crate::plan::statement_sql::{self, StepBranch};
use crate::plan::step::Step;
use crate::plan::template::PlanTemplate;
use crate::query::bind::selection::{BoundOperation, BoundSelection};
use crate::query::bind::shape::TermShapes;
use crate::query::bind::step_id::StepId;

/// The most columns that PostgreSQL allows in a select list.
const MAX_COLUMNS: usize = 1664;

/// Plans an operation with search terms of these shapes. Fails if its statement has more columns than PostgreSQL allows; the types
/// of a bound operation rule out every other error.
pub fn template<'a>(
    catalog: &'a Catalog,
    operation: &BoundOperation<'a>,
    terms: &'a TermShapes,
    output: Output<'a>,
) -> Result<PlanTemplate, GraphqlErrors> {
    let mut planner = Planner::new(catalog, operation.steps.len(), terms, output);
    match output {
        Output::Data => planner.root(&operation.selections),
        Output::Lines { root } => planner.root_of_lines(root, &operation.selections),
    }
    planner.finish()
}

/// A plan template that is being made.
struct Planner<'a> {
    catalog: &'a Catalog,
    output: Output<'a>,
    /// By [`StepId`]. Each is set when its connection or lookup is planned.
    steps: Vec<Step>,
    /// The branches of the query root's fields.
    roots: Vec<StepBranch<'a>>,
    columns: ResultColumns,
    response: TemplateWriter,
    parameters: Vec<(StepId, ParameterSource)>,
    /// The scopes that limit the rows of connections.
    limited_by: ScopeSet,
    /// The shapes of the steps' search terms.
    terms: &'a TermShapes,
    /// The response keys of the fields around the planned field.
    path: Vec<&'a str>,
}

/// A step whose fields are being planned.
struct StepDraft<'a> {
    step: StepId,
    select: Select<'a>,
    /// The branches below it.
    children: Vec<StepBranch<'a>>,
    /// Its page, unless it is a lookup.
    page: Option<PageDraft>,
}

/// The page of a step whose fields are being planned.
struct PageDraft {
    /// The page size. Rows are numbered once something compares their numbers with it.
    size: Option<Placeholder>,
    has_window: bool,
    has_flags: bool,
}

impl<'a> Planner<'a> {
    /// An empty template with this many steps.
    fn new(catalog: &'a Catalog, steps: usize, terms: &'a TermShapes, output: Output<'a>) -> Self {
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
    fn finish(mut self) -> Result<PlanTemplate, GraphqlErrors> {
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
            characters: self.catalog.characters().clone(),
            columns: self.columns,
            steps: self.steps,
            response: self.response.finish(),
            limited_by: self.limited_by.and(limited_by),
        })
    }

    /// The number after the number of the last step below a step.
    fn end(&self, step: StepId, children: &[StepBranch<'_>]) -> StepId {
        children.last().map_or(step + 1, |last| self.steps[last.step].end)
    }

    /// Plans fields as an object.
    fn fields<F>(&mut self, selections: &[BoundSelection<'a, F>], mut field: impl FnMut(&mut Self, &'a str, &F)) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            field(self, selection.key, &selection.field);
        }
        self.response.close_object();
    }

    /// The parameters that a step adds.
    fn parameters(&mut self, step: StepId) -> Parameters<'_> {
        Parameters::of(step, &mut self.parameters)
    }

    /// The rows of a step as parents.
    fn parent(&mut self, draft: &mut StepDraft<'a>) -> Parent {
        let Some(&PageDraft { has_window, has_flags, .. }) = draft.page.as_ref() else { return Parent::Row };
        let Some(size) = self.size(draft) else { return Parent::Row };
        Parent::RowOfPage(WrittenRow { step: draft.step, size, has_window, has_flags })
    }

    /// The page size that the numbers of a step's rows are compared with. `None` if the step is a lookup.
    fn size(&mut self, draft: &mut StepDraft<'a>) -> Option<Placeholder> {
        let page = draft.page.as_mut()?;
        Some(*page.size.get_or_insert_with(|| self.parameters(draft.step).add(ParameterSource::PageSize)))
    }

    /// Plans the selection of a field with this response key. Returns the field's name among the steps as well.
    fn inside<T>(&mut self, key: &'a str, plan: impl FnOnce(&mut Self) -> T) -> (String, T) {
        self.path.push(key);
        let name = self.path.join(".");
        let planned = plan(self);
        self.path.pop();
        (name, planned)
    }

    /// Plans a `__typename`.
    fn type_name(&mut self, object: TypeId) {
        self.response.literal("\"");
        self.response.literal(self.catalog.get(object).name());
        self.response.literal("\"");
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::error::code::ErrorCode;
    use crate::limits::Limits;
    use crate::query::Request;

    #[test]
    fn rejects_a_statement_of_more_columns_than_postgresql_allows() {
        let columns = (0..200).map(|number| format!("c{number}: String ")).collect::<Vec<_>>().concat();
        let schema = format!(
            "type Query {{ thing(thingId: ID): Thing @point }} type Thing @relation(name: \"thing\", key: [\"thing_id\"]) {{ \
             thingId: ID! {columns} next: Thing @one(by: [\"c0\"], to: [\"thing_id\"]) }}"
        );
        let catalog = Catalog::parse(&schema).unwrap();
        let fields = (0..200).map(|number| format!("c{number} ")).collect::<Vec<_>>().concat();
        let compile = |levels: usize| {
            let query = format!("{{ thing(thingId: 1) {}{}", format!("{{ {fields} next ").repeat(levels), "{ c0 }");
            let query = format!("{query}{} }}", " }".repeat(levels));
            compile(&catalog, &Request { query, ..Request::default() }, &Limits::UNLIMITED)
        };
        // Each level has its columns and a column for whether its row is there. The last level has one column.
        let columns = compile(8).unwrap().plan.columns().types().len();
        assert_eq!(columns, 8 * 201 + 1);
        let errors = compile(9).unwrap_err();
        let error = errors.first();
        assert_eq!(error.code, ErrorCode::CostExceeded);
        assert_eq!((&error.extensions["columns"], &error.extensions["maxColumns"]), (&1811.into(), &1664.into()));
        assert!(error.message.contains("reads 1811 columns at once; the database allows 1664"), "{}", error.message);
    }
}
