//! The part of a plan that is the same for requests that differ in values alone.

use crate::catalog::characters::Characters;
use crate::catalog::scope::ScopeSet;
use crate::plan::parameters::ParameterSource;
use crate::plan::response_template::ResponseTemplate;
use crate::plan::result_columns::ResultColumns;
use crate::plan::step::Step;
use crate::query::bind::step_id::StepId;

/// How to fetch and write the responses to all requests for one operation that have the same shape.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanTemplate {
    /// The statement. Its text does not depend on values. Empty if there are no steps.
    pub(crate) sql: String,
    /// A hash of the text.
    pub(crate) sql_key: u64,
    /// The sources of its parameters' values, `$1` first: the step, and the source in the step.
    pub(crate) parameters: Vec<(StepId, ParameterSource)>,
    /// The characters that the texts of its parameters can have.
    pub(crate) characters: Characters,
    /// The columns of its rows, after the number of the step.
    pub(crate) columns: ResultColumns,
    /// The steps, by [`StepId`]. A step's parents come before it.
    pub(crate) steps: Vec<Step>,
    /// The template of the response.
    pub(crate) response: ResponseTemplate,
    /// The scopes that limit the rows of the response.
    pub(crate) limited_by: ScopeSet,
}

impl PlanTemplate {
    /// About how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let cursors = self.steps.iter().filter_map(|step| step.cursor.as_ref());
        let cursors: usize = cursors.map(|cursor| size_of_val(cursor.columns.as_slice())).sum();
        let names: usize = self.steps.iter().map(|step| step.name.len()).sum();
        let lists = size_of_val(self.parameters.as_slice())
            + size_of_val(self.columns.types())
            + size_of_val(self.steps.as_slice());
        size_of::<Self>() + self.sql.len() + lists + cursors + names + self.response.bytes()
    }
}
