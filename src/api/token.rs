//! `POST /auth/token`: Basic credentials in, a token out (named as in RFC 6749, section 5.1).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use serde_json::json;

use crate::access::login::{LoginAttempt, LoginError};
use crate::access::password::PasswordError;
use crate::api::access_log::AccessLogEntry;
use crate::api::credentials::basic;
use crate::api::errors::access_error::AccessError;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::negotiate::Media;
use crate::api::request_context::RequestContext;
use crate::http::response::{HttpResponse, json_response};

/// Responds with a token. Unknown users, wrong passwords and disabled accounts get the same error, after the same work.
pub(crate) async fn respond(context: &mut RequestContext) -> Result<HttpResponse, ApiError> {
    let RequestContext { service, head, entry, .. } = context;
    let address = entry.peer;
    let Some(credentials) = basic(&head.headers) else {
        service.logins.refuse_without_credentials(address);
        return Err(AccessError::NoCredentials.into());
    };
    let attempt = LoginAttempt { user_id: credentials.user_id.clone(), password: credentials.password, address };
    let login = service.logins.sign_in(&service.grants, &service.tokens, attempt);
    let issued = login.await.map_err(|error| login_error(error, entry))?;
    // Before the login the name is only a text that an unauthenticated client sent, so it is not logged.
    entry.caller = Some(credentials.user_id.into());
    let body = json!({
        "access_token": issued.token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in.as_secs(),
    });
    let mut response = json_response(StatusCode::OK, Media::Json.content_type(), &body);
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
