//! What clients can learn about the cost of their queries, by two request headers. [`crate::cost`] documents the reports.

use hyper::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use crate::access::grants::Principal;
use crate::compile::explanation::Explanation;
use crate::error::code::ErrorCode;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::{ApiError, milliseconds};
use crate::http::endpoint::graphql::compilation;
use crate::http::endpoint::graphql::persisted_queries::{ResolvedQuery, store};
use crate::http::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};
use crate::http::service::Service;
use crate::query::Request;
use crate::throttle::bucket::{InsufficientCredits, ThrottleStatus};
use crate::throttle::rate_limiter::DebitError;

/// Adds `extensions.cost.fields` to the response. Its value is `true`.
const INCLUDE_FIELDS: &str = "x-graphql-cost-include-fields";

/// Replaces the response by a cost report. Its value is `validate`.
const COST: &str = "graphql-cost";

/// `GraphQL-Cost` has an unknown value. Ignoring a misspelled `validate` would debit the query.
#[derive(Debug, thiserror::Error)]
#[error(
    "the header GraphQL-Cost takes `validate`, which asks for the query's price and runs nothing; leave it out to run the \
     query"
)]
pub(crate) struct CostHeaderError;

impl From<CostHeaderError> for ApiError {
    fn from(error: CostHeaderError) -> Self {
        Self::new(ErrorCode::BadUserInput, &error)
    }
}

/// Whether the client asks for a cost report in place of the data.
pub(crate) fn is_requested(headers: &HeaderMap) -> Result<bool, CostHeaderError> {
    match headers.get(COST) {
        None => Ok(false),
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"validate") => Ok(true),
        Some(_) => Err(CostHeaderError),
    }
}

/// The cost of every field, if the client asks for it beside the data.
pub(crate) async fn field_costs(
    service: &Service,
    caller: &Principal,
    request: &mut Request,
    headers: &HeaderMap,
) -> Result<Option<Value>, ApiError> {
    if !headers.get(INCLUDE_FIELDS).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true")) {
        return Ok(None);
    }
    let explanation = compilation::explain(service, caller, request).await?;
    Ok(Some(json!(explanation.fields())))
}

/// Responds with the cost report. Nothing is debited or executed.
pub(crate) async fn respond(
    service: &Service,
    caller: &Principal,
    query: &mut ResolvedQuery,
    media: Media,
    entry: &mut AccessLogEntry,
) -> Result<HttpResponse, ApiError> {
    let explanation = compilation::explain(service, caller, &mut query.request).await?;
    store(&service.persisted_queries, &caller.user_id, query);
    entry.set_operation(explanation.operation_name.as_deref());
    let cost = explanation.estimate.cost();
    let forecast = match service.admission.forecast(&caller.user_id, &caller.limits.rate(), cost).await {
        Ok(status) => Ok(status),
        Err(DebitError::Insufficient(insufficient)) => Err(insufficient),
        Err(error @ DebitError::Unavailable(_)) => return Err(error.into()),
    };
    Ok(json_response(StatusCode::OK, media, &report(explanation, &forecast)))
}

/// The report. `forecast` is what a debit would return.
fn report(explanation: Explanation, forecast: &Result<ThrottleStatus, InsufficientCredits>) -> Value {
    let (requested, limits) = (explanation.estimate.cost(), explanation.limits);
    let (bucket, wait) = match forecast {
        Ok(status) => (status, Some(0)),
        Err(insufficient) => (&insufficient.status, insufficient.retry_after.map(milliseconds)),
    };
    let gates = explanation.admission.gates().iter();
    let gates = gates.map(|gate| (gate.gate.name().to_owned(), json!({ "passed": gate.is_passed() })));
    let bucket_gate = ("bucket".to_owned(), json!({ "passed": forecast.is_ok(), "retryAfterMs": wait }));
    let gates: Map<String, Value> = gates.chain([bucket_gate]).collect();
    let cost = json!({
        "requestedQueryCost": requested,
        "maxCost": limits.highest_cost(),
        "depth": explanation.depth,
        "maxDepth": limits.max_depth,
        "statements": explanation.plan.steps().len(),
        "admitted": explanation.admission.is_admitted(),
        "gates": gates,
        "fields": explanation.fields(),
        "throttleStatus": bucket,
    });
    let mut body = Map::from_iter([("data".to_owned(), Value::Null)]);
    if let Some(errors) = explanation.errors {
        body.insert("errors".to_owned(), json!(errors));
    }
    body.insert("extensions".to_owned(), json!({ "cost": cost }));
    Value::Object(body)
}
