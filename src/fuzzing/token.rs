//! Tokens, and the keys that verify them.

use std::path::PathBuf;
use std::time::Duration;

use crate::access::tokens::external_issuer::ExternalIssuer;
use crate::access::tokens::key_set::KeySet;
use crate::access::tokens::options::{ExternalIssuerOptions, KeySource, TokenOptions};
use crate::access::tokens::signing_key::Algorithm;
use crate::access::tokens::verify::verify;

/// The `iss` claim of the server's own tokens.
pub const ISSUER: &str = "orderql";
/// The `iss` and `aud` claims of the external issuer's tokens.
pub const EXTERNAL: [&str; 2] = ["https://issuer.example", "orders"];
/// How far an issuer's clock may be ahead, in seconds.
pub const LEEWAY: u64 = 30;

/// Verifies tokens with one set of keys.
#[derive(Debug)]
pub struct Verifier {
    keys: KeySet,
    options: TokenOptions,
}

impl Verifier {
    /// A verifier with the server's own keys in the text of a setting (Ed25519 in PEM, or secrets for HS256), and the keys of an external
    /// issuer in a JWK set. `None` if one of the texts has no keys.
    pub fn new(is_secret: bool, own: &str, jwks: Option<&[u8]>) -> Option<Self> {
        let algorithm = if is_secret { Algorithm::Hs256 } else { Algorithm::EdDsa };
        let source = KeySource::Text(own.to_owned());
        let mut keys = KeySet::read(&source, algorithm, None).ok()?;
        keys.external = match jwks {
            Some(text) => Some(ExternalIssuer::parse(text)?.into()),
            None => None,
        };
        let [issuer, audience] = EXTERNAL.map(str::to_owned);
        let external =
            ExternalIssuerOptions { jwks_file: PathBuf::new(), issuer, audience, user_claim: "sub".to_owned() };
        let options = TokenOptions {
            issuer: ISSUER.to_owned(),
            audience: None,
            lifetime: Duration::from_hours(1),
            leeway: Duration::from_secs(LEEWAY),
            algorithm,
            keys: source,
            external: Some(external),
        };
        Some(Self { keys, options })
    }

    /// The ids of the server's own keys.
    pub fn key_ids(&self) -> Vec<&str> {
        self.keys.ids().into_iter().map(|(id, _)| id).collect()
    }

    /// The user that a token was issued for and the time at which it expires, `now` seconds after 1970. `None` if it is
    /// rejected.
    pub fn verify(&self, token: &str, now: u64) -> Option<(String, u64)> {
        let verified = verify(token, &self.keys, &self.options, now).ok()?;
        Some((verified.user_id.to_string(), verified.expires_at))
    }
}
