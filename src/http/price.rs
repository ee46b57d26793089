//! What a client may ask about the price of its query, by two request headers; [`crate::cost`] documents the answers.

use hyper::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use crate::compile::explanation::Explanation;
use crate::http::api_error::milliseconds;
use crate::http::negotiate::Media;
use crate::http::request_error::RequestError;
use crate::http::response::{Answer, with_json};
use crate::throttle::bucket::{Empty, Status};

/// Asks for `extensions.cost.fields` beside the answer; its value is `true`.
const INCLUDE_FIELDS: &str = "x-graphql-cost-include-fields";

/// Asks for the price instead of the answer; its value is `validate`.
const COST: &str = "graphql-cost";

/// Whether the price of every field is asked for beside the answer.
pub fn includes_fields(headers: &HeaderMap) -> bool {
    headers.get(INCLUDE_FIELDS).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"))
}

/// Whether the price is asked for instead of the answer. Another value is refused: who misspells it would be debited.
pub fn is_all(headers: &HeaderMap) -> Result<bool, RequestError> {
    match headers.get(COST) {
        None => Ok(false),
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"validate") => Ok(true),
        Some(_) => Err(RequestError::NotAGraphqlRequest(
            "the header GraphQL-Cost takes `validate`, which asks for the query's price and runs nothing; leave it out \
             to run the query"
                .to_owned(),
        )),
    }
}

/// The price as an answer. `forecast` is what the bucket would say.
pub fn answer(explanation: Explanation, forecast: &Result<Status, Empty>, media: Media) -> Answer {
    let (requested, limits) = (explanation.estimate.cost(), explanation.limits);
    let (status, wait) = match forecast {
        Ok(status) => (status, Some(0)),
        Err(empty) => (&empty.status, empty.retry_after.map(milliseconds)),
    };
    let gates = explanation.admission.gates().iter();
    let gates = gates.map(|gate| (gate.gate.name().to_owned(), json!({ "passed": gate.is_passed() })));
    let bucket = ("bucket".to_owned(), json!({ "passed": forecast.is_ok(), "retryAfterMs": wait }));
    let gates: Map<String, Value> = gates.chain([bucket]).collect();
    let cost = json!({
        "requestedQueryCost": requested,
        "maxCost": limits.max_cost,
        "depth": explanation.depth,
        "maxDepth": limits.max_depth,
        "statements": explanation.plan.steps().len(),
        "admitted": explanation.admission.is_admitted(),
        "gates": gates,
        "fields": explanation.fields(),
        "throttleStatus": status,
    });
    let mut body = Map::from_iter([("data".to_owned(), Value::Null)]);
    if let Some(errors) = explanation.errors {
        body.insert("errors".to_owned(), json!(errors));
    }
    body.insert("extensions".to_owned(), json!({ "cost": cost }));
    with_json(StatusCode::OK, media, &Value::Object(body))
}
