//! A query with its explanation.

use crate::compile::explanation::Explanation;
use crate::error::graphql_error::GraphqlErrors;
use crate::execute::plan_analysis::PlanAnalysis;
use crate::limits::Limits;

/// A query with its explanation.
#[derive(Debug)]
pub struct Explained<'a> {
    /// The document's text.
    pub query: &'a str,
    /// The caller's limits.
    pub limits: Limits,
    /// The explanation, or the errors of a query that has none.
    pub result: Result<Explanation, GraphqlErrors>,
    /// The times and rows of the query on a database, if it was run on one.
    pub analysis: Option<PlanAnalysis>,
}

impl Explained<'_> {
    /// The errors with which the server would reject the query.
    pub fn errors(&self) -> Option<&GraphqlErrors> {
        match &self.result {
            Ok(explanation) => explanation.errors.as_ref(),
            Err(errors) => Some(errors),
        }
    }
}
