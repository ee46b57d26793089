//! Corrects queries by their errors. It knows the syntax of GraphQL and what is in `errors` of a response, and nothing of the schema:
//! each rule reads the facts of an error, never its message.
//!
//! - `tokens`: a query as tokens that can be edited
//! - `facts`: what an error says
//! - `document`: names, selections and fragments
//! - `values`: arguments, their values, and variables
//! - `pages`: page sizes, costs and depths
//! - `paging`: other pages of a request
//! - `search_string`: terms of search strings

mod document;
mod facts;
mod pages;
pub mod paging;
mod search_string;
pub mod tokens;
mod values;

use serde_json::Value;

use crate::correction::facts::PAGE_SIZE;
use crate::correction::tokens::Text;
use crate::query::Request;

/// The request after one look at its errors, which are those of a response. Errors that no rule knows change nothing.
pub fn corrected(request: &Request, errors: &[Value]) -> Request {
    let mut request = request.clone();
    // From the end of the text, so that the locations of the others stay what they are.
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(|error| {
        let number = |name: &str| error["locations"][0][name].as_u64().unwrap_or_default();
        let offset = error["extensions"]["offset"].as_u64().unwrap_or_default();
        std::cmp::Reverse((number("line"), number("column"), offset))
    });
    for error in errors {
        if let Some(query) = correct(&mut request, error) {
            request.query = query;
        }
    }
    request
}

/// The text after one error. `None` if it stays what it is.
fn correct(request: &mut Request, error: &Value) -> Option<String> {
    let text = Text::new(request.query.as_str());
    let extensions = &error["extensions"];
    let place = |index: usize| facts::place(&text, error, index);
    match extensions["code"].as_str()? {
        "GRAPHQL_PARSE_FAILED" => document::syntax(&text, place(0)?, extensions),
        "GRAPHQL_VALIDATION_FAILED" => document::validation(&text, place(0)?, place(1), extensions),
        "FIRST_REQUIRED" => Some(values::with_argument(&text, place(0)?, &format!("first: {PAGE_SIZE}"))),
        "FIRST_TOO_LARGE" => {
            let size = extensions["maxFirst"].as_u64()?.min(PAGE_SIZE);
            pages::set_size(request, &text, place(0)?, size)
        }
        "COST_EXCEEDED" => pages::cost(request, &text, &extensions["suggestions"][0]["edits"]),
        "DEPTH_EXCEEDED" => pages::depth(&text, error),
        "FIELD_NOT_FILTERABLE" | "OPERATOR_NOT_ALLOWED" | "MALFORMED_QUERY" => {
            search_string::correct(request, &text, place(0)?, extensions)
        }
        "BAD_USER_INPUT" => pages::input(request, &text, place(0), extensions),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const CODES: [&str; 9] = [
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "FIRST_REQUIRED",
        "FIRST_TOO_LARGE",
        "COST_EXCEEDED",
        "DEPTH_EXCEEDED",
        "FIELD_NOT_FILTERABLE",
        "OPERATOR_NOT_ALLOWED",
        "BAD_USER_INPUT",
    ];

    const FACTS: [&str; 16] = [
        "suggestions",
        "instead",
        "example",
        "allowed",
        "field",
        "fields",
        "variable",
        "argument",
        "found",
        "expectedType",
        "type",
        "maxFirst",
        "given",
        "requested",
        "nearest",
        "offset",
    ];

    fn facts() -> impl Strategy<Value = serde_json::Map<String, Value>> {
        let value = prop_oneof![
            (0_u64..40).prop_map(Value::from),
            "[a-e{}:$\"\u{e9}]{0,4}".prop_map(Value::from),
            proptest::collection::vec("[a-e{}]{0,3}", 0..3).prop_map(Value::from),
        ];
        proptest::collection::vec((proptest::sample::select(&FACTS[..]), value), 0..6)
            .prop_map(|facts| facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    proptest! {
        #[test]
        fn any_text_with_any_errors_does_no_harm(
            query in "[{}()\\[\\]:$\"a-e \n#.\u{e9}]{0,40}",
            places in proptest::collection::vec((0_u64..4, 0_u64..50), 0..3),
            code in proptest::sample::select(&CODES[..]),
            facts in facts(),
        ) {
            let mut facts = facts;
            facts.insert("code".into(), code.into());
            let locations: Vec<_> = places.iter().map(|(line, column)| json!({ "line": line, "column": column })).collect();
            let request = Request { query, ..Request::default() };
            corrected(&request, &[json!({ "locations": locations, "extensions": facts })]);
        }
    }
}
