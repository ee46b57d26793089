//! A plan template from a bound operation: one pass that appends the response template and gathers what each step has to
//! read. A file for each group of levels.

mod connection;
mod lines;
mod object;
mod page_range;
mod planner;
mod root;
mod search;

use crate::catalog::Catalog;
use crate::plan::build::planner::Planner;
use crate::plan::template::PlanTemplate;
use crate::query::bind::selection::BoundOperation;

/// How the rows of a response are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// As the `data` of a response.
    Data,
    /// The nodes of the operation's one collection, a line each. For an export.
    Lines,
}

/// Plans an operation. This cannot fail: the types of a bound operation rule out every error.
pub fn template<'a>(catalog: &'a Catalog, operation: &BoundOperation<'a>, output: Output) -> PlanTemplate {
    let mut planner = Planner::new(catalog, operation.steps.len(), output);
    match output {
        Output::Data => planner.root(&operation.selections),
        Output::Lines => planner.root_of_lines(&operation.selections),
    }
    planner.finish()
}
