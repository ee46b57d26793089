//! `POST /api/updateOrder`: checks the request in order (token, grant, body, parameters), applies the update and responds.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{HeaderMap, StatusCode};
use thiserror::Error;
use tokio::time;

use crate::access::grants::Artifact;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::endpoint::update_response::{of_errors, of_outcome};
use crate::http::negotiate::{self, Media};
use crate::http::request_error::RequestError;
use crate::http::response::HttpResponse;
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::{body, error_response, origin};
use crate::orders::actor::Actor;
use crate::orders::error::{FormError, UpdateError};
use crate::orders::outcome::{StoredResponse, UpdateOutcome};
use crate::orders::update::{Idempotency, update};
use crate::orders::update_form::parse_body;
use crate::orders::update_request::UpdateRequest;

/// The maximum number of bytes of an `Idempotency-Key`.
const MAX_KEY_LENGTH: usize = 255;

/// An invalid `Idempotency-Key` header.
#[derive(Debug, Error)]
enum IdempotencyKeyError {
    #[error("an Idempotency-Key is 1 to 255 visible ASCII characters")]
    Invalid,
    #[error("a request has one Idempotency-Key at most")]
    Several,
}

/// Applies an update and responds with its outcome or an error.
pub(crate) async fn respond(
    service: &Service,
    head: &Head,
    body: Incoming,
    entry: &mut AccessLogEntry,
) -> HttpResponse {
    match serve(service, head, body, entry).await {
        Ok(response) => http_response(response),
        Err(error) => {
            entry.code = Some(error.code);
            error_response::order_update(&error)
        }
    }
}

async fn serve(
    service: &Service,
    head: &Head,
    body: Incoming,
    entry: &mut AccessLogEntry,
) -> Result<StoredResponse, ApiError> {
    let headers = &head.headers;
    let principal = service.authorize(headers, Artifact::UpdateOrder, entry)?;
    negotiate::reject_compressed(headers)?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let form = match parse_body(content_type, body::read(body, &service.options).await?).await {
        Ok(form) => form,
        Err(FormError::NotAForm) => return Err(RequestError::NotAForm.into()),
        Err(error) => return Ok(of_errors(StatusCode::BAD_REQUEST, &[error])),
    };
    let request = match UpdateRequest::parse(&form) {
        Ok(request) => request,
        Err(errors) => return Ok(of_errors(StatusCode::BAD_REQUEST, &errors)),
    };
    let key = match idempotency_key(headers) {
        Ok(key) => key,
        Err(error) => return Ok(of_errors(StatusCode::BAD_REQUEST, &[error])),
    };
    let address = origin::client_address(head, &service.options.trusted_proxies).map(|address| address.to_string());
    let actor = Actor { user_id: principal.user_id.to_string(), address };
    let respond = |outcome: &UpdateOutcome| of_outcome(&request, outcome);
    let idempotency = key.map(|key| Idempotency { key, respond: &respond });
    // Dropping the future, at the deadline here or when the client disconnects, rolls the transaction back, unless the
    // commit has been sent.
    let updating = update(&service.writer, &actor, &request, idempotency);
    match time::timeout(principal.limits.deadline, updating).await {
        Ok(Ok(outcome)) => Ok(respond(&outcome)),
        Ok(Err(error @ (UpdateError::Referenced(_) | UpdateError::TooLong(_)))) => {
            Ok(of_errors(StatusCode::CONFLICT, &[error]))
        }
        Ok(Err(UpdateError::Unavailable(error))) => Err(ServiceError::Unavailable(error.into()).into()),
        Ok(Err(UpdateError::Internal(error))) => Err(ServiceError::internal(entry, error).into()),
        Err(elapsed) => Err(ServiceError::Unavailable(elapsed.into()).into()),
    }
}

/// The key under which the response is stored for repeats.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, IdempotencyKeyError> {
    let mut keys = headers.get_all("idempotency-key").into_iter();
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => match key.to_str() {
            Ok(key) if (1..=MAX_KEY_LENGTH).contains(&key.len()) => Ok(Some(key)),
            _ => Err(IdempotencyKeyError::Invalid),
        },
        (Some(_), Some(_)) => Err(IdempotencyKeyError::Several),
    }
}

fn http_response(stored: StoredResponse) -> HttpResponse {
    let mut response = HttpResponse::new(Bytes::from(stored.body).into());
    *response.status_mut() = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Media::Json.content_type()));
    response
}
