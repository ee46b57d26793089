//! The parts of an error that no rule can keep: conditions, arguments and fields without an equivalent.

use serde::Serialize;
use serde_json::Value;

use crate::correction::facts::{place as place_of, texts};
use crate::correction::search_string::SearchString;
use crate::correction::tokens::QueryText;
use crate::query::Request;

/// A part of a request that has no equivalent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unkept {
    /// From 1.
    pub line: u64,
    /// In characters, from 1.
    pub column: u64,
    /// The part, as the request has it.
    pub text: String,
    /// Places in the schema that may have it: paths from a root, and searches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
}

/// The parts that errors are about, in the errors' order.
pub fn unkept(request: &Request, errors: &[Value]) -> Vec<Unkept> {
    let text = QueryText::new(request.query.as_str());
    let parts = |error: &Value| {
        let count = error["locations"].as_array().map_or(0, Vec::len);
        let elsewhere: Vec<_> = texts(&error["extensions"], "elsewhere").into_iter().map(str::to_owned).collect();
        let part = |index: usize| {
            let place = &error["locations"][index];
            let text = part(request, &text, place_of(&text, error, index)?, &error["extensions"])?;
            Some(Unkept {
                line: place["line"].as_u64()?,
                column: place["column"].as_u64()?,
                text,
                elsewhere: elsewhere.clone(),
            })
        };
        (0..count).filter_map(part).collect::<Vec<_>>()
    };
    errors.iter().flat_map(parts).collect()
}

/// The part that an error is about, at one of its places.
fn part(request: &Request, text: &QueryText, at: usize, facts: &Value) -> Option<String> {
    let fact = |name: &str| facts[name].as_str();
    let head = || text.slice(at, text.head_end(at)).to_owned();
    Some(match facts["code"].as_str()? {
        "FIELD_NOT_FILTERABLE" | "OPERATOR_NOT_ALLOWED" | "MALFORMED_QUERY" => {
            let offset = usize::try_from(facts["offset"].as_u64()?).ok()?;
            SearchString::of(request, text, at)?.term(offset)?.to_owned()
        }
        "DEPTH_EXCEEDED" => head(),
        "GRAPHQL_VALIDATION_FAILED" => match (fact("argument"), fact("found")) {
            (Some(argument), Some(_)) => format!("{argument}: {}", text.get(at)),
            (Some(argument), None) => {
                let lists = text.fields().into_iter().flat_map(|field| text.argument_list(field));
                let (name, end) = lists.into_iter().find(|(name, _)| *name >= at && text.get(*name) == argument)?;
                text.slice(name, end).to_owned()
            }
            (None, _) if fact("field").is_some() && fact("type").is_some() => head(),
            _ => return None,
        },
        _ => return None,
    })
}
