//! The verdict of `apollo-compiler` on documents. Where it differs by design, this file decides who is right, and
//! `docs/develop/fuzzing.md` lists it.

use std::sync::OnceLock;

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use orderql::error::graphql_error::{GraphqlError, GraphqlErrors};

use crate::support::catalogs::catalogs;

/// What orderql limits and the GraphQL specification does not: the names of the limits in the errors' extensions.
const LIMITS: [&str; 9] = [
    "maxRootFields",
    "maxLists",
    "maxDirectives",
    "maxFields",
    "maxWork",
    "maxLevels",
    "maxSelections",
    "maxConditions",
    "maxLength",
];

/// Compares orderql's verdict on a document of one of the catalogs with Apollo's.
pub fn check(catalog: usize, text: &str, errors: Option<&GraphqlErrors>) {
    if errors.is_some_and(|errors| errors.iter().any(is_limit)) {
        return;
    }
    match (errors, ExecutableDocument::parse_and_validate(&schemas()[catalog], text, "document.graphql")) {
        (None, Ok(_)) | (Some(_), Err(_)) => {}
        (Some(errors), Ok(_)) => {
            let is_known = errors.iter().all(|error| is_stricter(error, text));
            assert!(is_known, "only orderql refuses: {errors}\n{text}");
        }
        (None, Err(theirs)) => {
            // It then reports what depends on the field, too.
            let is_known = theirs.errors.iter().any(|error| is_newer(&error.error.to_string()));
            assert!(is_known, "only Apollo refuses: {}\n{text}", theirs.errors);
        }
    }
}

fn schemas() -> &'static [Valid<Schema>] {
    static SCHEMAS: OnceLock<Vec<Valid<Schema>>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let schema = |sdl: &str| {
            Schema::parse_and_validate(sdl, "schema.graphql").unwrap_or_else(|errors| panic!("{}", errors.errors))
        };
        catalogs().iter().map(|catalog| schema(catalog.sdl())).collect()
    })
}

fn is_limit(error: &GraphqlError) -> bool {
    let message = &error.message;
    LIMITS.iter().any(|limit| error.extensions.contains_key(*limit))
        || message.contains("tokens")
        || message.contains("brackets are open at once")
}

/// What Apollo accepts and should not, or leaves to others.
fn is_stricter(error: &GraphqlError, text: &str) -> bool {
    let message = &error.message;
    // The literals of custom scalars, which the specification leaves to their implementation: Apollo takes any.
    let is_custom = message.contains("is of type \"Decimal") || message.contains("is of type \"DateTime");
    // A default of null does not make a nullable variable fit where null is not allowed (section 5.8.5): Apollo asks only
    // whether there is a default.
    let is_null_default = message.contains("is used where") && text.contains("= null");
    is_custom || is_null_default
}

/// What orderql's introspection has, and Apollo's does not have yet.
fn is_newer(message: &str) -> bool {
    message.contains("isOneOf")
        || message.contains("`includeDeprecated` is not supported by `__Schema.directives`")
        || ["isDeprecated", "deprecationReason"]
            .iter()
            .any(|name| message.contains(&format!("`__Directive` does not have a field `{name}`")))
}
