//! The source of a query's text: the request, a document that it names, or a text that was stored before.

use crate::access::grants::Principal;
use crate::api::errors::api_error::ApiError;
use crate::api::graphql::request::persisted_queries::{self, ResolvedQuery};
use crate::api::graphql::request::request_envelope::GraphqlRequest;
use crate::api::service::Service;
use crate::api::views::View;
use crate::error::code::ErrorCode;

/// Why a request has no document.
#[derive(Debug, thiserror::Error)]
enum QuerySourceError {
    /// A text, or a hash that no document has, from a caller who may send documents alone.
    #[error("you may run documents that the server knows, and no others; name one with \"documentId\"")]
    Required,
    /// An id that no document has.
    #[error("there is no document \"{0}\"")]
    Unknown(String),
    /// An id beside a text.
    #[error("the request has both \"query\" and \"documentId\"; give one of them")]
    Both,
}

impl From<QuerySourceError> for ApiError {
    fn from(error: QuerySourceError) -> Self {
        let code = match error {
            QuerySourceError::Required => ErrorCode::DocumentRequired,
            QuerySourceError::Unknown(_) | QuerySourceError::Both => ErrorCode::BadUserInput,
        };
        Self::new(code, &error)
    }
}

/// The longest part of an id that an error repeats, in characters.
const MAX_ID_IN_ERROR: usize = 80;

/// The request with its text.
pub(crate) fn resolve(
    service: &Service,
    caller: &Principal,
    view: &View,
    mut envelope: GraphqlRequest,
) -> Result<ResolvedQuery, ApiError> {
    let document = match (envelope.document_id.take(), &envelope.query) {
        (Some(_), Some(_)) => return Err(QuerySourceError::Both.into()),
        (Some(id), None) => {
            let unknown = || QuerySourceError::Unknown(id.chars().take(MAX_ID_IN_ERROR).collect());
            Some(service.documents.named(&id).ok_or_else(unknown)?)
        }
        (None, Some(_)) => None,
        (None, None) => {
            persisted_queries::hash(envelope.extensions.as_deref())?.and_then(|hash| service.documents.hashed(&hash))
        }
    };
    match document {
        Some(text) => {
            envelope.query = Some(text.to_string());
            // The text is there already.
            envelope.extensions = None;
        }
        None if caller.sends_documents_alone() => return Err(QuerySourceError::Required.into()),
        None => {}
    }
    Ok(persisted_queries::resolve(&service.persisted_queries, view.grants, envelope)?)
}
