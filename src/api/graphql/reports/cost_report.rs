//! Reports on the cost of queries, which clients ask for by request headers. [`crate::cost`] documents the reports.

use std::time::Instant;

use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use crate::access::grants::{Artifact, Principal};
use crate::api::errors::access_error::AccessError;
use crate::api::errors::api_error::{ApiError, milliseconds};
use crate::api::errors::query_error::QueryError;
use crate::api::graphql::gates::compilation::Compilation;
use crate::api::graphql::gates::free_requests::{FreeWork, charge, pace};
use crate::api::graphql::request::persisted_queries::store;
use crate::api::graphql::request::query_request::QueryRequest;
use crate::api::negotiate::Media;
use crate::api::request_context::RequestContext;
use crate::compile::compiled::Compiled;
use crate::compile::explanation::Explanation;
use crate::error::code::ErrorCode;
use crate::execute::statement_report;
use crate::http::response::{HttpResponse, ResponseBody, json_response};
use crate::throttle::bucket::{InsufficientCredits, ThrottleStatus};
use crate::throttle::rate_limiter::DebitError;

/// Adds `extensions.cost.fields` to the response. Its value is `true`.
pub(crate) const INCLUDE_FIELDS: HeaderName = HeaderName::from_static("x-graphql-cost-include-fields");

/// Adds `extensions.plan` to the response. Its value is `true`.
pub(crate) const INCLUDE_PLAN: HeaderName = HeaderName::from_static("x-graphql-include-plan");

/// Replaces the data by a report. Its value is `validate`, `plan` or `analyze`.
pub(crate) const COST: HeaderName = HeaderName::from_static("graphql-cost");

/// The kind of report in place of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    Price,
    /// The price, and how the query would be executed.
    Plan,
}

/// `GraphQL-Cost` cannot be heeded. Ignoring a misspelled `validate`, or a second value, would debit the query.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CostHeaderError {
    /// It has an unknown value.
    #[error(
        "the header GraphQL-Cost takes `validate`, which asks for the query's price and runs nothing, `plan`, which asks for its \
         statement too, or `analyze`, which runs the query and says what that took; leave it out to get the data"
    )]
    Value,
    /// There are several.
    #[error("a request has one GraphQL-Cost at most")]
    Several,
}

impl From<CostHeaderError> for ApiError {
    fn from(error: CostHeaderError) -> Self {
        Self::new(ErrorCode::BadUserInput, &error)
    }
}

/// The report that the client asks for in place of the data, without running the query.
pub(crate) fn requested(headers: &HeaderMap) -> Result<Option<Report>, CostHeaderError> {
    let mut values = headers.get_all(COST).into_iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(CostHeaderError::Several);
    }
    match value {
        None => Ok(None),
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"validate") => Ok(Some(Report::Price)),
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"plan") => Ok(Some(Report::Plan)),
        Some(_) if wants_analysis(headers) => Ok(None),
        Some(_) => Err(CostHeaderError::Value),
    }
}

/// Whether the client asks what running the query takes, in place of its data.
pub(crate) fn wants_analysis(headers: &HeaderMap) -> bool {
    headers.get(COST).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"analyze"))
}

/// The cost of every field, if the client asks for it beside the data.
pub(crate) async fn field_costs(
    QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
    headers: &HeaderMap,
) -> Result<Option<Value>, ApiError> {
    if !headers.get(INCLUDE_FIELDS).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true")) {
        return Ok(None);
    }
    let compilation = Compilation { service: &context.service, caller, view };
    // Boxed, so that the futures of other requests stay small.
    let explanation = Box::pin(compilation.explain(&mut query.request)).await?;
    Ok(Some(json!(explanation.fields())))
}

/// Whether the client asks for the plan of its query, or for an analysis. Fails if the caller may not see plans.
pub(crate) fn includes_plan(caller: &Principal, headers: &HeaderMap, compiled: &Compiled) -> Result<bool, AccessError> {
    let is_included = headers.get(INCLUDE_PLAN).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"));
    let is_wanted = is_included || wants_analysis(headers);
    if is_wanted {
        require_plan_grant(caller)?;
        if !compiled.plan.limited_by().is_empty() && wants_analysis(headers) {
            return Err(AccessError::AnalysisOfOthersRows);
        }
    }
    Ok(is_wanted)
}

/// Fails if the caller may not see plans. Statements have the names of tables and columns, which the schema does not publish.
fn require_plan_grant(caller: &Principal) -> Result<(), AccessError> {
    if caller.may(Artifact::Plan) { Ok(()) } else { Err(AccessError::NotGranted { path: Artifact::Plan.path() }) }
}

/// Responds with the report. Nothing is debited or executed.
pub(crate) async fn respond(
    QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
    wanted: Report,
    media: Media,
) -> Result<HttpResponse, ApiError> {
    let RequestContext { service, entry, .. } = &mut **context;
    if wanted == Report::Plan {
        require_plan_grant(caller)?;
    }
    pace(&service.report_pace, caller, FreeWork::default())
        .await
        .map_err(|retry_after| QueryError::TooManyReports { retry_after })?;
    let started = Instant::now();
    let explanation = Compilation { service, caller, view }.explain(&mut query.request).await?;
    store(&service.persisted_queries, &caller.user_id, query);
    entry.set_operation(explanation.operation_name.as_deref());
    let cost = explanation.estimate.cost();
    let forecast = match service.admission.forecast(&caller.user_id, &caller.limits.rate(), cost).await {
        Ok(status) => Ok(status),
        Err(DebitError::Insufficient(insufficient)) => Err(insufficient),
        Err(error @ DebitError::Unavailable(_)) => return Err(error.into()),
    };
    let response = json_response(StatusCode::OK, media.content_type(), &report(explanation, wanted, &forecast));
    let bytes = if let ResponseBody::Whole(body) = response.body() { body.len() as u64 } else { 0 };
    charge(&service.report_pace, caller, FreeWork { bytes, time: started.elapsed() });
    Ok(response)
}

/// The report. `forecast` is what a debit would return.
fn report(explanation: Explanation, wanted: Report, forecast: &Result<ThrottleStatus, InsufficientCredits>) -> Value {
    let (requested, limits) = (explanation.estimate.cost(), explanation.limits);
    let (bucket, wait) = match forecast {
        Ok(status) => (status, Some(0)),
        Err(insufficient) => (&insufficient.status, insufficient.retry_after.map(milliseconds)),
    };
    let gates = explanation.check.gates().iter().chain([&explanation.response_size]);
    let gates = gates.map(|gate| (gate.gate.name().to_owned(), json!({ "passed": gate.is_passed() })));
    let bucket_gate = ("bucket".to_owned(), json!({ "passed": forecast.is_ok(), "retryAfterMs": wait }));
    let gates: Map<String, Value> = gates.chain([bucket_gate]).collect();
    let cost = json!({
        "requestedQueryCost": requested,
        "maxCost": limits.highest_cost(),
        "depth": explanation.depth,
        "maxDepth": limits.max_depth,
        "branches": explanation.plan.steps().len(),
        "responseBytes": explanation.response_size.measured,
        "maxResponseBytes": explanation.response_size.limit,
        "admitted": explanation.errors.is_none(),
        "gates": gates,
        "fields": explanation.fields(),
        "throttleStatus": bucket,
    });
    let mut extensions = Map::from_iter([("cost".to_owned(), cost)]);
    if wanted == Report::Plan {
        extensions.insert("plan".to_owned(), statement_report::report(&explanation.plan, None));
    }
    let mut body = Map::from_iter([("data".to_owned(), Value::Null)]);
    if let Some(errors) = explanation.errors {
        body.insert("errors".to_owned(), json!(errors));
    }
    body.insert("extensions".to_owned(), Value::Object(extensions));
    Value::Object(body)
}
