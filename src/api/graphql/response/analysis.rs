//! The time, rows and buffers of a query in PostgreSQL, in place of its data. The query is paid for and run as any other, by
//! `EXPLAIN (ANALYZE)`.

use std::pin::pin;
use std::sync::Arc;

use serde_json::json;

use crate::access::grants::Principal;
use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::graphql::response::execution::{AdmittedQuery, Requester, connect_own, second_route, settle};
use crate::api::request_context::RequestContext;
use crate::execute::error::ExecuteError;
use crate::execute::plan_analysis::{PlanAnalysis, analyze};
use crate::execute::statement_report::report;
use crate::http::response::ResponseBody;
use crate::plan::request_plan::Plan;
use crate::replicas::read_servers::{LeasedConnection, ReadRoute};

/// The body of a response that has the query's plan and what it took.
pub(crate) async fn respond(
    context: &mut RequestContext,
    caller: &Principal,
    query: &AdmittedQuery,
) -> Result<ResponseBody, ApiError> {
    let RequestContext { service, entry, .. } = context;
    let (plan, timeline, debit) = (&query.compiled.plan, &mut entry.timeline, query.debit);
    let requester = Requester { service, caller, request_id: &entry.id };
    let log = Arc::clone(&timeline.statement);
    let running = pin!(async {
        let result = attempt(requester, plan, &query.route, timeline).await;
        match second_route(service, &query.route, plan, &result) {
            Some(route) => attempt(requester, plan, &route, timeline).await,
            None => result,
        }
    });
    let analysis = settle(requester, query.paid(), Some(&log), running).await?;
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
