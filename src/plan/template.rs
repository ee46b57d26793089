//! What the plans of requests have in common if the requests differ in values alone.

use std::iter;
use std::sync::OnceLock;

use crate::plan::response_template::ResponseTemplate;
use crate::plan::self_contained::{SelfContained, self_contained};
use crate::plan::step::Step;
use crate::query::bind::ids::StepId;

/// How to fetch and write the responses to all requests with one `PlanKey`.
#[derive(Debug)]
pub struct PlanTemplate {
    /// The statements, by [`StepId`]. A step's parents come before it.
    pub steps: Vec<Step>,
    /// The template of the response.
    pub response: ResponseTemplate,
    /// The self-contained statements, by step, each made when it is first needed.
    self_contained: Vec<OnceLock<Option<SelfContained>>>,
}

impl PlanTemplate {
    /// A template of these parts.
    pub(crate) fn new(steps: Vec<Step>, response: ResponseTemplate) -> Self {
        let self_contained = steps.iter().map(|_| OnceLock::new()).collect();
        Self { steps, response, self_contained }
    }

    /// The statement of a step that reads its parents' keys itself. `None` if the step has no parents, or if they are found by
    /// more than an index range.
    pub fn self_contained(&self, step: StepId) -> Option<&SelfContained> {
        self.self_contained.get(step)?.get_or_init(|| self_contained(&self.steps, step)).as_ref()
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let steps = self.steps.iter().enumerate().map(|(index, step)| {
            size_of::<Step>()
                + step.sql.len()
                + size_of_val(step.parameters.as_slice())
                + step.cursor.as_ref().map_or(0, |cursor| size_of_val(cursor.columns.as_slice()))
                + self.bytes_of_self_contained(index)
        });
        size_of::<Self>() + steps.sum::<usize>() + self.response.bytes()
    }

    /// About how much memory the self-contained statement of a step takes once it is made: it has the text of the step's own,
    /// and those of the keys of its parents.
    fn bytes_of_self_contained(&self, step: StepId) -> usize {
        let keys = |step: StepId| self.steps[step].keys.as_ref().map_or(0, |keys| keys.sql.len());
        let parents = iter::successors(self.steps[step].parent(), |parent| self.steps[*parent].parent());
        let parents: usize = parents.map(keys).sum();
        keys(step) + if parents > 0 { parents + self.steps[step].sql.len() } else { 0 }
    }
}

impl PartialEq for PlanTemplate {
    fn eq(&self, other: &Self) -> bool {
        // The self-contained statements are made from the steps.
        let Self { steps, response, self_contained: _ } = self;
        (steps, response) == (&other.steps, &other.response)
    }
}

impl Eq for PlanTemplate {}
