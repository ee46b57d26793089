//! Runs an admitted query within its caller's deadline, in turn with other callers' queries.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Instant;

use tokio::time::{self, error::Elapsed};

use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::PaidTime;
use crate::api::graphql::request::query_request::Requester;
use crate::api::service::Service;
use crate::compile::compiled::Compiled;
use crate::database::connection::batches::MAX_BYTES;
use crate::database::connection::own_connection::OwnConnection;
use crate::database::connection::shared_connections::StatementText;
use crate::database::error::DatabaseError;
use crate::execute::error::ExecuteError;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::row_limits::RowLimits;
use crate::execute::statement_log::StatementLog;
use crate::execute::{constant, execute};
use crate::plan::request_plan::{Plan, RowBounds};
use crate::replicas::read_servers::{LeasedConnection, ReadRoute};
use crate::throttle::rate_limiter::Debit;

/// The most rows that a statement on a shared connection examines: later statements wait for it.
const MAX_SHARED_ROWS: u64 = 1000;

/// The most rows of a statement that may share its execution with others, and the most rows of its roots, whose pages are mostly full. For
/// more rows, starting an execution is little of the work.
const MAX_BATCHED_ROWS: u64 = 100;
const MAX_BATCHED_ROWS_OF_ROOTS: u64 = 30;

/// An attempt to read a query from the servers of a route.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) requester: Requester<'a>,
    pub(crate) compiled: &'a Compiled,
    pub(crate) route: &'a ReadRoute,
}

/// The rows of a query that is running, or a part of its response, if they are there before its deadline. The caller pins the future,
/// since time-outs move what they are given. If the future begins with a statement, the statement is recorded in `log`.
pub(crate) async fn finish<T>(
    Requester { service, caller, request_id }: Requester<'_>,
    PaidTime { debit: Debit { cost, bucket, .. }, until }: PaidTime,
    log: Option<&StatementLog>,
    running: Pin<&mut impl Future<Output = Result<T, ExecuteError>>>,
) -> Result<T, ApiError> {
    // Dropping the future cancels its statements: here at the deadline, or further up where the client disconnects.
    Err(match run(service, until, log, running).await {
        Ok(Ok(rows)) => return Ok(rows),
        Ok(Err(ExecuteError::Database(DatabaseError::Cancelled(_)))) => QueryError::Cancelled { cost, bucket }.into(),
        Ok(Err(ExecuteError::Database(error))) if error.is_out_of_range() => {
            QueryError::OutOfRange { cost, bucket }.into()
        }
        Ok(Err(ExecuteError::Database(error))) if error.is_invalid_value() => {
            QueryError::InvalidValue { cost, bucket }.into()
        }
        Ok(Err(ExecuteError::Database(error))) if error.is_temporary() => {
            ServiceError::Unavailable(error.into()).into()
        }
        // It is charged: the database has planned the statement twice.
        Ok(Err(ExecuteError::Database(error @ DatabaseError::SchemaChanged(_)))) => {
            ServiceError::SchemaChanged(error.into()).into()
        }
        Ok(Err(ExecuteError::OutOfMemory)) => ServiceError::MemoryExhausted.into(),
        Ok(Err(ExecuteError::TooLarge { rows, bytes, limit })) => {
            QueryError::RowsTooLarge { rows, bytes, limit, cost, bucket }.into()
        }
        Ok(Err(error)) => ServiceError::internal(request_id, error).into(),
        // The query is not to blame if the database does not answer other requests either.
        Err(_) if !service.database_answers() => {
            ServiceError::Unavailable("the database does not answer".into()).into()
        }
        Err(_) => QueryError::DeadlineExceeded { deadline: caller.limits.deadline, cost, bucket }.into(),
    })
}

/// Runs until a deadline. How long a statement waits for locks is observed from half of the time on after which a query is slow: a wait
/// that makes it slow is seen, and the many fast ones need no second timer.
async fn run<T>(
    service: &Service,
    until: time::Instant,
    log: Option<&StatementLog>,
    mut running: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Elapsed> {
    if let (Some(log), Some(slow)) = (log, service.options.slow_query) {
        let from = time::Instant::now() + slow / 2;
        if from < until {
            if let Ok(result) = time::timeout_at(from, running.as_mut()).await {
                return Ok(result);
            }
            log.observe_locks();
        }
    }
    time::timeout_at(until, running).await
}

/// The route of a query's second attempt after an error, if nothing of its response was sent and a second attempt may help. The attempt is
/// not paid for. If the query's statement may be out of date, it is prepared once more.
pub(crate) fn second_route<T>(
    service: &Service,
    route: &ReadRoute,
    plan: &Plan,
    result: &Result<T, ExecuteError>,
) -> Option<ReadRoute> {
    match result {
        Err(ExecuteError::Database(error)) if error.is_stale() => {
            service.servers.forget(text_of(plan));
            // Even if it succeeds, a column may have another type or collation than the one that is known.
            service.schema_fit.request_check();
            Some(service.servers.after_error(route, error).unwrap_or_else(|| route.clone()))
        }
        Err(ExecuteError::Database(error)) => service.servers.after_error(route, error),
        Ok(_) | Err(ExecuteError::Misshapen | ExecuteError::OutOfMemory | ExecuteError::TooLarge { .. }) => None,
    }
}

impl Attempt<'_> {
    /// All rows, if they are there before the deadline.
    pub(crate) async fn fetch(
        self,
        paid: PaidTime,
        limits: &mut RowLimits<'_>,
        timeline: &mut Timeline,
    ) -> Result<Box<ResponseWriter>, ApiError> {
        let log = Arc::clone(&timeline.statement);
        let running = pin!(async {
            let result = self.rows(limits, timeline).await;
            match second_route(self.requester.service, self.route, &self.compiled.plan, &result) {
                // Boxed, so that the futures of other requests stay small.
                Some(route) => Box::pin(Attempt { route: &route, ..self }.rows(limits, timeline)).await,
                None => result,
            }
        });
        finish(self.requester, paid, Some(&log), running).await
    }

    async fn rows(
        self,
        limits: &mut RowLimits<'_>,
        timeline: &mut Timeline,
    ) -> Result<Box<ResponseWriter>, ExecuteError> {
        let Self { requester: Requester { service, caller, .. }, compiled, route } = self;
        let plan = &compiled.plan;
        if !plan.needs_database() {
            return Ok(constant(plan));
        }
        let text = text_of(plan);
        let mut small = (text.examined <= MAX_SHARED_ROWS).then_some(text);
        loop {
            timeline.wait_for_connection();
            let taken = service.servers.connect(route, &caller.user_id, small.take()).await;
            timeline.end_of_wait();
            let LeasedConnection { connection, held } = taken?;
            let is_shared = connection.is_shared();
            // Pinned first, because the macro moves what it is given.
            let running = pin!(execute(connection, plan, &timeline.statement, limits));
            let result = tokio::select! {
                biased;
                rows = running => rows,
                error = held.server.lost() => return Err(error.into()),
            };
            if text.examined <= MAX_SHARED_ROWS && has_many_bytes(&result) {
                service.servers.exclude(text);
            }
            match result {
                Ok(rows) => {
                    service.servers.record_read(&caller.user_id, &held.server);
                    return Ok(rows);
                }
                // The connection was lost, or a statement waited for a lock: it is run once more on a connection of its own.
                Err(ExecuteError::Database(error)) if is_shared && is_of_connection(&error) => {
                    timeline.statement.pause(Instant::now());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether the rows of a statement take so much that others should not wait for them.
fn has_many_bytes(result: &Result<Box<ResponseWriter>, ExecuteError>) -> bool {
    match result {
        Ok(rows) => rows.memory() > MAX_BYTES,
        Err(error) => matches!(error, ExecuteError::TooLarge { .. } | ExecuteError::OutOfMemory),
    }
}

fn text_of(plan: &Plan) -> StatementText<'_> {
    let RowBounds { of_roots, fetched, examined } = plan.row_bounds();
    let has_few_rows = of_roots <= MAX_BATCHED_ROWS_OF_ROOTS && fetched <= MAX_BATCHED_ROWS;
    StatementText { sql: plan.sql(), key: plan.sql_key(), examined, has_few_rows }
}

/// Whether the connection of a statement is to blame for an error.
fn is_of_connection(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::Unreachable(_)
        | DatabaseError::Incomplete { .. }
        | DatabaseError::Cancelled(_)
        | DatabaseError::Batch => true,
        DatabaseError::Busy
        | DatabaseError::Unsuitable(_)
        | DatabaseError::Unavailable(_)
        | DatabaseError::Conflict(_)
        | DatabaseError::Rewritten
        | DatabaseError::SchemaChanged(_)
        | DatabaseError::Statement(_) => false,
    }
}

/// A connection of its own to a server of the route, in turn with other callers.
pub(crate) async fn connect_own(
    Requester { service, caller, .. }: Requester<'_>,
    route: &ReadRoute,
    timeline: &mut Timeline,
) -> Result<LeasedConnection<OwnConnection>, DatabaseError> {
    timeline.wait_for_connection();
    let taken = service.servers.connect_own(route, &caller.user_id).await;
    timeline.end_of_wait();
    taken
}
