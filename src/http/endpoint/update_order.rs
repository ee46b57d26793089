//! `POST /api/updateOrder`: the gates (token, grant, body, parameters), the update, and the answer as OFBiz's clients read it.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{HeaderMap, StatusCode};
use tokio::time;

use crate::access::grants::Artifact;
use crate::database::error::DatabaseError;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::negotiate::{self, Media};
use crate::http::request_error::RequestError;
use crate::http::response::HttpResponse;
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::{body, error_response, origin};
use crate::orders::answer::{self, failed};
use crate::orders::apply::Actor;
use crate::orders::update_form::{self, FormError};
use crate::orders::{self, UpdateError, command};

/// Bytes of an `Idempotency-Key`.
const LONGEST_KEY: usize = 255;

/// Applies an update, or says what is wrong with it.
pub(crate) async fn respond(
    service: &Service,
    head: &Head,
    body: Incoming,
    entry: &mut AccessLogEntry,
) -> HttpResponse {
    match serve(service, head, body, entry).await {
        Ok(answered) => with_body(answered),
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
) -> Result<answer::Answer, ApiError> {
    let headers = &head.headers;
    let principal = service.authorize(headers, Artifact::UpdateOrder, entry)?;
    negotiate::reject_compressed(headers)?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let form = match update_form::read(content_type, body::read(body, &service.options).await?).await {
        Ok(form) => form,
        Err(FormError::NotAForm) => return Err(RequestError::NotAForm.into()),
        Err(error) => return Ok(failed(400, &[error])),
    };
    let update = match command::read(&form) {
        Ok(update) => update,
        Err(faults) => return Ok(failed(400, &faults)),
    };
    let key = match idempotency_key(headers) {
        Ok(key) => key,
        Err(fault) => return Ok(failed(400, &[fault])),
    };
    let address = origin::client_address(head, &service.options.trusted_proxies).map(|address| address.to_string());
    let actor = Actor { user_id: principal.user_id.to_string(), address };
    // Dropping the future, here at the deadline or above where the client hangs up, rolls everything back, unless the
    // commit has been sent.
    let updating = orders::update(&service.writer, &actor, key, &form, &update);
    match time::timeout(principal.limits.deadline, updating).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(error @ UpdateError::KeyReused)) => Ok(failed(422, &[error])),
        Ok(Err(error @ (UpdateError::Referred(_) | UpdateError::TooLong(_)))) => Ok(failed(409, &[error])),
        Ok(Err(UpdateError::Database(error))) => Err(service_error(error, entry).into()),
        Err(elapsed) => Err(ServiceError::Unavailable(elapsed.into()).into()),
    }
}

/// The key under which a repeat is given the first answer: one to 255 characters.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut keys = headers.get_all("idempotency-key").into_iter();
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => match key.to_str() {
            Ok(key) if (1..=LONGEST_KEY).contains(&key.len()) => Ok(Some(key)),
            _ => Err("an Idempotency-Key is 1 to 255 visible ASCII characters"),
        },
        _ => Err("a request has one Idempotency-Key at most"),
    }
}

/// A retry can succeed where the database is away, or where other updates lock what this one needs.
fn service_error(error: DatabaseError, entry: &AccessLogEntry) -> ServiceError {
    match error {
        DatabaseError::Busy | DatabaseError::Unreachable(_) => ServiceError::Unavailable(error.into()),
        DatabaseError::Statement(ref cause) if orders::gave_way(cause) => ServiceError::Unavailable(error.into()),
        DatabaseError::Statement(_) => ServiceError::internal(entry, error),
    }
}

fn with_body(answered: answer::Answer) -> HttpResponse {
    let mut answer = HttpResponse::new(Bytes::from(answered.body).into());
    *answer.status_mut() = StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Media::Json.content_type()));
    answer
}
