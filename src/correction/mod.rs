//! Corrects queries by their errors. It uses the syntax of GraphQL and the `errors` of a response, and not the schema: each rule reads the
//! facts of an error, never its message.
//!
//! A corrected query never asks for other rows: conditions, orders and roots stay, or the error stays. Fields without an equivalent are
//! left out, and `changes` lists every difference.
//!
//! - `attempt`: corrections one after the other
//! - `tokens`: a query as tokens that can be edited
//! - `facts`: what an error says
//! - `document`: names, selections and fragments
//! - `values`: arguments, their values, and variables
//! - `pages`: page sizes, costs and depths
//! - `paging`: other pages of a request
//! - `search_string`: terms of search strings
//! - `changes`: what a correction changed
//! - `unkept`: what an error is about that no rule can keep

pub mod attempt;
pub mod changes;
mod document;
mod facts;
mod pages;
pub mod paging;
mod search_string;
pub mod tokens;
pub mod unkept;
mod values;

use serde_json::Value;

use crate::correction::facts::{LEFT_OUT, PAGE_SIZE};
use crate::correction::pages::OF_PAGES;
use crate::correction::tokens::QueryText;
use crate::correction::unkept::{Unkept, unkept};
use crate::query::Request;

/// A request after one look at its errors.
#[derive(Debug, Clone, Default)]
pub struct Corrected {
    /// The corrected request.
    pub request: Request,
    /// The fields that it has no longer, since the schema has none like them.
    pub left_out: Vec<Unkept>,
}

/// The request after one look at the errors of a response. Errors without a rule change nothing.
pub fn corrected(request: &Request, errors: &[Value]) -> Corrected {
    let mut corrected = Corrected { request: request.clone(), left_out: Vec::new() };
    // From the end of the text, so that the locations of the others stay what they are.
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(|error| {
        let number = |name: &str| error["locations"][0][name].as_u64().unwrap_or_default();
        let offset = error["extensions"]["offset"].as_u64().unwrap_or_default();
        std::cmp::Reverse((number("line"), number("column"), offset))
    });
    for error in errors {
        let request = &mut corrected.request;
        let before = request.query.matches(LEFT_OUT).count();
        if let Some(query) = correct(request, error) {
            if query.matches(LEFT_OUT).count() > before {
                corrected.left_out.extend(unkept(request, std::slice::from_ref(error)));
            }
            corrected.request.query = query;
        }
    }
    corrected.left_out.reverse();
    corrected
}

/// The text after one error. `None` if it stays what it is.
fn correct(request: &mut Request, error: &Value) -> Option<String> {
    let text = QueryText::new(request.query.as_str());
    let extensions = &error["extensions"];
    let place = |index: usize| facts::place(&text, error, index);
    match extensions["code"].as_str()? {
        "GRAPHQL_PARSE_FAILED" => document::syntax(&text, place(0)?, extensions),
        "GRAPHQL_VALIDATION_FAILED" => document::validation(&text, place(0)?, place(1), extensions),
        "FIRST_REQUIRED" => Some(values::with_argument(&text, place(0)?, &format!("first: {PAGE_SIZE}"))),
        "FIRST_TOO_LARGE" => pages::set_size(request, &text, place(0)?, OF_PAGES, extensions["maxFirst"].as_u64()?),
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
