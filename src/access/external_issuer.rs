//! Tokens of an external issuer, verified with its public keys from a file (a JWK set, RFC 7517).

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

/// Whose tokens are accepted beside our own.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file of the issuer's public keys.
    pub jwks_file: PathBuf,
    /// The `iss` claim of its tokens.
    pub issuer: String,
    /// The `aud` claim that its tokens must have: without one, tokens that it made for others would be good here.
    pub audience: String,
    /// The claim that names one of our accounts.
    pub user_claim: String,
}

/// The issuer's keys as last read.
pub struct ExternalIssuer {
    keys: Vec<Key>,
}

struct Key {
    id: Option<String>,
    material: Material,
}

/// A key verifies one algorithm, whatever a token asks for.
enum Material {
    Ed25519(Box<Ed25519PublicKey>),
    Es256(Box<ES256PublicKey>),
    Es384(Box<ES384PublicKey>),
    Rs256(Box<RS256PublicKey>),
}

/// Claims beside the registered ones.
pub type Others = Map<String, Value>;

/// Why the issuer's keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExternalIssuerError {
    /// The file cannot be read.
    #[error("cannot read the external issuer's keys in {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file is something else.
    #[error("{} is no JWK set: an object with a list `keys` of JSON Web Keys", .0.display())]
    NotASet(PathBuf),
    /// No key of it can be used.
    #[error("{} has no key that verifies EdDSA, ES256, ES384 or RS256", .0.display())]
    NoKey(PathBuf),
}

impl ExternalIssuer {
    /// Reads the keys. Those of kinds that are not known here, or that encrypt, are left out.
    pub fn read(options: &Options) -> Result<Self, ExternalIssuerError> {
        let path = &options.jwks_file;
        let text = fs::read(path).map_err(|error| ExternalIssuerError::File(path.clone(), error))?;
        let set: Value = serde_json::from_slice(&text).map_err(|_| ExternalIssuerError::NotASet(path.clone()))?;
        let keys =
            set.get("keys").and_then(Value::as_array).ok_or_else(|| ExternalIssuerError::NotASet(path.clone()))?;
        let keys: Vec<Key> = keys.iter().filter_map(Key::read).collect();
        if keys.is_empty() { Err(ExternalIssuerError::NoKey(path.clone())) } else { Ok(Self { keys }) }
    }

    /// The claims of a token that one of the keys signed. `None` where the token names none of them; a token that names
    /// no key is verified where there is just one.
    pub fn verify(
        &self,
        key_id: Option<&str>,
        token: &str,
        expected: &VerificationOptions,
    ) -> Option<Result<JWTClaims<Others>, JwtError>> {
        let key = match (key_id, self.keys.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id))?,
            (None, [key]) => key,
            (None, _) => return None,
        };
        let expected = Some(expected.clone());
        Some(match &key.material {
            Material::Ed25519(key) => key.verify_token(token, expected),
            Material::Es256(key) => key.verify_token(token, expected),
            Material::Es384(key) => key.verify_token(token, expected),
            Material::Rs256(key) => key.verify_token(token, expected),
        })
    }
}

impl Key {
    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let json = jwk.to_string();
        let material = match (text("kty")?, text("crv"), text("alg")) {
            ("OKP", Some("Ed25519"), _) => Material::Ed25519(Box::new(Ed25519PublicKey::from_jwk(&json).ok()?)),
            ("EC", Some("P-256"), _) => Material::Es256(Box::new(ES256PublicKey::from_jwk(&json).ok()?)),
            ("EC", Some("P-384"), _) => Material::Es384(Box::new(ES384PublicKey::from_jwk(&json).ok()?)),
            ("RSA", _, None | Some("RS256")) => Material::Rs256(Box::new(RS256PublicKey::from_jwk(&json).ok()?)),
            _ => return None,
        };
        Some(Self { id: text("kid").map(str::to_owned), material })
    }
}

impl fmt::Debug for ExternalIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}
