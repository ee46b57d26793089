//! The pure half as one function: from text to plan, or to the errors that say why not.
//!
//! - [`compile`]: from end to end, each time
//! - [`compiler`]: the same with a cache of valid texts and of plans
//! - [`explanation`]: everything that is known about a request, whether or not it is admitted
//! - [`export`]: one page after the other
//! - [`compiled`]: a request that is ready to be executed
//! - `stages`: the stages that all of them share
//! - `known_price`: prices that follow from the text alone
//! - `cache`, `cached_operation`: operations by their text, and the plans and errors of one operation
//! - [`cache_statistics`]: how often they are found

mod cache;
pub mod cache_statistics;
mod cached_operation;
pub mod compiled;
pub mod compiler;
pub mod explanation;
pub mod export;
mod known_price;
mod stages;

use crate::catalog::Catalog;
use crate::compile::compiled::Compiled;
use crate::compile::stages::{Admitted, operation, plan, price};
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::build::output::Output;
use crate::query::Request;
use crate::query::bind::resolve::resolve;

/// Compiles a request: parse, validate, resolve, estimate, admit, expand searches, plan. Pure: the same request has the same result.
/// Knows no vocabularies, so no value is reported as unknown.
pub fn compile(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Compiled, GraphqlErrors> {
    let operation = operation(catalog, request)?;
    let unexpanded = resolve(catalog, &operation, &request.variables, limits)?;
    let Admitted { estimate, .. } = price(catalog, &operation, unexpanded.priced(), limits)?;
    let resolved = unexpanded.expand()?;
    let template = plan(catalog, &operation, &resolved, Output::Data);
    Ok(Compiled::new(&operation, resolved.steps, estimate, template, Vec::new()))
}
