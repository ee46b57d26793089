//! A query that is compiled: the gates from the credits on, and its response if its rows are gathered before it is written.

use std::time::Instant;

use serde_json::Value;
use tokio::time;

use crate::access::grants::Principal;
use crate::api::access_log::timeline::Stage;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::{self, Schedule};
use crate::api::graphql::request::query_request::QueryRequest;
use crate::api::graphql::response::changes;
use crate::api::graphql::response::execution::{self, AdmittedQuery, Requester};
use crate::api::graphql::response::response_body;
use crate::api::graphql::response::response_end::ResponseEnd;
use crate::api::graphql::response::row_memory;
use crate::api::request_context::RequestContext;
use crate::catalog::grant_set::GrantSet;
use crate::compile::compiled::Compiled;
use crate::cost::limit_check::check_response_size;
use crate::database::wal_position::WalPosition;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::row_limits::RowLimits;
use crate::http::response::ResponseBody;
use crate::replicas::read_servers::{ReadRoute, ReadServers};
use crate::throttle::rate_limiter::Debit;

/// A query that is compiled.
#[derive(Debug, Clone)]
pub(crate) struct PreparedQuery {
    pub(crate) compiled: Compiled,
    /// The grants of the schema that the caller held when it was compiled.
    pub(crate) grants: GrantSet,
    /// The cost of every field, if the client asked for it.
    pub(crate) field_costs: Option<Value>,
    /// Whether the client asked how it is executed.
    pub(crate) includes_plan: bool,
    /// The position that it has to see at least.
    pub(crate) after: Option<WalPosition>,
}

impl PreparedQuery {
    /// Waits for its place and its credits, debits it, and chooses where it is read.
    pub(crate) async fn admit(
        self,
        QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
        schedule: &Schedule,
    ) -> Result<AdmittedQuery, ApiError> {
        let (request, cost) = (&query.request, self.compiled.estimate.cost());
        let demand = admission::demand(cost, request, &context.in_flight);
        let admitted = admission::admit(context, caller, demand, schedule).await;
        let debit = admitted.inspect_err(|_| {
            view.compiler.insert_price(request, &caller.limits.query, cost);
        })?;
        let service = &context.service;
        if !self.compiled.unknown_values.is_empty() {
            // The values may have been added to the database since the vocabularies were read.
            service.vocabularies.refresh();
        }
        let written = debit.written.map(WalPosition::from);
        let route = if self.compiled.plan.reads_changes() {
            ReadServers::primary_route()
        } else {
            service.servers.route(&caller.user_id, self.after.max(written)).await
        };
        Ok(self.admitted(debit, route, schedule.until))
    }

    /// The query once this is debited.
    pub(crate) fn admitted(self, debit: Debit, route: ReadRoute, until: time::Instant) -> AdmittedQuery {
        let Self { compiled, grants, field_costs, includes_plan, after: _ } = self;
        AdmittedQuery { compiled, grants, field_costs, includes_plan, debit, route, until }
    }
}

/// The rows of a query, all of them.
pub(crate) async fn rows(
    context: &mut RequestContext,
    caller: &Principal,
    query: &AdmittedQuery,
) -> Result<Box<ResponseWriter>, ApiError> {
    let RequestContext { service, in_flight, entry, .. } = context;
    let mut memory = in_flight.further();
    let mut limits = RowLimits {
        bytes: check_response_size(0, query.debit.cost, &caller.limits.query).limit,
        memory: &mut |bytes| row_memory::hold(&mut memory, bytes),
    };
    let requester = Requester { service, caller, request_id: &entry.id };
    let rows = execution::fetch(requester, query, &mut limits, &mut entry.timeline).await?;
    if query.compiled.plan.reads_changes() {
        // Boxed, so that the futures of other requests stay small.
        Box::pin(changes::check(requester, query, &rows, &mut entry.timeline)).await?;
    }
    Ok(rows)
}

/// The body of a response whose rows are gathered before it is written.
pub(crate) async fn body(
    context: &mut RequestContext,
    caller: &Principal,
    query: AdmittedQuery,
    rows: Box<ResponseWriter>,
) -> Result<ResponseBody, ApiError> {
    let RequestContext { service, in_flight, entry, .. } = context;
    let debit = query.debit;
    let end = ResponseEnd::new(query, &entry.timeline.statement);
    let actual = end.actual_cost(&rows);
    let rows_memory = rows.memory();
    let started = Instant::now();
    let body = response_body::write(rows, end, entry)?;
    entry.timeline.write = Some(Stage::since(started));
    in_flight.shrink(0);
    if let Err(error) = in_flight.reserve(response_body::memory(&body, rows_memory)) {
        service.admission.refund(&caller.user_id, debit).await;
        return Err(ServiceError::from(error).into());
    }
    entry.actual_cost = Some(actual);
    Ok(body)
}
