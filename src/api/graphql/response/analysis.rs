//! The time, rows and buffers of a query in PostgreSQL, in place of its data. The query is paid for and run as any other, by
//! `EXPLAIN (ANALYZE)`.

use std::pin::pin;
use std::sync::Arc;

use serde_json::json;

use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::graphql::gates::prepared_query::AdmittedQuery;
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::graphql::response::execution::{connect_own, finish, second_route};
use crate::api::request_context::RequestContext;
use crate::execute::error::ExecuteError;
use crate::execute::plan_analysis::{PlanAnalysis, analyze};
use crate::execute::statement_report::report;
use crate::http::response::ResponseBody;
use crate::plan::request_plan::Plan;
use crate::replicas::read_servers::{LeasedConnection, ReadRoute};

/// The body of a response that has the query's plan and what it took.
pub(crate) async fn respond(
    QueryRequest { context, caller, .. }: &mut QueryRequest<'_>,
    AdmittedQuery { prepared, paid, route }: &AdmittedQuery,
) -> Result<ResponseBody, ApiError> {
    let RequestContext { service, entry, .. } = &mut **context;
    let (plan, timeline, debit) = (&prepared.compiled.plan, &mut entry.timeline, paid.debit);
    let requester = Requester { service, caller, request_id: &entry.id };
    let log = Arc::clone(&timeline.statement);
    let running = pin!(async {
        let result = attempt(requester, plan, route, timeline).await;
        match second_route(service, route, plan, &result) {
            Some(route) => attempt(requester, plan, &route, timeline).await,
            None => result,
        }
    });
    let analysis = finish(requester, *paid, Some(&log), running).await?;
    let body = json!({
        "data": null,
        "extensions": {
            "cost": { "requestedQueryCost": debit.cost, "throttleStatus": debit.bucket },
            "plan": report(plan, Some(&analysis)),
        },
    });
    Ok(ResponseBody::Whole(body.to_string().into()))
}

async fn attempt(
    requester: Requester<'_>,
    plan: &Plan,
    route: &ReadRoute,
    timeline: &mut Timeline,
) -> Result<PlanAnalysis, ExecuteError> {
    if !plan.needs_database() {
        return Ok(PlanAnalysis::default());
    }
    let LeasedConnection { connection, held } = connect_own(requester, route, timeline).await?;
    let log = Arc::clone(&timeline.statement);
    tokio::select! {
        biased;
        analysis = analyze(connection, plan, &log) => analysis,
        error = held.server.lost() => Err(error.into()),
    }
}
