//! A plan template from a bound operation: one pass that appends the response template and gathers what each step has to
//! read. A file for each group of levels.

mod connection;
mod lines;
mod object;
pub mod output;
mod page_range;
mod planner;
mod root;
mod search;

use crate::catalog::Catalog;
use crate::plan::build::output::Output;
use crate::plan::build::planner::Planner;
use crate::plan::template::PlanTemplate;
use crate::query::bind::selection::BoundOperation;

/// Plans an operation. This cannot fail: the types of a bound operation rule out every error.
pub fn template<'a>(catalog: &'a Catalog, operation: &BoundOperation<'a>, output: Output) -> PlanTemplate {
    let mut planner = Planner::new(catalog, operation.steps.len(), output);
    match output {
        Output::Data => planner.root(&operation.selections),
        Output::Lines => planner.root_of_lines(&operation.selections),
    }
    planner.finish()
}
