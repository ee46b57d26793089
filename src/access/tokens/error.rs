//! Why a token is rejected, and why none can be issued.

use std::error::Error;
use std::path::PathBuf;

use crate::access::tokens::key_set::KeySetError;

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum BadToken {
    /// It has expired.
    #[error("the token has expired; get a new one")]
    Expired,
    /// Its claim `nbf` or `iat` is in the future.
    #[error("the token is not valid yet")]
    NotYet,
    /// It was issued before its account was created, for another account of that name; or before the account's password was changed.
    #[error("the token is older than its account or the account's password; get a new one")]
    Superseded,
    /// The message does not say why, because that would help to forge one. The log does.
    #[error("the token is not one of this service's")]
    NotAccepted(TokenFault),
}

/// Why a token is not one of this service's. The further it came, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TokenFault {
    /// It is no JSON Web Token, or too long.
    Malformed,
    /// No key in force has its `kid`, or it has none and there are no keys of an external issuer.
    Key,
    /// The key is for another algorithm.
    Algorithm,
    Signature,
    Issuer,
    Audience,
    /// It has no `exp`.
    Expiry,
    /// It does not name a user.
    User,
}

impl TokenFault {
    /// Its name in the log.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Key => "kid",
            Self::Algorithm => "alg",
            Self::Signature => "signature",
            Self::Issuer => "iss",
            Self::Audience => "aud",
            Self::Expiry => "exp",
            Self::User => "user",
        }
    }
}

/// Why tokens cannot be issued or verified.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeySetError),
    /// The folder has no key of the algorithm. Only a server creates the first one.
    #[error(
        "there is no {algorithm} key in {}; run this with the server's key folder (--key-folder or ORDERQL_KEY_FOLDER), \
         whose first key the server makes when it starts", .folder.display()
    )]
    NoKeyIn {
        /// The algorithm that signs.
        algorithm: &'static str,
        folder: PathBuf,
    },
    /// All keys were removed.
    #[error("there is no key to sign a token with; make one with `orderql keys rotate`")]
    NoKey,
    /// Signing failed.
    #[error("cannot sign a token")]
    Sign(#[source] Box<dyn Error + Send + Sync>),
}
