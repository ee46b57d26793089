//! Runs an admitted query within its caller's deadline, in turn with those of other callers, and refunds it if the database is
//! unavailable.

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

/// The rows of a query, if they are there `until` its deadline.
pub(crate) async fn fetch(
    service: &Service,
    caller: &Principal,
    compiled: &Compiled,
    debit: Debit,
    until: Instant,
    entry: &mut AccessLogEntry,
) -> Result<ResponseWriter, ApiError> {
    let running = run(service, caller, compiled, &mut entry.timeline);
    settle(service, caller, debit, until, &entry.id, running).await
}

/// The rows of a query that is running, if they are there `until` its deadline. The query is refunded if it is not to blame.
pub(crate) async fn settle(
    service: &Service,
    caller: &Principal,
    Debit { cost, bucket }: Debit,
    until: Instant,
    request_id: &str,
    running: impl Future<Output = Result<ResponseWriter, ExecuteError>>,
) -> Result<ResponseWriter, ApiError> {
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

/// Runs the query, and once more if it conflicts with another transaction: on a standby, with the replay of the primary's.
async fn run(
    service: &Service,
    caller: &Principal,
    compiled: &Compiled,
    timeline: &mut Timeline,
) -> Result<ResponseWriter, ExecuteError> {
    match attempt(service, caller, compiled, timeline).await {
        Err(ExecuteError::Database(DatabaseError::Conflict(_))) => attempt(service, caller, compiled, timeline).await,
        result => result,
    }
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
    timeline.steps = StepLog::new(compiled.plan.steps().len());
    let started = std::time::Instant::now();
    let taken = waited(PoolName::Queries, connection(service, caller)).await;
    timeline.connection = Some(Stage::since(started));
    let (_turn, snapshot) = taken?;
    execute(snapshot, &compiled.plan, &timeline.steps).await
}

/// A connection, in turn with other callers: one with many queries must not keep all others waiting.
async fn connection(service: &Service, caller: &Principal) -> Result<(FairPermit, Snapshot), DatabaseError> {
    let turn = time::timeout(service.pool_wait, service.pool_turns.acquire(&caller.user_id)).await;
    let turn = turn.map_err(|_| DatabaseError::Busy)?;
    Ok((turn, service.pool.snapshot().await?))
}
