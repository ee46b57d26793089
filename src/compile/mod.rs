//! The pure half as one function: from text to plan, or to the errors that say why not.
//!
//! - [`compile`]: from end to end, each time
//! - [`compiler`]: the same with a cache of valid texts and of plans
//! - [`explanation`]: everything that is known about a request, whether or not it is admitted
//! - [`export`]: one page after the other
//! - [`compiled`]: a request that is ready to be executed
//! - `valid_operation`: from a request's text to its operation
//! - `known_price`: prices that follow from the text alone
//! - `cached_operation`: one operation, from a request's values to its plan; its plans and errors are reused
//! - `cache`: operations by their text
//! - [`cache_statistics`]: how often they are found

mod cache;
pub mod cache_statistics;
mod cached_operation;
pub mod compiled;
pub mod compiler;
pub mod explanation;
pub mod export;
mod known_price;
pub(crate) mod valid_operation;

use crate::catalog::Catalog;
use crate::compile::cached_operation::CachedOperation;
use crate::compile::compiled::Compiled;
use crate::compile::valid_operation::valid_operation;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::planner::output::Output;
use crate::query::Request;

/// Compiles a request: parse, validate, resolve, estimate, admit, expand searches, plan. Pure: the same request has the same result.
/// Knows no vocabularies, so no value is reported as unknown, and no caller, so of relations in a scope it reads no rows.
pub fn compile(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Compiled, GraphqlErrors> {
    let operation = CachedOperation::new(valid_operation(catalog, request)?, 0);
    Ok(operation.compile(catalog, &request.variables, limits.into(), Output::Data, || {})?.compiled)
}
