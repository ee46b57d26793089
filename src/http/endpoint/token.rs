//! `POST /auth/token`: Basic credentials in, a token out (named as in RFC 6749, section 5.1).

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use serde_json::json;

use crate::{
    access::{
        login::{Attempt, LoginError},
        password::PasswordError,
    },
    http::{
        answer::{Answer, with_json},
        credentials::basic,
        denial::Denial,
        negotiate::Media,
        origin,
        record::Record,
        service::Service,
    },
};

/// A token for the user. Unknown users, wrong passwords and disabled accounts are told the same, after the same work.
pub async fn answer(service: &Service, head: &Parts, record: &mut Record) -> Result<Answer, Denial> {
    let credentials = basic(&head.headers).ok_or(Denial::NoCredentials)?;
    let attempt = Attempt {
        user_id: credentials.user_id.clone(),
        password: credentials.password,
        address: origin::of(head, &service.options.trusted_proxies),
    };
    let signing_in = service.logins.sign_in(&service.grants, &service.tokens, attempt);
    let minted = signing_in.await.map_err(|error| match error {
        LoginError::Wrong => Denial::WrongCredentials,
        LoginError::Locked(locked) => Denial::Locked(locked),
        LoginError::Password(PasswordError::Busy) => Denial::Unavailable(error.into()),
        LoginError::Password(_) | LoginError::Token(_) => Denial::fault(record, error),
    })?;
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
