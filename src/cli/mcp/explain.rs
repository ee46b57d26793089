//! Explains an error, and corrects the query that has it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::reply::{Reply, ToolRefusal};
use crate::cli::query::response::Ordered;
use crate::correction::attempt::CorrectionAttempt;
use crate::error::code::ErrorCode;
use crate::outline::Outline;
use crate::query::{Request, Variables};

/// The bytes of the part of the schema that an error is about.
const SDL_BYTES: usize = 1024;

/// The refusals of this program that another query helps with.
const OWN_CODES: [(&str, &str); 2] = [
    ("ABOVE_MAX_COST", "the query costs more than maxCost: run the one in `fits`, or give a higher maxCost"),
    ("ABOVE_MAX_BYTES", "the data has more bytes than maxBytes: run the query in `fits`, or give a higher maxBytes"),
];

/// Facts of an error that name a type, or a field.
const TYPES: [&str; 2] = ["type", "expectedType"];

/// What is to be explained.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainArguments {
    error: Value,
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    variables: Option<Variables>,
}

/// Explains the error. The errors of the query are asked for anew, because agents shorten what they pass on. Where no query asks for
/// the same, none is offered: `dropped` has what cannot be kept, and where else the schema may have it.
pub(super) async fn explain(
    backend: &ToolBackend,
    caller: &Authorization,
    explained: ExplainArguments,
) -> Result<Reply, ToolRefusal> {
    let ExplainArguments { error, query, variables } = explained;
    let schema = backend.schema(caller).await?;
    let mut errors = listed(error);
    let mut correction = Vec::new();
    if let Some(query) = query {
        let request = Request { query, variables: variables.unwrap_or_default(), operation_name: None };
        let mut attempt = CorrectionAttempt::new(request);
        let mut priced = price(backend, caller, attempt.request()).await?;
        if let Err(reported) = &priced {
            errors.clone_from(reported);
        }
        while let Err(left) = &priced
            && attempt.correct(left)
        {
            priced = price(backend, caller, attempt.request()).await?;
        }
        let dropped = attempt.unkept(priced.as_ref().err().map_or(&[], Vec::as_slice));
        correction.push(match priced {
            Ok(cost) => {
                let Request { query, variables, .. } = attempt.request();
                (
                    "corrected",
                    json!({ "query": query, "variables": variables, "cost": cost, "changes": attempt.changes() }),
                )
            }
            Err(left) => ("notCorrected", left.into()),
        });
        correction.extend((!dropped.is_empty()).then(|| ("dropped", json!(dropped))));
    }
    let code = errors.first().and_then(|error| error["extensions"]["code"].as_str()).unwrap_or_default();
    let mut codes = ErrorCode::ALL.into_iter().map(|known| (known.as_str(), known.meaning())).chain(OWN_CODES);
    let known = codes.find(|(known, _)| *known == code);
    let mut members = vec![("code", known.map_or(Value::Null, |(code, _)| code.into()))];
    members.extend(known.map(|(_, meaning)| ("meaning", meaning.into())));
    members.push(("sdl", sdl(&schema, &errors).into()));
    members.extend(correction);
    Ok(Reply::new(members.into_iter().map(|(name, value)| (name, Ordered::Scalar(value))).collect()))
}

/// The errors of what an agent passes on: one, a list, or an object or a text with them.
fn listed(error: Value) -> Vec<Value> {
    match error {
        Value::Array(errors) => errors,
        Value::String(text) => {
            serde_json::from_str(&text).ok().filter(|value: &Value| !value.is_string()).map_or_else(Vec::new, listed)
        }
        Value::Object(mut object) => match object.remove("errors") {
            Some(errors @ Value::Array(_)) => listed(errors),
            _ => vec![Value::Object(object)],
        },
        _ => Vec::new(),
    }
}

/// The cost of a query, or its errors.
async fn price(
    backend: &ToolBackend,
    caller: &Authorization,
    request: &Request,
) -> Result<Result<Value, Vec<Value>>, ToolRefusal> {
    let report = backend.price(caller, request).await?.to_value();
    Ok(match report.get("errors") {
        Some(Value::Array(errors)) => Err(errors.clone()),
        _ => Ok(report["extensions"]["cost"]["requestedQueryCost"].clone()),
    })
}

/// The part of the schema that the errors are about.
fn sdl(schema: &Outline, errors: &[Value]) -> String {
    let mut sdl = String::new();
    let mut shown = Vec::new();
    for error in errors {
        let facts = &error["extensions"];
        let text = |name: &str| facts[name].as_str();
        let named = TYPES.iter().filter_map(|name| text(name)).map(|ty| ty.trim_matches(['[', ']', '!']));
        let types = named.filter(|ty| schema.get(ty).is_some()).map(str::to_owned);
        let owner = text("field").and_then(|field| schema.type_with_field(field)).map(str::to_owned);
        let suggested = facts["suggestions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let first: Vec<_> = text("field").into_iter().chain(suggested).collect();
        let mut types: Vec<_> = types.collect();
        if types.is_empty() {
            types.extend(owner);
        }
        for ty in types {
            let room = SDL_BYTES.saturating_sub(sdl.len());
            if !shown.contains(&ty)
                && let Some(definition) = schema.short_type(&ty, &first, room)
            {
                sdl.push_str(&definition);
            }
            shown.push(ty);
        }
    }
    sdl
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn errors_are_found_however_they_are_passed_on() {
        let error = json!({ "message": "m", "extensions": { "code": "FIRST_REQUIRED" } });
        let list = json!([error]);
        for passed in
            [error.clone(), list.clone(), json!({ "errors": list }), json!(list.to_string()), json!(error.to_string())]
        {
            assert_eq!(listed(passed), std::slice::from_ref(&error));
        }
        assert!(
            listed(json!("no JSON")).is_empty()
                && listed(json!("\"\\\"x\\\"\"")).is_empty()
                && listed(json!(7)).is_empty()
        );
    }

    #[test]
    fn the_part_of_the_schema_is_small_and_has_what_the_error_names() {
        let schema = Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap();
        let of = |facts: Value| sdl(&schema, &[json!({ "extensions": facts })]);
        assert!(of(json!({ "type": "OrderNote", "field": "note" })).contains("noteInfo: String"));
        assert!(of(json!({ "field": "shipments", "maxFirst": 100 })).contains("\nshipments(sortKey: ShipmentSortKey)"));
        assert!(of(json!({ "expectedType": "OrderSortKey", "found": "x" })).starts_with("enum OrderSortKey {"));
        assert_eq!(of(json!({ "expectedType": "Int" })), "");
        let many: Vec<_> = schema.roots().iter().map(|root| json!({ "extensions": { "field": root.name } })).collect();
        assert!(sdl(&schema, &many).len() <= SDL_BYTES);
    }
}
