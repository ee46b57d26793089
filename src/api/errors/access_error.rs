//! Requests that are rejected for who sends them: credentials, tokens, grants, lockout.

use std::time::Duration;

use hyper::header::{self, HeaderValue};

use crate::access::lockout::Locked;
use crate::access::tokens::error::BadToken;
use crate::api::errors::api_error::ApiError;
use crate::error::code::ErrorCode;

/// The challenge (RFC 6750, section 3) where there was no token.
const BEARER: HeaderValue = HeaderValue::from_static("Bearer realm=\"orderql\"");

/// The challenge (RFC 7617) where names and passwords are asked for.
const BASIC: HeaderValue = HeaderValue::from_static("Basic realm=\"orderql\", charset=\"UTF-8\"");

/// When a client may log in again after its other logins had the time to finish.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why a caller has no access.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    /// No Basic credentials, or malformed ones.
    #[error("send a user's name and password as HTTP Basic credentials")]
    NoCredentials,
    /// An unknown user, a wrong password or a disabled account. Clients cannot tell which.
    #[error("the name or the password is wrong")]
    WrongCredentials,
    /// Too many wrong passwords for the account, or from the client's address.
    #[error("too many wrong passwords; try again later")]
    Locked(Locked),
    /// Too many logins of the account, or from the client's address, at the same time.
    #[error("too many logins of this account, or from your address, at the same time; try again")]
    TooManyAtOnce,
    /// No Bearer token.
    #[error("send a token as Authorization: Bearer <token>; POST /auth/token gives one")]
    NoToken,
    /// An `Authorization` header without a Bearer token, or two headers.
    #[error("send exactly one Authorization header, as Bearer <token>")]
    NotBearer,
    /// A token that is not accepted.
    #[error("{0}")]
    BadToken(#[from] BadToken),
    /// The token's account is deleted or disabled.
    #[error("the token's account is closed")]
    AccountClosed,
    /// None of the caller's groups has the grant.
    #[error("none of your user groups has the grant on {path}")]
    NotGranted {
        /// The artifact's path.
        path: &'static str,
    },
    /// The caller sees less of the schema than when the response began.
    #[error("your user groups lost a grant meanwhile; send the query again to see whether it is still allowed")]
    GrantLost,
    /// The caller sees other rows than when the response began.
    #[error("the rows that your user groups may see changed meanwhile; send the query again, without cursors")]
    ScopeChanged,
    /// An analysis counts rows that the caller does not see.
    #[error("you see some of the rows that this query reads, and an analysis counts others too")]
    AnalysisOfOthersRows,
}

impl From<AccessError> for ApiError {
    fn from(error: AccessError) -> Self {
        let code = match error {
            AccessError::Locked(_) | AccessError::TooManyAtOnce => ErrorCode::TooManyLogins,
            AccessError::NotGranted { .. }
            | AccessError::GrantLost
            | AccessError::ScopeChanged
            | AccessError::AnalysisOfOthersRows => ErrorCode::Forbidden,
            AccessError::NoCredentials
            | AccessError::WrongCredentials
            | AccessError::NoToken
            | AccessError::NotBearer
            | AccessError::BadToken(_)
            | AccessError::AccountClosed => ErrorCode::Unauthenticated,
        };
        let response = Self::new(code, &error);
        let challenge = match &error {
            AccessError::Locked(locked) => return response.with_retry_after(Some(locked.retry_after)),
            AccessError::TooManyAtOnce => return response.with_retry_after(Some(RETRY_AFTER)),
            AccessError::NotGranted { .. }
            | AccessError::GrantLost
            | AccessError::ScopeChanged
            | AccessError::AnalysisOfOthersRows => return response,
            AccessError::NoCredentials | AccessError::WrongCredentials => BASIC,
            AccessError::NoToken => BEARER,
            AccessError::NotBearer => bearer("invalid_request", &error),
            AccessError::BadToken(_) | AccessError::AccountClosed => bearer("invalid_token", &error),
        };
        response.with_header(header::WWW_AUTHENTICATE, challenge)
    }
}

/// The challenge (RFC 6750, section 3) where a token was sent.
fn bearer(kind: &str, error: &AccessError) -> HeaderValue {
    let text = format!("Bearer realm=\"orderql\", error=\"{kind}\", error_description=\"{error}\"");
    // The messages are ASCII without quotes.
    HeaderValue::try_from(text).unwrap_or(BEARER)
}
