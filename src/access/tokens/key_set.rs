//! All keys in force at one moment, with a cache of the tokens that they have verified.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use lru::LruCache;

use crate::access::tokens::external_issuer::{ExternalIssuer, ExternalIssuerError};
use crate::access::tokens::key_folder;
use crate::access::tokens::options::{ExternalIssuerOptions, KeySource};
use crate::access::tokens::signing_key::{self, Algorithm, KeyError, SigningKey};

/// Verified tokens in the cache. A token is some 300 bytes, so these are a few MiB at most.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(8192).unwrap();

/// The claims of a verified token.
#[derive(Debug, Clone)]
pub(crate) struct VerifiedToken {
    /// The bearer's account.
    pub(crate) user_id: Arc<str>,
    /// Seconds since 1970 at which the token was issued; 0 if it does not say when.
    pub(crate) issued_at: u64,
    /// Seconds since 1970 at which the token expires.
    pub(crate) expires_at: u64,
}

/// The keys in force.
#[derive(Debug)]
pub(crate) struct KeySet {
    /// The server's own keys, the newest last.
    pub(crate) own: Vec<SigningKey>,
    /// The keys of the external issuer.
    pub(crate) external: Option<Arc<ExternalIssuer>>,
    /// Tokens that these keys have verified. The cache is dropped with the keys, so no token outlives its key.
    verified: Mutex<LruCache<Box<str>, VerifiedToken>>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeySetError {
    /// The server's own keys cannot be used.
    #[error(transparent)]
    Own(#[from] KeyError),
    /// The external issuer's keys cannot be used.
    #[error(transparent)]
    ExternalIssuer(#[from] ExternalIssuerError),
}

impl KeySet {
    /// Reads all keys.
    pub(crate) fn read(
        source: &KeySource,
        algorithm: Algorithm,
        external: Option<&ExternalIssuerOptions>,
    ) -> Result<Self, KeySetError> {
        Ok(Self::new(read_own(source, algorithm)?, read_external(external)?))
    }

    /// A set of these keys, which have verified no token yet.
    pub(super) fn new(own: Vec<SigningKey>, external: Option<Arc<ExternalIssuer>>) -> Self {
        Self { own, external, verified: Mutex::new(LruCache::new(CACHE_SIZE)) }
    }

    /// The server's key with this id.
    pub(crate) fn own_key(&self, id: &str) -> Option<&SigningKey> {
        self.own.iter().find(|key| key.id() == id)
    }

    /// The token's entry in the cache.
    pub(crate) fn cached(&self, token: &str) -> Option<VerifiedToken> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// Adds a token to the cache.
    pub(crate) fn cache(&self, token: &str, verified: VerifiedToken) {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).put(token.into(), verified);
    }

    /// The ids of the server's own keys, and when each was created.
    pub(crate) fn ids(&self) -> Vec<(&str, SystemTime)> {
        ids(&self.own)
    }
}

/// Reads the server's own keys. Only keys of the algorithm are in force.
pub(super) fn read_own(source: &KeySource, algorithm: Algorithm) -> Result<Vec<SigningKey>, KeySetError> {
    let mut own = match source {
        KeySource::Folder(folder) => key_folder::read(folder)?,
        KeySource::Text(text) => signing_key::parse_text(text, algorithm)?,
    };
    own.retain(|key| key.algorithm() == algorithm);
    Ok(own)
}

/// Reads the keys of the external issuer, if there is one.
pub(super) fn read_external(
    options: Option<&ExternalIssuerOptions>,
) -> Result<Option<Arc<ExternalIssuer>>, KeySetError> {
    Ok(options.map(ExternalIssuer::read).transpose()?.map(Arc::new))
}

/// The ids of keys, and when each was created.
pub(super) fn ids(keys: &[SigningKey]) -> Vec<(&str, SystemTime)> {
    keys.iter().map(|key| (key.id(), key.created())).collect()
}
