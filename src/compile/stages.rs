//! The stages of compilation that run with and without a cache.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::cost::admission::admit;
use crate::cost::depth::depth;
use crate::cost::estimate::{Estimate, estimate};
use crate::cost::limit_exceeded;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::build::output::Output;
use crate::plan::build::template;
use crate::plan::template::PlanTemplate;
use crate::query::Request;
use crate::query::bind::bind;
use crate::query::bind::resolve::Resolved;
use crate::query::operation::Operation;
use crate::query::parse::Source;
use crate::query::validate::validate;

/// Depth and price of a request that is within the limits.
pub(super) struct Admitted {
    pub(super) depth: u32,
    pub(super) estimate: Estimate,
}

/// Parses and validates the text of a request.
pub(super) fn operation(catalog: &Catalog, request: &Request) -> Result<Operation, GraphqlErrors> {
    let source = Source::read(&request.query)?;
    let document = source.parse()?;
    validate(catalog, &document, request.operation_name.as_deref())
}

/// Prices and admits a request, whose search strings may be unread.
pub(super) fn price(
    catalog: &Catalog,
    operation: &Operation,
    priced: &Resolved<'_>,
    limits: &Limits,
) -> Result<Admitted, GraphqlErrors> {
    let bound = bind(catalog, operation, priced);
    let (depth, estimate) = (depth(&bound), estimate(&bound));
    limit_exceeded::check(&admit(depth, estimate.cost(), limits), &bound, estimate.formula(), limits)?;
    Ok(Admitted { depth, estimate })
}

/// Plans an admitted request.
pub(super) fn plan(
    catalog: &Catalog,
    operation: &Operation,
    resolved: &Resolved<'_>,
    output: Output,
) -> Arc<PlanTemplate> {
    Arc::new(template(catalog, &bind(catalog, operation, resolved), output))
}
