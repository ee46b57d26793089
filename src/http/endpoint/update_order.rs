//! `POST /api/updateOrder`: the gates (token, grant, body, parameters), the update, and the answer as OFBiz's clients read it.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    http::request::Parts as Head,
};
use tokio::time;

use crate::{
    access::grants::Artifact,
    database::pool::DatabaseError,
    http::{
        answer::Answer,
        body,
        denial::Denial,
        negotiate::{self, Media},
        origin,
        record::Record,
        respond::deny_update,
        service::Service,
    },
    orders::{
        self, UpdateError,
        answer::{self, failed},
        apply::Actor,
        command,
        form::{self, FormError},
    },
};

/// Bytes of an `Idempotency-Key`.
const LONGEST_KEY: usize = 255;

/// Applies an update, or says what is wrong with it.
pub async fn answer(service: &Service, head: &Head, body: Incoming, record: &mut Record) -> Answer {
    match serve(service, head, body, record).await {
        Ok(answered) => with_body(answered),
        Err(denial) => {
            record.code = Some(denial.code());
            deny_update(&denial)
        }
    }
}

async fn serve(service: &Service, head: &Head, body: Incoming, record: &mut Record) -> Result<answer::Answer, Denial> {
    let headers = &head.headers;
    let principal = service.caller(headers)?;
    record.caller = Some(Arc::clone(&principal.user_id));
    if !principal.may(Artifact::UpdateOrder) {
        return Err(Denial::NotGranted { path: Artifact::UpdateOrder.path() });
    }
    negotiate::refuse_compressed(headers)?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let form = match form::read(content_type, body::read(body, &service.options).await?).await {
        Ok(form) => form,
        Err(FormError::NotAForm) => return Err(Denial::NotAForm),
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
    let address = origin::of(head, &service.options.trusted_proxies).map(|address| address.to_string());
    let actor = Actor { user_id: principal.user_id.to_string(), address };
    // Dropping the future, here at the deadline or above where the client hangs up, rolls everything back, unless the
    // commit has been sent.
    let updating = orders::update(&service.writer, &actor, key, &form, &update);
    match time::timeout(principal.deadline, updating).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(error @ UpdateError::KeyReused)) => Ok(failed(422, &[error])),
        Ok(Err(error @ (UpdateError::Referred(_) | UpdateError::TooLong(_)))) => Ok(failed(409, &[error])),
        Ok(Err(UpdateError::Database(error))) => Err(unavailable(error, record)),
        Err(elapsed) => Err(Denial::Unavailable(elapsed.into())),
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

/// The database being away, and other updates that hold what this one needs, pass; anything else is a fault.
fn unavailable(error: DatabaseError, record: &Record) -> Denial {
    match error {
        DatabaseError::Busy | DatabaseError::Unreachable(_) => Denial::Unavailable(error.into()),
        DatabaseError::Statement(ref cause) if orders::gave_way(cause) => Denial::Unavailable(error.into()),
        DatabaseError::Statement(_) => Denial::fault(record, error),
    }
}

fn with_body(answered: answer::Answer) -> Answer {
    let mut answer = Answer::new(Bytes::from(answered.body).into());
    *answer.status_mut() = StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Media::Json.content_type()));
    answer
}
