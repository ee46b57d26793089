//! `POST /auth/token`: Basic credentials in, a token out (named as in RFC 6749, section 5.1).

use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use serde_json::json;

use crate::{
    access::password::PasswordError,
    http::{
        credentials::basic,
        negotiate::Media,
        record::Record,
        respond::{Answer, Denial, with_json},
        service::Service,
    },
};

/// A token for the user. Unknown users, wrong passwords and disabled accounts are told the same, after the same work.
pub async fn answer(service: &Service, headers: &HeaderMap, record: &mut Record) -> Result<Answer, Denial> {
    let credentials = basic(headers).ok_or(Denial::NoCredentials)?;
    let hash = service.grants.current().password_hash(&credentials.user_id);
    let right = service.passwords.verify(credentials.password, hash).await.map_err(|error| match error {
        PasswordError::Busy => Denial::Unavailable(error.into()),
        other => Denial::fault(record, other),
    })?;
    if !right {
        return Err(Denial::WrongCredentials);
    }
    // Only now is it a user's name and not some text that a stranger wrote.
    record.caller = Some(credentials.user_id.as_str().into());
    let minted = service.tokens.mint(&credentials.user_id).map_err(|error| Denial::fault(record, error))?;
    let body = json!({
        "access_token": minted.token,
        "token_type": "Bearer",
        "expires_in": minted.expires_in.as_secs(),
    });
    let mut answer = with_json(StatusCode::OK, Media::Json, &body);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}
