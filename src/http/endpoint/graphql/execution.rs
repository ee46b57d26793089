//! Runs a compiled query: within its caller's concurrency limit and deadline, and refunded if the database is unavailable.

use tokio::time;

use crate::access::grants::Principal;
use crate::compile::compiled::Compiled;
use crate::database::error::DatabaseError;
use crate::execute::error::ExecuteError;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::{constant, execute};
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::query_error::QueryError;
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::throttle::bucket::ThrottleStatus;
use crate::throttle::running::Permit;

/// A permit to run one more of the caller's queries, until its response is handed over. Nothing is debited without one.
pub(crate) async fn acquire_permit(service: &Service, caller: &Principal, cost: u64) -> Result<Permit, ApiError> {
    let limit = caller.limits.concurrent_queries;
    if let Some(permit) = service.running_queries.try_acquire(&caller.user_id, limit) {
        return Ok(permit);
    }
    let bucket = service.rate_limiter.forecast(&caller.user_id, &caller.limits.rate(), 0).await?;
    Err(QueryError::TooManyRunning { limit, cost, bucket }.into())
}

/// The query's rows. `bucket` is the caller's bucket after the debit.
pub(crate) async fn fetch(
    service: &Service,
    caller: &Principal,
    compiled: &Compiled,
    bucket: ThrottleStatus,
    entry: &mut AccessLogEntry,
) -> Result<ResponseWriter, ApiError> {
    let (cost, deadline) = (compiled.estimate.cost(), caller.limits.deadline);
    // Dropping the future cancels its statements: here at the deadline, or further up where the client disconnects.
    match time::timeout(deadline, run(service, compiled)).await {
        Ok(Ok(rows)) => Ok(rows),
        Ok(Err(ExecuteError::Database(DatabaseError::Cancelled(_)))) => {
            entry.cost = Some(cost);
            Err(QueryError::Cancelled { cost, bucket }.into())
        }
        Ok(Err(ExecuteError::Database(error))) if error.is_temporary() => {
            service.rate_limiter.refund(&caller.user_id, cost).await;
            Err(ServiceError::Unavailable(error.into()).into())
        }
        Ok(Err(error)) => Err(ServiceError::internal(entry, error).into()),
        // The query is not to blame if the database answers nobody.
        Err(_) if !service.grants.is_connected() => {
            service.rate_limiter.refund(&caller.user_id, cost).await;
            Err(ServiceError::Unavailable("the database does not answer".into()).into())
        }
        Err(_) => {
            entry.cost = Some(cost);
            Err(QueryError::DeadlineExceeded { deadline, cost, bucket }.into())
        }
    }
}

/// Runs the query, and once more if it conflicts with another transaction: on a standby, with the replay of the primary's.
async fn run(service: &Service, compiled: &Compiled) -> Result<ResponseWriter, ExecuteError> {
    match attempt(service, compiled).await {
        Err(ExecuteError::Database(DatabaseError::Conflict(_))) => attempt(service, compiled).await,
        result => result,
    }
}

async fn attempt(service: &Service, compiled: &Compiled) -> Result<ResponseWriter, ExecuteError> {
    if !compiled.plan.needs_database() {
        return Ok(constant(&compiled.plan));
    }
    let snapshot = service.pool.snapshot().await?;
    execute(snapshot, &compiled.plan).await
}
