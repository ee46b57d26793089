//! Runs an admitted query within its caller's deadline, in turn with those of other callers, and refunds it if the database is
//! unavailable.

use std::pin::{Pin, pin};

use serde_json::Value;
use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::compile::compiled::Compiled;
use crate::database::error::DatabaseError;
use crate::execute::error::ExecuteError;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::step_log::StepLog;
use crate::execute::{constant, execute};
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::query_error::QueryError;
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::timeline::{Stage, Timeline};
use crate::replicas::read_servers::{Reading, Route};
use crate::throttle::rate_limiter::Debit;

/// A query that is paid for.
#[derive(Debug)]
pub(crate) struct AdmittedQuery {
    pub compiled: Compiled,
    /// The cost of every field, if the client asked for it.
    pub field_costs: Option<Value>,
    /// The names of its steps, if the client asked how they are executed.
    pub step_names: Option<Vec<String>>,
    pub debit: Debit,
    /// Where it is read.
    pub route: Route,
    /// Its deadline.
    pub until: Instant,
}

/// The rows of a query, if they are there before its deadline.
pub(crate) async fn fetch(
    service: &Service,
    caller: &Principal,
    query: &AdmittedQuery,
    entry: &mut AccessLogEntry,
) -> Result<ResponseWriter, ApiError> {
    let (compiled, timeline) = (&query.compiled, &mut entry.timeline);
    let running = pin!(async {
        let result = attempt(service, caller, compiled, &query.route, timeline).await;
        match second_route(service, &query.route, &result) {
            Some(route) => attempt(service, caller, compiled, &route, timeline).await,
            None => result,
        }
    });
    settle(service, caller, query.debit, query.until, &entry.id, running).await
}

/// The rows of a query that is running, or a part of its response, if they are there `until` its deadline. The query is refunded
/// if it is not to blame. What runs is pinned by the caller, since time-outs move what they are given.
pub(crate) async fn settle<T>(
    service: &Service,
    caller: &Principal,
    debit: Debit,
    until: Instant,
    request_id: &str,
    running: Pin<&mut impl Future<Output = Result<T, ExecuteError>>>,
) -> Result<T, ApiError> {
    let Debit { cost, bucket, .. } = debit;
    // Dropping the future cancels its statements: here at the deadline, or further up where the client disconnects.
    match time::timeout_at(until, running).await {
        Ok(Ok(rows)) => Ok(rows),
        Ok(Err(ExecuteError::Database(DatabaseError::Cancelled(_)))) => {
            Err(QueryError::Cancelled { cost, bucket }.into())
        }
        Ok(Err(ExecuteError::Database(error))) if error.is_temporary() => {
            service.admission.refund(&caller.user_id, debit).await;
            Err(ServiceError::Unavailable(error.into()).into())
        }
        Ok(Err(error)) => Err(ServiceError::internal(request_id, error).into()),
        // The query is not to blame if the database answers nobody.
        Err(_) if !service.database_answers() => {
            service.admission.refund(&caller.user_id, debit).await;
            Err(ServiceError::Unavailable("the database does not answer".into()).into())
        }
        Err(_) => {
            let deadline = caller.limits.deadline;
            Err(QueryError::DeadlineExceeded { deadline, cost, bucket }.into())
        }
    }
}

/// Where a query of which nothing was sent is read once more, if that may help. It is not paid for again.
pub(crate) fn second_route<T>(service: &Service, route: &Route, result: &Result<T, ExecuteError>) -> Option<Route> {
    match result {
        Err(ExecuteError::Database(error)) => service.servers.after_error(route, error),
        Ok(_) | Err(ExecuteError::UnwritableType(_) | ExecuteError::Misshapen) => None,
    }
}

async fn attempt(
    service: &Service,
    caller: &Principal,
    compiled: &Compiled,
    route: &Route,
    timeline: &mut Timeline,
) -> Result<ResponseWriter, ExecuteError> {
    if !compiled.plan.needs_database() {
        return Ok(constant(&compiled.plan));
    }
    timeline.steps = StepLog::new(compiled.plan.steps().len()).into();
    let Reading { snapshot, held } = connection(service, caller, route, timeline).await?;
    let rows = tokio::select! {
        biased;
        rows = execute(snapshot, &compiled.plan, &timeline.steps) => rows?,
        error = held.server.lost() => return Err(error.into()),
    };
    service.servers.record_read(&caller.user_id, &held.server);
    Ok(rows)
}

/// A connection to a server of the route, in turn with other callers.
pub(crate) async fn connection(
    service: &Service,
    caller: &Principal,
    route: &Route,
    timeline: &mut Timeline,
) -> Result<Reading, DatabaseError> {
    let started = std::time::Instant::now();
    let taken = service.servers.connect(route, &caller.user_id).await;
    timeline.connection = Some(Stage::since(started));
    taken
}
