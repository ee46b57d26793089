//! Automatic persisted queries, the protocol of Apollo's clients: a query's hash is sent in place of its text, and the
//! text only where the hash is not known yet.
//!
//! A text is kept once it was found to be valid, and a hash is held against the text that comes with it. Texts are no
//! secrets and are kept for all callers together: who sends a hash has the same gates before them as who sends a text.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::byte_lru::ByteLru;
use crate::http::request_error::RequestError;

/// The key in a request's `extensions`.
pub const EXTENSION: &str = "persistedQuery";

/// The hash of a query's text: SHA-256 in small hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hash(String);

/// The texts by their hashes. The least recently used is evicted first.
#[derive(Debug)]
pub struct Store {
    /// `None` where persisted queries are off.
    texts: Option<Mutex<Texts>>,
}

/// Each text weighs its bytes.
type Texts = ByteLru<Hash, Arc<str>>;

/// A query's text, and the hash under which to keep it if it turns out to be valid.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The text.
    pub query: String,
    /// The hash, where the client has told it beside the text.
    pub newcomer: Option<Hash>,
}

impl Hash {
    fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self(digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        }))
    }

    /// The hash that a request's `extensions` name, if they name one.
    fn read(extensions: &Map<String, Value>) -> Result<Option<Self>, RequestError> {
        let refuse = |what: &str| Err(RequestError::NotAGraphqlRequest(what.to_owned()));
        let named = match extensions.get(EXTENSION) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(named)) => named,
            Some(_) => return refuse("\"extensions.persistedQuery\" must be a JSON object or null"),
        };
        if named.get("version").and_then(Value::as_u64) != Some(1) {
            return refuse("Unsupported persisted query version: \"extensions.persistedQuery.version\" must be 1");
        }
        match named.get("sha256Hash").and_then(Value::as_str) {
            Some(hex) if hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
                Ok(Some(Self(hex.to_owned())))
            }
            _ => refuse(
                "\"extensions.persistedQuery.sha256Hash\" must be the SHA-256 of the query's text in 64 small \
                 hexadecimal digits",
            ),
        }
    }
}

impl Store {
    /// A store whose texts have so many bytes together at most; `None` turns persisted queries off.
    pub fn new(capacity_bytes: Option<usize>) -> Self {
        Self { texts: capacity_bytes.map(|bytes| Mutex::new(Texts::new(bytes))) }
    }

    /// The text to be executed: the one that came, or the one whose hash came.
    pub fn resolve(&self, query: Option<String>, extensions: &Map<String, Value>) -> Result<Resolved, RequestError> {
        let hash = Hash::read(extensions)?;
        match (query, hash) {
            (_, Some(_)) if self.texts.is_none() => Err(RequestError::PersistedQueryNotSupported),
            (Some(query), Some(hash)) if Hash::of(&query) != hash => {
                // Apollo's own words.
                Err(RequestError::NotAGraphqlRequest("provided sha does not match query".to_owned()))
            }
            (Some(query), newcomer) => Ok(Resolved { query, newcomer }),
            (None, Some(hash)) => {
                let known = self.texts().and_then(|mut texts| texts.get(&hash).cloned());
                let query = known.ok_or(RequestError::PersistedQueryNotFound)?.as_ref().to_owned();
                Ok(Resolved { query, newcomer: None })
            }
            (None, None) => Err(RequestError::NotAGraphqlRequest(
                "the request lacks the key \"query\", a string that holds a GraphQL document".to_owned(),
            )),
        }
    }

    /// Keeps a text that is valid.
    pub fn keep(&self, hash: Hash, text: &str) {
        if let Some(mut texts) = self.texts() {
            texts.insert(hash, text.into(), text.len());
        }
    }

    /// They hold no invariant that a panic elsewhere could have broken.
    fn texts(&self) -> Option<MutexGuard<'_, Texts>> {
        self.texts.as_ref().map(|texts| texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn extensions(persisted: Value) -> Map<String, Value> {
        Map::from_iter([(EXTENSION.to_owned(), persisted)])
    }

    fn naming(text: &str) -> Map<String, Value> {
        extensions(json!({"version": 1, "sha256Hash": Hash::of(text).0}))
    }

    fn known(store: &Store, text: &str) -> bool {
        match store.resolve(None, &naming(text)) {
            Ok(resolved) => resolved == Resolved { query: text.to_owned(), newcomer: None },
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn hashes_are_written_as_clients_write_them() {
        // The example of Apollo's documentation.
        let hash = Hash::of("{__typename}").0;
        assert_eq!(hash, "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38");
    }

    #[test]
    fn a_text_is_found_by_its_hash_once_it_was_kept() {
        let store = Store::new(Some(1000));
        assert!(matches!(store.resolve(None, &naming("{a}")), Err(RequestError::PersistedQueryNotFound)));
        let first = store.resolve(Some("{a}".into()), &naming("{a}")).unwrap();
        assert!(matches!(store.resolve(None, &naming("{a}")), Err(RequestError::PersistedQueryNotFound)));
        store.keep(first.newcomer.unwrap(), &first.query);
        assert!(known(&store, "{a}"));
        let mismatch = store.resolve(Some("{b}".into()), &naming("{a}")).unwrap_err();
        assert_eq!(mismatch.to_string(), "provided sha does not match query");
        let plain = store.resolve(Some("{b}".into()), &Map::new()).unwrap();
        assert_eq!(plain, Resolved { query: "{b}".into(), newcomer: None });
    }

    #[test]
    fn the_store_keeps_to_its_bytes_and_forgets_the_least_recently_used() {
        let store = Store::new(Some(10));
        let keep = |text: &str| store.keep(Hash::of(text), text);
        keep("{aa}");
        keep("{bb}");
        keep("{bb}");
        assert!(known(&store, "{aa}"));
        keep("{cc}");
        assert!(known(&store, "{aa}") && known(&store, "{cc}"));
        assert!(store.resolve(None, &naming("{bb}")).is_err());
        keep("{too long for it}");
        assert!(known(&store, "{aa}") && known(&store, "{cc}"));
        assert_eq!(store.texts().unwrap().bytes(), 8);
    }

    #[test]
    fn without_a_store_clients_are_told_to_stop_asking() {
        let store = Store::new(None);
        for query in [None, Some("{a}".to_owned())] {
            assert!(matches!(store.resolve(query, &naming("{a}")), Err(RequestError::PersistedQueryNotSupported)));
        }
        assert!(store.resolve(Some("{a}".into()), &Map::new()).is_ok());
    }

    #[test]
    fn what_names_no_hash_is_refused_with_what_would() {
        let store = Store::new(Some(1000));
        let hash = Hash::of("{a}").0;
        for (persisted, part) in [
            (json!("x"), "must be a JSON object"),
            (json!({"sha256Hash": hash}), "version"),
            (json!({"version": 2, "sha256Hash": hash}), "version"),
            (json!({"version": 1}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": hash.to_uppercase()}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": "ab"}), "sha256Hash"),
        ] {
            let error = store.resolve(Some("{a}".into()), &extensions(persisted.clone())).unwrap_err();
            assert!(error.to_string().contains(part), "{persisted}: {error}");
        }
        assert!(store.resolve(Some("{a}".into()), &extensions(Value::Null)).is_ok());
        assert!(store.resolve(None, &extensions(Value::Null)).is_err());
    }
}
