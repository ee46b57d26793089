//! A query that is compiled, and its admission.

use serde_json::Value;

use crate::api::errors::api_error::ApiError;
use crate::api::graphql::gates::admission::{self, PaidTime, Schedule};
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::request_context::RequestContext;
use crate::catalog::grant_set::GrantSet;
use crate::compile::compiled::Compiled;
use crate::database::wal_position::WalPosition;
use crate::replicas::read_servers::{ReadRoute, ReadServers};

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

/// A query that is paid for.
#[derive(Debug)]
pub(crate) struct AdmittedQuery {
    pub(crate) prepared: PreparedQuery,
    pub(crate) paid: PaidTime,
    /// The servers that it may be read from.
    pub(crate) route: ReadRoute,
}

impl PreparedQuery {
    /// Waits for its place and its credits, debits it, and chooses where it is read.
    pub(crate) async fn admit(
        self,
        QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
        schedule: &Schedule,
    ) -> Result<AdmittedQuery, ApiError> {
        let RequestContext { service, in_flight, entry, permit, .. } = &mut **context;
        let (request, cost) = (&query.request, self.compiled.estimate.cost());
        let requester = Requester { service, caller, request_id: &entry.id };
        let demand = admission::demand(cost, request, in_flight);
        let admitted = requester.admit(demand, schedule.max_wait, &mut entry.timeline).await;
        let (place, debit) = admitted.inspect_err(|_| {
            view.compiler.insert_price(request, &caller.limits.query, cost);
        })?;
        *permit = Some(place);
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
        Ok(AdmittedQuery { prepared: self, paid: PaidTime { debit, until: schedule.until }, route })
    }
}
