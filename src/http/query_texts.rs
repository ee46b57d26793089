//! The texts of persisted queries, found by their hashes.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use crate::byte_lru::ByteLru;

/// The hash of a query's text: SHA-256 in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct QueryHash(String);

/// Query texts by their hashes. The least recently used is evicted first.
#[derive(Debug)]
pub(crate) struct QueryTexts {
    /// `None` if persisted queries are switched off.
    texts: Option<Mutex<Texts>>,
}

/// Each text weighs its bytes.
type Texts = ByteLru<QueryHash, Arc<str>>;

impl QueryHash {
    /// The hash of a text.
    pub(crate) fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self(digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        }))
    }

    /// A hash from its digits; `None` if they are not 64 lower-case hexadecimal digits.
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let is_hash = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| Self(hex.to_owned()))
    }

    /// The digits.
    #[cfg(test)]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl QueryTexts {
    /// A store for texts of `max_bytes` together. `None` switches persisted queries off.
    pub(crate) fn new(max_bytes: Option<usize>) -> Self {
        Self { texts: max_bytes.map(|bytes| Mutex::new(Texts::new(bytes))) }
    }

    /// Whether persisted queries are switched on.
    pub(crate) fn is_enabled(&self) -> bool {
        self.texts.is_some()
    }

    /// The text with that hash, if it is stored.
    pub(crate) fn get(&self, hash: &QueryHash) -> Option<Arc<str>> {
        self.lock()?.get(hash).cloned()
    }

    /// Stores a text under its hash.
    pub(crate) fn insert(&self, hash: QueryHash, text: &str) {
        if let Some(mut texts) = self.lock() {
            texts.insert(hash, text.into(), text.len());
        }
    }

    /// The bytes of the stored texts.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.lock().map_or(0, |texts| texts.bytes())
    }

    /// Locks the texts. They hold no invariant that a panic elsewhere could have broken.
    fn lock(&self) -> Option<MutexGuard<'_, Texts>> {
        self.texts.as_ref().map(|texts| texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
