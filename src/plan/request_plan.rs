//! The plan of one request: a template, and the values of the parameters.

use std::sync::Arc;

use crate::catalog::characters::Characters;
use crate::catalog::scope::{RowScope, ScopeSet};
use crate::cursor::{CursorPosition, CursorScope};
use crate::plan::access_path::expected_pages::ExpectedPages;
use crate::plan::access_path::merged_ranges::range_head;
use crate::plan::access_path::{Lookup, Window};
use crate::plan::changes_sql::marks;
use crate::plan::parameters::{ParameterSource, ParameterValue};
use crate::plan::response_template::ResponseTemplate;
use crate::plan::result_columns::ResultColumns;
use crate::plan::step::Step;
use crate::plan::template::PlanTemplate;
use crate::query::bind::changes::ChangesStart;
use crate::query::bind::search_terms::StepTerms;
use crate::query::bind::step_id::StepId;
use crate::query::bind::step_values::StepValues;

/// How to fetch and write the response to one request.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    template: Arc<PlanTemplate>,
    /// The request's values, by [`StepId`].
    values: Vec<StepValues>,
    terms: StepTerms,
    scope: RowScope,
}

/// The most rows of all steps of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowBounds {
    /// The rows that the roots fetch.
    pub of_roots: u64,
    /// The rows that all steps fetch.
    pub fetched: u64,
    /// The rows that PostgreSQL examines to find them, about. Rows that it reads by their keys afterwards, such as joined ones, are not
    /// counted: there is a fixed number for each row of a page.
    pub examined: u64,
}

impl Plan {
    /// The plan of a request with these values. The template must be the one of the request's shape, in the caller's view.
    pub fn new(template: Arc<PlanTemplate>, values: Vec<StepValues>, terms: StepTerms, scope: RowScope) -> Self {
        Self { template, values, terms, scope }
    }

    /// The statement. Its text does not depend on values.
    pub fn sql(&self) -> &str {
        &self.template.sql
    }

    /// A hash of the statement's text.
    pub fn sql_key(&self) -> u64 {
        self.template.sql_key
    }

    /// The columns of the statement's rows, after the number of the step.
    pub fn columns(&self) -> &ResultColumns {
        &self.template.columns
    }

    /// The steps. A step's parents come before it.
    pub fn steps(&self) -> &[Step] {
        &self.template.steps
    }

    /// The template of the response.
    pub fn response_template(&self) -> &ResponseTemplate {
        &self.template.response
    }

    /// The search terms of the steps.
    pub(crate) fn terms(&self) -> &StepTerms {
        &self.terms
    }

    /// The rows that the caller sees.
    pub fn scope(&self) -> &RowScope {
        &self.scope
    }

    /// What limits the rows of a step's page, for its cursors.
    pub(crate) fn cursor_scope(&self, step: StepId) -> Option<CursorScope> {
        self.values[step].page()?.scope
    }

    /// The scopes that limit the rows of the response.
    pub fn limited_by(&self) -> ScopeSet {
        self.template.limited_by
    }

    /// Whether the plan has a statement.
    pub fn needs_database(&self) -> bool {
        !self.steps().is_empty()
    }

    /// How many rows a step fetches for each parent.
    pub fn size(&self, step: StepId) -> u32 {
        self.values[step].size()
    }

    /// How many rows a step reads for each parent: the rows that it fetches, or sums up.
    pub fn rows(&self, step: StepId) -> u32 {
        self.values[step].rows()
    }

    /// The most rows that a step examines to find the rows of a page, if it is a collection root's, has a window, or sorts its
    /// rows; `None` for other steps.
    pub fn rows_examined(&self, step: StepId) -> Option<u64> {
        let Step { parent, access_path: path, .. } = &self.steps()[step];
        let is_root = parent.is_none() && !path.index().is_empty();
        (is_root || path.sort_limit().is_some() || path.scan().is_none() || path.window().is_some())
            .then(|| path.bound(self.rows(step), self.multiplied(step)))
    }

    /// The most matching rows with which a step's look-up is used.
    pub fn lookup_rows(&self, step: StepId, lookup: &Lookup) -> u32 {
        self.steps()[step].access_path.lookup_rows(lookup, self.rows(step))
    }

    /// How many values, or pairs of values, the rows that a step examines are multiplied by.
    pub(crate) fn multiplied(&self, step: StepId) -> usize {
        let terms = self.steps()[step].access_path.multiplying();
        terms.filter_map(|term| self.terms.of(step).get(term)).map(|term| term.values.len()).product()
    }

    /// The number of the last row of a step's window; 0 without one.
    pub(crate) fn window(&self, step: StepId) -> i64 {
        let path = &self.steps()[step].access_path;
        path.window().map_or(0, |window| self.drawn(window, path.window_of(self.size(step))))
    }

    /// How many of its rows a window has in this request.
    fn drawn(&self, window: &Window, rows: u32) -> i64 {
        window.hidden_rows.window(rows, self.scope.breadth()).into()
    }

    /// How many rows such a window has on average, which says nothing about the rows of one request.
    #[cfg(feature = "server")]
    pub(crate) fn average_window(&self, step: StepId) -> i64 {
        self.steps()[step].access_path.window_of(self.size(step)).into()
    }

    /// The pages that a client reads for a page of rows of such a step; `None` for other steps.
    pub fn expected_pages(&self, step: StepId) -> Option<ExpectedPages<'_>> {
        let path = &self.steps()[step].access_path;
        self.rows_examined(step).map(|_| path.expected_pages(self.rows(step)))
    }

    /// The start of a page of changes, if the step is one.
    pub fn changes_start(&self, step: StepId) -> Option<&ChangesStart> {
        self.values[step].start()
    }

    /// The relations with the marks of a feed, direct and indirect, if the plan reads nothing but what changed in the feed until now since
    /// a token. One between two pages reads only up to the snapshot of the first.
    pub fn marks_of_changes(&self) -> Option<[&str; 2]> {
        let mut roots = self.steps().iter().enumerate().filter(|(_, step)| step.parent.is_none());
        let (id, step) = roots.next()?;
        let is_until_now = self.changes_start(id)?.token.as_ref()?.walk.is_none();
        let marks = [step.relation.as_str(), step.changes()?.indirect.as_str()];
        (is_until_now && roots.next().is_none()).then_some(marks)
    }

    /// Whether it reads changes: only the primary has the state of all transactions.
    pub fn reads_changes(&self) -> bool {
        self.values.iter().any(|values| values.start().is_some())
    }

    /// The characters that the texts of the statement's parameters can have.
    pub fn characters(&self) -> &Characters {
        &self.template.characters
    }

    /// The values of the statement's parameters, `$1` first.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = ParameterValue<'_>> {
        self.template.parameters.iter().map(|(step, source)| self.parameter(*step, *source))
    }

    /// The most rows that all steps fetch together.
    pub fn max_rows(&self) -> u64 {
        self.max_rows_of_steps().into_iter().fold(0, u64::saturating_add)
    }

    /// Bounds on the rows of all steps.
    pub fn row_bounds(&self) -> RowBounds {
        let rows = self.max_rows_of_steps();
        let mut bounds = RowBounds { of_roots: 0, fetched: 0, examined: 0 };
        for (id, step) in self.steps().iter().enumerate() {
            // The rows of a page below a row lie side by side in an index.
            let of_page = self.rows_examined(id).unwrap_or_else(|| step.access_path.bound(self.size(id), 1));
            let examined = step.parent.map_or(1, |parent| rows[parent]).saturating_mul(of_page);
            bounds.examined = bounds.examined.saturating_add(examined);
            bounds.fetched = bounds.fetched.saturating_add(rows[id]);
            bounds.of_roots = bounds.of_roots.saturating_add(if step.parent.is_none() { rows[id] } else { 0 });
        }
        bounds
    }

    /// The most rows of each step.
    fn max_rows_of_steps(&self) -> Vec<u64> {
        let mut rows: Vec<u64> = Vec::with_capacity(self.steps().len());
        for (id, step) in self.steps().iter().enumerate() {
            // A step's parents come before it.
            let parents = step.parent.map_or(1, |parent| rows[parent]);
            rows.push(parents.saturating_mul(u64::from(self.size(id))));
        }
        rows
    }

    fn parameter(&self, step: StepId, source: ParameterSource) -> ParameterValue<'_> {
        let (of_step, terms) = (&self.values[step], self.terms.of(step));
        let (size, page) = (i64::from(of_step.rows()), of_step.page());
        let key = |index: usize| of_step.keys().get(index);
        let values = |index: usize| terms.get(index).map_or(&[][..], |term| &term.values);
        match source {
            ParameterSource::Key(index) => ParameterValue::Value(key(index)),
            ParameterSource::KeyArray(index) => ParameterValue::Values(key(index).map_or(&[], std::slice::from_ref)),
            ParameterSource::Term(index) => ParameterValue::Value(values(index).first()),
            ParameterSource::TermValues(index) => ParameterValue::Values(values(index)),
            ParameterSource::After(column) => column_of(page.and_then(|page| page.after.as_ref()), column),
            ParameterSource::Before(column) => column_of(page.and_then(|page| page.before.as_ref()), column),
            ParameterSource::Scope(scope) => ParameterValue::Values(self.scope.values(scope)),
            ParameterSource::Breadth => ParameterValue::Limit(self.scope.breadth().parts().into()),
            ParameterSource::Limit => ParameterValue::Limit(size + 1),
            ParameterSource::PageSize => ParameterValue::Limit(size),
            ParameterSource::Window => ParameterValue::Limit(self.window(step)),
            ParameterSource::Groups => ParameterValue::Limit(of_step.size().into()),
            ParameterSource::TimeZone => ParameterValue::Value(of_step.time_zone()),
            ParameterSource::CountLimit => {
                ParameterValue::Limit(page.and_then(|page| page.count_up_to).map_or(0, i64::from))
            }
            ParameterSource::CountWindow => {
                let counted = self.steps()[step].access_path.counted.as_ref();
                let window = counted.and_then(|count| count.path.window());
                ParameterValue::Limit(window.map_or(0, |window| self.drawn(window, window.rows)))
            }
            ParameterSource::Start(value) => {
                ParameterValue::Value(of_step.start().and_then(|start| start.value(value)))
            }
            ParameterSource::Marks => ParameterValue::Limit(i64::from(marks(of_step.size())) + 1),
            ParameterSource::RangeHead(index) => {
                ParameterValue::Limit(range_head(of_step.rows() + 1, values(index).len()).into())
            }
            ParameterSource::JoinedRangeHead(ranges) => {
                ParameterValue::Limit(range_head(of_step.rows() + 1, ranges as usize).into())
            }
        }
    }
}

fn column_of(position: Option<&CursorPosition>, column: usize) -> ParameterValue<'_> {
    ParameterValue::Value(position.and_then(|position| position.get(column)?.as_ref()))
}
