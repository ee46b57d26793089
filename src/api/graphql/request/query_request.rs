//! A request for a query, from the compiler on.

use std::sync::Arc;

use crate::access::grants::Principal;
use crate::api::graphql::request::persisted_queries::ResolvedQuery;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::api::views::View;

/// A request whose caller and query are known.
pub(crate) struct QueryRequest<'c> {
    pub(crate) context: &'c mut RequestContext,
    pub(crate) caller: Arc<Principal>,
    /// The caller's view of the schema.
    pub(crate) view: Arc<View>,
    pub(crate) query: ResolvedQuery,
}

/// The caller and the id of the request that is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester<'a> {
    pub service: &'a Service,
    pub caller: &'a Principal,
    pub request_id: &'a str,
}
