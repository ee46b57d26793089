//! Random requests for tests of costs.

use orderql::catalog::Catalog;
use orderql::compile::explanation::Explanation;
use orderql::error::code::ErrorCode;
use orderql::query::Request;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::print::Layout;
use orderql_generator::values::Invented;

/// A random request with page sizes up to 90. Page sizes share variables, and are in fragments that are spread twice and in
/// fields that are selected twice. No field is never selected: suggestions do not know those.
pub fn random_request(catalog: &Catalog, seed: u64) -> Request {
    let settings =
        Settings { max_page: 90, max_operations: 1, max_fields: 40, introspection: false, ..Settings::default() };
    let bytes = (0..).map(|number| bytes_of_seed(seed << 32 | number, 600));
    let requests =
        bytes.map(|bytes| generate(catalog, &Invented, settings, &mut Choices::new(&bytes)).request_as(Layout::Line));
    let is_never = |request: &Request| {
        ["@include(if: false)", "@skip(if: true)"].iter().any(|never| request.query.contains(never))
    };
    requests.into_iter().find(|request| !is_never(request)).unwrap()
}

/// The code of an explanation's first error.
pub fn first_code(explanation: &Explanation) -> Option<ErrorCode> {
    explanation.errors.as_ref().map(|errors| errors.first().code)
}
