//! How to fetch what an operation asks for: a statement for each connection and point root, and the shape of the answer.
//!
//! - [`step`]: a statement with its parameters, and where its parents' keys come from
//! - [`select`]: the columns, joins and aggregates that a step reads
//! - [`keyset`]: which part of a walk a page lies in
//! - [`filter`]: search terms as conditions
//! - [`sql`]: the writer of SQL text; the only one of the read side
//! - [`statement`]: a statement's text from its parts
//! - [`shape`]: the answer's bytes around the values, as a flat program
//! - [`introspection`]: answers that are constants
//! - [`build`]: all of these from a bound operation
//! - [`form`]: which requests have them in common

pub mod build;
pub mod filter;
pub mod plan_key;
pub mod introspection;
pub mod keyset;
pub mod select;
pub mod response_template;
pub mod sql;
pub mod statement;
pub mod step;

use std::sync::Arc;

use crate::query::bind::StepId;
use crate::query::bind::page::CursorPosition;
use crate::query::bind::resolve::StepArguments;
use crate::query::bind::terms::BoundTerm;
use crate::search::Comparator;
use crate::value::Value;
use response_template::ResponseTemplate;
use step::{Slot, Step};

/// How to fetch and write the answer to one request.
#[derive(Debug)]
pub struct Plan {
    /// What it has in common with all requests of its form.
    template: Arc<PlanTemplate>,
    /// Its values, by [`StepId`].
    arguments: Vec<StepArguments>,
}

/// How to fetch and write the answers to all requests of one form, which differ in values alone.
#[derive(Debug)]
pub struct PlanTemplate {
    /// The statements. A step's parents come before it.
    pub steps: Vec<Step>,
    /// The answer's shape.
    pub shape: ResponseTemplate,
}

/// A parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A value that the caller gave, or a null out of a cursor.
    Value(Option<&'a Value>),
    /// The elements of an in-list.
    Values(&'a [Value]),
    /// A number of rows.
    Limit(i64),
    /// One column of the parents' keys, as an array: its place in [`step::Parents::Rows::columns`].
    ParentKeys(usize),
}

impl Plan {
    /// The plan of a request with these values. The template must be of its form.
    pub fn new(template: Arc<PlanTemplate>, arguments: Vec<StepArguments>) -> Self {
        Self { template, arguments }
    }

    /// The statements. A step's parents come before it.
    pub fn steps(&self) -> &[Step] {
        &self.template.steps
    }

    /// The answer's shape.
    pub fn shape(&self) -> &ResponseTemplate {
        &self.template.shape
    }

    /// Whether anything has to be asked of the database at all.
    pub fn needs_database(&self) -> bool {
        !self.steps().is_empty()
    }

    /// How many rows of each parent a step wants.
    pub fn size(&self, step: StepId) -> u32 {
        self.arguments[step].size()
    }

    /// The values of a step's parameters, `$1` first.
    pub fn parameters(&self, step: StepId) -> impl ExactSizeIterator<Item = Parameter<'_>> {
        self.steps()[step].parameters.iter().map(move |slot| self.parameter(step, *slot))
    }

    fn parameter(&self, step: StepId, slot: Slot) -> Parameter<'_> {
        let arguments = &self.arguments[step];
        match slot {
            Slot::Key(root, place) => Parameter::Value(self.arguments[root].keys().get(place).map(|(_, value)| value)),
            Slot::Term(place) => match arguments.terms().get(place) {
                Some(BoundTerm { comparator: Comparator::In, values, .. }) => Parameter::Values(values),
                term => Parameter::Value(term.and_then(|term| term.values.first())),
            },
            Slot::After(column) => column_of(arguments.page().and_then(|page| page.after.as_ref()), column),
            Slot::Before(column) => column_of(arguments.page().and_then(|page| page.before.as_ref()), column),
            Slot::Limit => Parameter::Limit(i64::from(arguments.size()) + 1),
            Slot::ParentKeys(place) => Parameter::ParentKeys(place),
        }
    }
}

fn column_of(position: Option<&CursorPosition>, column: usize) -> Parameter<'_> {
    Parameter::Value(position.and_then(|position| position.get(column)?.as_ref()))
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
        size_of::<Self>() + steps.sum::<usize>() + self.shape.bytes()
    }
}
