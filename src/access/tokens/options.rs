//! The claims of tokens, and the keys that sign and verify them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::access::tokens::signing_key::Algorithm;

/// The claims of tokens, and the keys that sign and verify them.
#[derive(Debug, Clone)]
pub(crate) struct TokenOptions {
    /// The `iss` claim. Tokens with another one are rejected.
    pub(crate) issuer: String,
    /// The `aud` claim. If set, tokens without it are rejected.
    pub(crate) audience: Option<String>,
    /// How long a token is valid.
    pub(crate) lifetime: Duration,
    /// How far the clock of a token's issuer may be ahead of the server's. Does not extend a token's validity.
    pub(crate) leeway: Duration,
    /// The algorithm that signs.
    pub(crate) algorithm: Algorithm,
    /// The server's own keys.
    pub(crate) keys: KeySource,
    /// An issuer whose tokens are accepted beside the server's own.
    pub(crate) external: Option<ExternalIssuerOptions>,
}

/// The place of the server's own keys.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// In a folder, which is created with a first key if it has none.
    Folder(PathBuf),
    /// In a text: PEM blocks, or secrets separated by white space. The first key signs; all of them verify.
    Text(String),
}

/// An external issuer.
#[derive(Debug, Clone)]
pub(crate) struct ExternalIssuerOptions {
    /// The file of the issuer's public keys: a JWK set (RFC 7517).
    pub(crate) jwks_file: PathBuf,
    /// The `iss` claim of its tokens.
    pub(crate) issuer: String,
    /// The `aud` claim that its tokens must have. Without one, tokens that it issued for other services would be accepted.
    pub(crate) audience: String,
    /// The claim that has the name of an account.
    pub(crate) user_claim: String,
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            // The text is secret.
            Self::Text(_) => f.write_str("Text"),
        }
    }
}
