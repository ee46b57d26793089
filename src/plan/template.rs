//! What the plans of requests have in common if the requests differ in values alone.

use crate::plan::response_template::ResponseTemplate;
use crate::plan::step::Step;

/// How to fetch and write the responses to all requests with one `PlanKey`.
#[derive(Debug)]
pub struct PlanTemplate {
    /// The statements, by [`StepId`](crate::query::bind::ids::StepId). A step's parents come before it.
    pub steps: Vec<Step>,
    /// The template of the response.
    pub response: ResponseTemplate,
}

impl PlanTemplate {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let steps = self.steps.iter().map(|step| {
            size_of::<Step>()
                + step.sql.len()
                + size_of_val(step.parameters.as_slice())
                + step.cursor.as_ref().map_or(0, |cursor| size_of_val(cursor.columns.as_slice()))
        });
        size_of::<Self>() + steps.sum::<usize>() + self.response.bytes()
    }
}
