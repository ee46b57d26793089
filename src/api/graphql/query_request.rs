//! A request for a query, from the compiler on.

use std::sync::Arc;

use crate::access::grants::Principal;
use crate::api::graphql::persisted_queries::ResolvedQuery;
use crate::api::request_context::RequestContext;
use crate::api::views::View;

/// A request whose caller and query are known.
pub(super) struct QueryRequest<'c> {
    pub(super) context: &'c mut RequestContext,
    pub(super) caller: Arc<Principal>,
    /// What the caller sees of the schema.
    pub(super) view: Arc<View>,
    pub(super) query: ResolvedQuery,
}
