//! Why a token is rejected, and why none can be issued.

use std::error::Error;
use std::path::PathBuf;

use crate::access::tokens::key_set::KeySetError;

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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
    /// It is malformed, altered, signed with another key or algorithm, or issued for another audience or by another issuer.
    /// The message does not say which, because that would help to forge one.
    #[error("the token is not one of this service's")]
    NotAccepted,
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
