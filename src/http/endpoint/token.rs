//! `POST /auth/token`: Basic credentials in, a token out (named as in RFC 6749, section 5.1).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts as Head;
use serde_json::json;

use crate::access::login::{Attempt, LoginError};
use crate::access::password::PasswordError;
use crate::http::access_error::AccessError;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::credentials::basic;
use crate::http::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};
use crate::http::service::Service;
use crate::http::service_error::ServiceError;

/// Responds with a token. Unknown users, wrong passwords and disabled accounts get the same error, after the same work.
pub(crate) async fn respond(
    service: &Service,
    head: &Head,
    entry: &mut AccessLogEntry,
) -> Result<HttpResponse, ApiError> {
    let address = entry.peer;
    let Some(credentials) = basic(&head.headers) else {
        service.logins.refuse_without_credentials(address);
        return Err(AccessError::NoCredentials.into());
    };
    let attempt = Attempt { user_id: credentials.user_id.clone(), password: credentials.password, address };
    let login = service.logins.sign_in(&service.grants, &service.tokens, attempt);
    let issued = login.await.map_err(|error| login_error(error, entry))?;
    // Before the login the name is only a text that an unauthenticated client sent, so it is not logged.
    entry.caller = Some(credentials.user_id.into());
    let body = json!({
        "access_token": issued.token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in.as_secs(),
    });
    let mut response = json_response(StatusCode::OK, Media::Json, &body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn login_error(error: LoginError, entry: &AccessLogEntry) -> ApiError {
    match error {
        LoginError::Wrong => AccessError::WrongCredentials.into(),
        LoginError::Locked(locked) => AccessError::Locked(locked).into(),
        LoginError::Password(PasswordError::TooManyAtOnce) => AccessError::TooManyAtOnce.into(),
        LoginError::Password(PasswordError::Busy) => ServiceError::Unavailable(error.into()).into(),
        LoginError::Password(_) | LoginError::Token(_) => ServiceError::internal(&entry.id, error).into(),
    }
}
