//! Verifies the signature and the claims of a token.

use std::collections::HashSet;

use jwt_simple::claims::JWTClaims;
use jwt_simple::common::VerificationOptions;
use jwt_simple::token::Token;
use jwt_simple::{Error as JwtError, JWTError, prelude as jwt};
use serde_json::Value;

use crate::access::tokens::error::{BadToken, TokenFault};
use crate::access::tokens::external_issuer::{ExternalIssuer, OtherClaims};
use crate::access::tokens::key_set::{KeySet, VerifiedToken};
use crate::access::tokens::options::TokenOptions;

/// The longest token, in bytes. The server's own are far shorter; an external issuer may add a user's roles.
const LONGEST_TOKEN: usize = 8192;

/// Verifies a token with these keys, `now` seconds after 1970. The token's header chooses the key, and the key determines
/// the algorithm.
pub(crate) fn verify(token: &str, keys: &KeySet, options: &TokenOptions, now: u64) -> Result<VerifiedToken, BadToken> {
    if token.len() > LONGEST_TOKEN {
        return Err(BadToken::NotAccepted(TokenFault::Malformed));
    }
    let header = Token::decode_metadata(token).map_err(|_| BadToken::NotAccepted(TokenFault::Malformed))?;
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
        let claims = key.verify(token, expected).map_err(|error| bad_token(&error))?;
        (claims.subject, claims.issued_at, claims.expires_at)
    } else {
        let (Some(issuer), Some(options)) = (&keys.external, &options.external) else {
            return Err(BadToken::NotAccepted(TokenFault::Key));
        };
        let expected = expected(&options.issuer, Some(&options.audience));
        let claims = of_external_issuer(issuer, header.key_id(), token, &expected)?;
        let user_id = match options.user_claim.as_str() {
            "sub" => claims.subject,
            name => claims.custom.get(name).and_then(Value::as_str).map(str::to_owned),
        };
        (user_id, claims.issued_at, claims.expires_at)
    };
    // The library accepts a token that never expires, and applies the leeway to the end of a token, too.
    let user_id = user_id.ok_or(BadToken::NotAccepted(TokenFault::User))?;
    let expires_at = expires_at.ok_or(BadToken::NotAccepted(TokenFault::Expiry))?.as_secs();
    if now >= expires_at {
        return Err(BadToken::Expired);
    }
    let issued_at = issued_at.map_or(0, |at| at.as_secs());
    Ok(VerifiedToken { user_id: user_id.into(), issued_at, expires_at })
}

/// The claims of a token of the external issuer. One that names no key is tried with each. Of several errors the one that came furthest
/// counts, so that another key's signature hides no wrong claim.
fn of_external_issuer(
    issuer: &ExternalIssuer,
    key_id: Option<&str>,
    token: &str,
    expected: &VerificationOptions,
) -> Result<JWTClaims<OtherClaims>, BadToken> {
    let mut fault = BadToken::NotAccepted(TokenFault::Key);
    for verified in issuer.verify(key_id, token, expected) {
        match verified {
            Ok(claims) => return Ok(claims),
            Err(error) => match bad_token(&error) {
                other @ BadToken::NotAccepted(_) => fault = fault.max(other),
                // The signature is good.
                other => return Err(other),
            },
        }
    }
    Err(fault)
}

fn bad_token(error: &JwtError) -> BadToken {
    BadToken::NotAccepted(match error.downcast_ref::<JWTError>() {
        Some(JWTError::TokenHasExpired) => return BadToken::Expired,
        Some(JWTError::TokenNotValidYet | JWTError::ClockDrift) => return BadToken::NotYet,
        Some(JWTError::AlgorithmMismatch) => TokenFault::Algorithm,
        Some(JWTError::InvalidSignature | JWTError::InvalidAuthenticationTag) => TokenFault::Signature,
        Some(JWTError::RequiredIssuerMismatch | JWTError::RequiredIssuerMissing) => TokenFault::Issuer,
        Some(JWTError::RequiredAudienceMismatch | JWTError::RequiredAudienceMissing) => TokenFault::Audience,
        _ => TokenFault::Malformed,
    })
}
