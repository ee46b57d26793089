//! The plan of one request: a template, and the values of the parameters.

use std::sync::Arc;

use crate::cursor::CursorPosition;
use crate::plan::access_path::range_head;
use crate::plan::response_template::ResponseTemplate;
use crate::plan::result_columns::ResultColumns;
use crate::plan::step::{Slot, Step};
use crate::plan::template::PlanTemplate;
use crate::query::bind::ids::StepId;
use crate::query::bind::resolve::StepArguments;
use crate::value::Value;

/// How to fetch and write the response to one request.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    template: Arc<PlanTemplate>,
    /// The request's values, by [`StepId`].
    arguments: Vec<StepArguments>,
}

/// A parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A value from the request, or a null from a cursor.
    Value(Option<&'a Value>),
    /// The elements of an in-list.
    Values(&'a [Value]),
    /// A number of rows.
    Limit(i64),
}

impl Plan {
    /// The plan of a request with these values. The template must be the one of the request's key.
    pub fn new(template: Arc<PlanTemplate>, arguments: Vec<StepArguments>) -> Self {
        Self { template, arguments }
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

    /// Whether the plan has a statement.
    pub fn needs_database(&self) -> bool {
        !self.steps().is_empty()
    }

    /// How many rows a step fetches for each parent.
    pub fn size(&self, step: StepId) -> u32 {
        self.arguments[step].size()
    }

    /// The most rows that a collection root's step examines to find the rows of its page; `None` for other steps.
    pub fn rows_examined(&self, step: StepId) -> Option<u64> {
        let (path, arguments) = (&self.steps()[step].access_path, &self.arguments[step]);
        let is_root = self.steps()[step].parent.is_none() && (path.is_exhaustive || !path.index.is_empty());
        let values =
            path.prefix.and_then(|prefix| arguments.terms.get(prefix.term)).map_or(1, |term| term.values.len());
        is_root.then(|| path.bound(arguments.size(), values))
    }

    /// The values of the statement's parameters, `$1` first.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = Parameter<'_>> {
        self.template.parameters.iter().map(|(step, slot)| self.parameter(*step, *slot))
    }

    /// The most rows that all steps fetch together.
    pub fn max_rows(&self) -> u64 {
        self.max_rows_of_steps().into_iter().fold(0, u64::saturating_add)
    }

    /// The most rows that PostgreSQL examines to find those of all pages, about. Rows that it reads by their keys afterwards, such as
    /// joined ones, are not counted: a fixed number for each row of a page.
    pub fn max_rows_examined(&self) -> u64 {
        let rows = self.max_rows_of_steps();
        let examined = (0..self.steps().len()).map(|id| {
            let step = &self.steps()[id];
            self.rows_examined(id).unwrap_or_else(|| {
                // The rows of a page below a row lie side by side in an index.
                let parents = step.parent.map_or(1, |parent| rows[parent]);
                parents.saturating_mul(step.access_path.bound(self.size(id), 1))
            })
        });
        examined.fold(0, u64::saturating_add)
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

    fn parameter(&self, step: StepId, slot: Slot) -> Parameter<'_> {
        let arguments = &self.arguments[step];
        match slot {
            Slot::Key(index) => Parameter::Value(arguments.keys.get(index).map(|(_, value)| value)),
            Slot::KeyArray(index) => {
                let key = arguments.keys.get(index);
                Parameter::Values(key.map_or(&[], |(_, value)| std::slice::from_ref(value)))
            }
            Slot::Term(index) => Parameter::Value(arguments.terms.get(index).and_then(|term| term.values.first())),
            Slot::TermValues(index) => {
                Parameter::Values(arguments.terms.get(index).map_or(&[], |term| term.values.as_slice()))
            }
            Slot::After(column) => column_of(arguments.page.after.as_ref(), column),
            Slot::Before(column) => column_of(arguments.page.before.as_ref(), column),
            Slot::Limit => Parameter::Limit(i64::from(arguments.size()) + 1),
            Slot::PageSize => Parameter::Limit(i64::from(arguments.size())),
            Slot::CountLimit => Parameter::Limit(arguments.count_up_to.map_or(0, i64::from)),
            Slot::RangeHead(index) => {
                let values = arguments.terms.get(index).map_or(0, |term| term.values.len());
                Parameter::Limit(i64::from(range_head(arguments.size() + 1, values)))
            }
        }
    }
}

fn column_of(position: Option<&CursorPosition>, column: usize) -> Parameter<'_> {
    Parameter::Value(position.and_then(|position| position.get(column)?.as_ref()))
}
