//! `POST /auth/token`: Basic credentials in, a token out (named as in RFC 6749, section 5.1).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use serde_json::json;

use crate::access::login::{Attempt, LoginError};
use crate::access::password::PasswordError;
use crate::http::access_error::AccessError;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::credentials::basic;
use crate::http::negotiate::Media;
use crate::http::origin;
use crate::http::response::{Answer, with_json};
use crate::http::service::Service;
use crate::http::service_error::ServiceError;

/// A token for the user. Unknown users, wrong passwords and disabled accounts are told the same, after the same work.
pub async fn answer(service: &Service, head: &Parts, record: &mut AccessLogEntry) -> Result<Answer, ApiError> {
    let credentials = basic(&head.headers).ok_or(AccessError::NoCredentials)?;
    let attempt = Attempt {
        user_id: credentials.user_id.clone(),
        password: credentials.password,
        address: origin::client_address(head, &service.options.trusted_proxies),
    };
    let signing_in = service.logins.sign_in(&service.grants, &service.tokens, attempt);
    let minted = signing_in.await.map_err(|error| login_error(error, record))?;
    // Only now is it a user's name and not some text that a stranger wrote.
    record.caller = Some(credentials.user_id.into());
    let body = json!({
        "access_token": minted.token,
        "token_type": "Bearer",
        "expires_in": minted.expires_in.as_secs(),
    });
    let mut answer = with_json(StatusCode::OK, Media::Json, &body);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

fn login_error(error: LoginError, record: &AccessLogEntry) -> ApiError {
    match error {
        LoginError::Wrong => AccessError::WrongCredentials.into(),
        LoginError::Locked(locked) => AccessError::Locked(locked).into(),
        LoginError::Password(PasswordError::Busy) => ServiceError::Unavailable(error.into()).into(),
        LoginError::Password(_) | LoginError::Token(_) => ServiceError::internal(record, error).into(),
    }
}
