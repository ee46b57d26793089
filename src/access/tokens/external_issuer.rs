//! The public keys of an external issuer, which verify its tokens. They are read from a file: a JWK set (RFC 7517).

use std::path::PathBuf;
use std::{fmt, fs, io};

use jwt_simple::Error as JwtError;
use jwt_simple::algorithms::{
    ECDSAP256PublicKeyLike, ECDSAP384PublicKeyLike, ES256PublicKey, ES384PublicKey, Ed25519PublicKey,
    EdDSAPublicKeyLike, RS256PublicKey, RSAPublicKeyLike,
};
use jwt_simple::claims::JWTClaims;
use jwt_simple::common::VerificationOptions;
use serde_json::{Map, Value};

use crate::access::tokens::options::ExternalIssuerOptions;

/// The issuer's keys, as they were read.
pub(crate) struct ExternalIssuer {
    keys: Vec<VerifyingKey>,
}

struct VerifyingKey {
    id: Option<String>,
    key: PublicKey,
}

/// A key. Verifies tokens of one algorithm only, whatever a token's header says.
enum PublicKey {
    Ed25519(Box<Ed25519PublicKey>),
    Es256(Box<ES256PublicKey>),
    Es384(Box<ES384PublicKey>),
    Rs256(Box<RS256PublicKey>),
}

/// The claims beside the registered ones.
pub(crate) type OtherClaims = Map<String, Value>;

/// Why the issuer's keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExternalIssuerError {
    /// The file cannot be read.
    #[error("cannot read the external issuer's keys in {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file is not a JWK set.
    #[error("{} is no JWK set: an object with a list `keys` of JSON Web Keys", .0.display())]
    NotASet(PathBuf),
    /// None of its keys can be used.
    #[error("{} has no key that verifies EdDSA, ES256, ES384 or RS256", .0.display())]
    NoKey(PathBuf),
}

impl ExternalIssuer {
    /// Reads the keys. Ignores keys of unknown types and keys that encrypt.
    pub(crate) fn read(options: &ExternalIssuerOptions) -> Result<Self, ExternalIssuerError> {
        let path = &options.jwks_file;
        let text = fs::read(path).map_err(|error| ExternalIssuerError::File(path.clone(), error))?;
        let issuer = Self::parse(&text).ok_or_else(|| ExternalIssuerError::NotASet(path.clone()))?;
        if issuer.keys.is_empty() { Err(ExternalIssuerError::NoKey(path.clone())) } else { Ok(issuer) }
    }

    /// The keys of a JWK set that can be used, perhaps none. `None` if the text is no JWK set.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(text).ok()?;
        let keys = set.get("keys").and_then(Value::as_array)?;
        Some(Self { keys: keys.iter().filter_map(VerifyingKey::parse).collect() })
    }

    /// The claims of a token, by each of the keys that it names: all of them if it names none.
    pub(crate) fn verify(
        &self,
        key_id: Option<&str>,
        token: &str,
        expected: &VerificationOptions,
    ) -> impl Iterator<Item = Result<JWTClaims<OtherClaims>, JwtError>> {
        let named = self.keys.iter().filter(move |key| key_id.is_none() || key.id.as_deref() == key_id);
        named.map(|key| {
            let expected = Some(expected.clone());
            match &key.key {
                PublicKey::Ed25519(key) => key.verify_token(token, expected),
                PublicKey::Es256(key) => key.verify_token(token, expected),
                PublicKey::Es384(key) => key.verify_token(token, expected),
                PublicKey::Rs256(key) => key.verify_token(token, expected),
            }
        })
    }
}

impl VerifyingKey {
    fn parse(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let json = jwk.to_string();
        let key = match (text("kty")?, text("crv"), text("alg")) {
            ("OKP", Some("Ed25519"), _) => PublicKey::Ed25519(Box::new(Ed25519PublicKey::from_jwk(&json).ok()?)),
            ("EC", Some("P-256"), _) => PublicKey::Es256(Box::new(ES256PublicKey::from_jwk(&json).ok()?)),
            ("EC", Some("P-384"), _) => PublicKey::Es384(Box::new(ES384PublicKey::from_jwk(&json).ok()?)),
            ("RSA", _, None | Some("RS256")) => PublicKey::Rs256(Box::new(RS256PublicKey::from_jwk(&json).ok()?)),
            _ => return None,
        };
        Some(Self { id: text("kid").map(str::to_owned), key })
    }
}

impl fmt::Debug for ExternalIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}
