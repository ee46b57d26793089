//! Verifies the signature and the claims of a token.

use std::collections::HashSet;

use jwt_simple::common::VerificationOptions;
use jwt_simple::token::Token;
use jwt_simple::{Error as JwtError, JWTError, prelude as jwt};
use serde_json::Value;

use crate::access::tokens::error::BadToken;
use crate::access::tokens::key_set::{KeySet, VerifiedToken};
use crate::access::tokens::options::TokenOptions;

/// The longest token, in bytes. The server's own are far shorter; an external issuer may add a user's roles.
const LONGEST_TOKEN: usize = 8192;

/// Why a token was not verified with a set of keys.
pub(crate) enum Unverified {
    /// It names a key that is not in the set.
    UnknownKey,
    /// It is rejected.
    Bad(BadToken),
}

/// Verifies a token with these keys, `now` seconds after 1970. The token's header chooses the key, and the key determines
/// the algorithm.
pub(crate) fn verify(
    token: &str,
    keys: &KeySet,
    options: &TokenOptions,
    now: u64,
) -> Result<VerifiedToken, Unverified> {
    const NOT_ACCEPTED: Unverified = Unverified::Bad(BadToken::NotAccepted);
    if token.len() > LONGEST_TOKEN {
        return Err(NOT_ACCEPTED);
    }
    let header = Token::decode_metadata(token).map_err(|_| NOT_ACCEPTED)?;
    let expected = |issuer: &str, audience: Option<&str>| VerificationOptions {
        allowed_issuers: Some(HashSet::from([issuer.to_owned()])),
        allowed_audiences: audience.map(|audience| HashSet::from([audience.to_owned()])),
        time_tolerance: Some(options.leeway.into()),
        max_token_length: Some(LONGEST_TOKEN),
        artificial_time: Some(jwt::Duration::from_secs(now)),
        ..VerificationOptions::default()
    };
    let (user_id, issued_at, expires_at) = if let Some(key) = header.key_id().and_then(|id| keys.own_key(id)) {
        let expected = expected(&options.issuer, options.audience.as_deref());
        let claims = key.verify(token, expected).map_err(|error| Unverified::Bad(bad_token(&error)))?;
        (claims.subject, claims.issued_at, claims.expires_at)
    } else {
        let (Some(issuer), Some(options)) = (&keys.external, &options.external) else {
            return Err(Unverified::UnknownKey);
        };
        let expected = expected(&options.issuer, Some(&options.audience));
        let verified = issuer.verify(header.key_id(), token, &expected).ok_or(Unverified::UnknownKey)?;
        let claims = verified.map_err(|error| Unverified::Bad(bad_token(&error)))?;
        let user_id = match options.user_claim.as_str() {
            "sub" => claims.subject,
            name => claims.custom.get(name).and_then(Value::as_str).map(str::to_owned),
        };
        (user_id, claims.issued_at, claims.expires_at)
    };
    // The library accepts a token that never expires, and applies the leeway to the end of a token, too.
    let (Some(user_id), Some(expires_at)) = (user_id, expires_at) else {
        return Err(NOT_ACCEPTED);
    };
    let expires_at = expires_at.as_secs();
    if now >= expires_at {
        return Err(Unverified::Bad(BadToken::Expired));
    }
    let issued_at = issued_at.map_or(0, |at| at.as_secs());
    Ok(VerifiedToken { user_id: user_id.into(), issued_at, expires_at })
}

/// What the client may learn of why its token is rejected.
fn bad_token(error: &JwtError) -> BadToken {
    match error.downcast_ref::<JWTError>() {
        Some(JWTError::TokenHasExpired) => BadToken::Expired,
        Some(JWTError::TokenNotValidYet | JWTError::ClockDrift) => BadToken::NotYet,
        _ => BadToken::NotAccepted,
    }
}
