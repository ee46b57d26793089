//! Runs an admitted query within its caller's deadline, in turn with those of other callers, and refunds it if the database is
//! unavailable.

use serde_json::Value;
use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::compile::compiled::Compiled;
use crate::database::error::DatabaseError;
use crate::database::metrics::{PoolName, waited};
use crate::database::snapshot::Snapshot;
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
use crate::throttle::bucket::ThrottleStatus;
use crate::throttle::fair_semaphore::FairPermit;

/// What was debited for a query, and the bucket after that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Debit {
    pub cost: u64,
    pub bucket: ThrottleStatus,
}

/// A query that is paid for.
#[derive(Debug)]
pub(crate) struct AdmittedQuery {
    pub compiled: Compiled,
    /// The cost of every field, if the client asked for it.
    pub field_costs: Option<Value>,
    pub debit: Debit,
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
    let running = async {
        let result = attempt(service, caller, compiled, timeline).await;
        if is_conflict(&result) { attempt(service, caller, compiled, timeline).await } else { result }
    };
    settle(service, caller, query.debit, query.until, &entry.id, running).await
}

/// The rows of a query that is running, or a part of its response, if they are there `until` its deadline. The query is refunded if it is not to blame.
pub(crate) async fn settle<T>(
    service: &Service,
    caller: &Principal,
    Debit { cost, bucket }: Debit,
    until: Instant,
    request_id: &str,
    running: impl Future<Output = Result<T, ExecuteError>>,
) -> Result<T, ApiError> {
    // Dropping the future cancels its statements: here at the deadline, or further up where the client disconnects.
    match time::timeout_at(until, running).await {
        Ok(Ok(rows)) => Ok(rows),
        Ok(Err(ExecuteError::Database(DatabaseError::Cancelled(_)))) => {
            Err(QueryError::Cancelled { cost, bucket }.into())
        }
        Ok(Err(ExecuteError::Database(error))) if error.is_temporary() => {
            service.admission.refund(&caller.user_id, cost).await;
            Err(ServiceError::Unavailable(error.into()).into())
        }
        Ok(Err(error)) => Err(ServiceError::internal(request_id, error).into()),
        // The query is not to blame if the database answers nobody.
        Err(_) if !service.grants.is_connected() => {
            service.admission.refund(&caller.user_id, cost).await;
            Err(ServiceError::Unavailable("the database does not answer".into()).into())
        }
        Err(_) => {
            let deadline = caller.limits.deadline;
            Err(QueryError::DeadlineExceeded { deadline, cost, bucket }.into())
        }
    }
}

/// Whether a query has to be run once more: it conflicted with another transaction; on a standby, with the replay of the
/// primary's.
pub(crate) fn is_conflict<T>(result: &Result<T, ExecuteError>) -> bool {
    matches!(result, Err(ExecuteError::Database(DatabaseError::Conflict(_))))
}

async fn attempt(
    service: &Service,
    caller: &Principal,
    compiled: &Compiled,
    timeline: &mut Timeline,
) -> Result<ResponseWriter, ExecuteError> {
    if !compiled.plan.needs_database() {
        return Ok(constant(&compiled.plan));
    }
    timeline.steps = StepLog::new(compiled.plan.steps().len()).into();
    let (_turn, snapshot) = connection(service, caller, timeline).await?;
    execute(snapshot, &compiled.plan, &timeline.steps).await
}

/// A connection, in turn with other callers: one with many queries must not keep all others waiting.
pub(crate) async fn connection(
    service: &Service,
    caller: &Principal,
    timeline: &mut Timeline,
) -> Result<(FairPermit, Snapshot), DatabaseError> {
    let started = std::time::Instant::now();
    let taken = waited(PoolName::Queries, async {
        let turn = time::timeout(service.pool_wait, service.pool_turns.acquire(&caller.user_id)).await;
        let turn = turn.map_err(|_| DatabaseError::Busy)?;
        Ok((turn, service.pool.snapshot().await?))
    });
    let taken = taken.await;
    timeline.connection = Some(Stage::since(started));
    taken
}
