//! From a request's text to its operation.

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlErrors;
use crate::query::Request;
use crate::query::operation::Operation;
use crate::query::parse::Source;
use crate::query::validate::validate;

/// Parses and validates the text of a request.
pub(crate) fn valid_operation(catalog: &Catalog, request: &Request) -> Result<Operation, GraphqlErrors> {
    let source = Source::read(&request.query)?;
    let document = source.parse()?;
    validate(catalog, &document, request.operation_name.as_deref())
}
