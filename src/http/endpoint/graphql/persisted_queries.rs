//! Automatic persisted queries, the protocol of Apollo's clients: they send a query's hash in place of its text, and the
//! text only if the server has not stored it yet.
//!
//! A text is stored once it has compiled. Its hash is computed here and must equal the client's. Texts are no secrets, so
//! all callers share the store: a query passes the same gates whether its text or its hash was sent.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::byte_lru::ByteLru;
use crate::error::code::ErrorCode;
use crate::http::api_error::ApiError;
use crate::http::endpoint::graphql::request_envelope::{GraphqlRequest, PERSISTED_QUERY};
use crate::query::Request;

/// The hash of a query's text: SHA-256 in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct QueryHash(String);

/// Query texts by their hashes. The least recently used is evicted first.
#[derive(Debug)]
pub(crate) struct PersistedQueries {
    /// `None` if persisted queries are switched off.
    texts: Option<Mutex<Texts>>,
}

/// A request with its text.
#[derive(Debug, PartialEq)]
pub(crate) struct ResolvedQuery {
    /// The request.
    pub request: Request,
    /// The hash under which to store the text, if the client sent both.
    new_hash: Option<QueryHash>,
}

/// Why a request has no query.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PersistedQueryError {
    /// Neither a text nor a hash.
    #[error("the request lacks the key \"query\", a string that holds a GraphQL document")]
    NoQuery,
    /// The extension is not an object.
    #[error("\"extensions.persistedQuery\" must be a JSON object or null")]
    NotAnObject,
    /// Another version of the protocol.
    #[error("Unsupported persisted query version: \"extensions.persistedQuery.version\" must be 1")]
    Version,
    /// A malformed hash.
    #[error(
        "\"extensions.persistedQuery.sha256Hash\" must be the SHA-256 of the query's text in 64 small hexadecimal digits"
    )]
    MalformedHash,
    /// The hash of another text. The message is Apollo's own.
    #[error("provided sha does not match query")]
    HashMismatch,
    /// No text is stored under the hash. Clients look for this message.
    #[error("PersistedQueryNotFound")]
    NotFound,
    /// Persisted queries are switched off. Clients look for this message.
    #[error("PersistedQueryNotSupported")]
    NotSupported,
}

/// Each text weighs its bytes.
type Texts = ByteLru<QueryHash, Arc<str>>;

impl From<PersistedQueryError> for ApiError {
    fn from(error: PersistedQueryError) -> Self {
        let code = match error {
            PersistedQueryError::NotFound => ErrorCode::PersistedQueryNotFound,
            PersistedQueryError::NotSupported => ErrorCode::PersistedQueryNotSupported,
            PersistedQueryError::NoQuery
            | PersistedQueryError::NotAnObject
            | PersistedQueryError::Version
            | PersistedQueryError::MalformedHash
            | PersistedQueryError::HashMismatch => ErrorCode::BadUserInput,
        };
        Self::new(code, &error)
    }
}

impl QueryHash {
    fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self(digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        }))
    }

    /// The hash in a request's `extensions`, if there is one.
    fn read(extensions: &Map<String, Value>) -> Result<Option<Self>, PersistedQueryError> {
        let extension = match extensions.get(PERSISTED_QUERY) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(extension)) => extension,
            Some(_) => return Err(PersistedQueryError::NotAnObject),
        };
        if extension.get("version").and_then(Value::as_u64) != Some(1) {
            return Err(PersistedQueryError::Version);
        }
        match extension.get("sha256Hash").and_then(Value::as_str) {
            Some(hex) if hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
                Ok(Some(Self(hex.to_owned())))
            }
            _ => Err(PersistedQueryError::MalformedHash),
        }
    }
}

impl PersistedQueries {
    /// A store for texts of `max_bytes` together. `None` switches persisted queries off.
    pub(crate) fn new(max_bytes: Option<usize>) -> Self {
        Self { texts: max_bytes.map(|bytes| Mutex::new(Texts::new(bytes))) }
    }

    /// The request with its text: the one that was sent, or the one whose hash was sent.
    pub(crate) fn resolve(&self, envelope: GraphqlRequest) -> Result<ResolvedQuery, PersistedQueryError> {
        let GraphqlRequest { query, operation_name, variables, extensions } = envelope;
        let (query, new_hash) = match (query, QueryHash::read(&extensions)?) {
            (_, Some(_)) if self.texts.is_none() => return Err(PersistedQueryError::NotSupported),
            (Some(query), Some(hash)) if QueryHash::of(&query) != hash => {
                return Err(PersistedQueryError::HashMismatch);
            }
            (Some(query), new_hash) => (query, new_hash),
            (None, Some(hash)) => {
                let text = self.texts().and_then(|mut texts| texts.get(&hash).cloned());
                (text.ok_or(PersistedQueryError::NotFound)?.as_ref().to_owned(), None)
            }
            (None, None) => return Err(PersistedQueryError::NoQuery),
        };
        Ok(ResolvedQuery { request: Request { query, operation_name, variables }, new_hash })
    }

    /// Stores the text of a query that has compiled, if the client sent its hash.
    pub(crate) fn store(&self, query: &mut ResolvedQuery) {
        if let Some(hash) = query.new_hash.take()
            && let Some(mut texts) = self.texts()
        {
            let text = query.request.query.as_str();
            texts.insert(hash, text.into(), text.len());
        }
    }

    /// Locks the texts. They hold no invariant that a panic elsewhere could have broken.
    fn texts(&self) -> Option<MutexGuard<'_, Texts>> {
        self.texts.as_ref().map(|texts| texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A request with a text, and with the hash of `named`.
    fn envelope(text: Option<&str>, named: Option<&str>) -> GraphqlRequest {
        let extension = named.map(|named| json!({"version": 1, "sha256Hash": QueryHash::of(named).0}));
        with_extension(text, extension.unwrap_or_default())
    }

    fn with_extension(text: Option<&str>, extension: Value) -> GraphqlRequest {
        let extensions = Map::from_iter([(PERSISTED_QUERY.to_owned(), extension)]);
        GraphqlRequest { query: text.map(str::to_owned), extensions, ..GraphqlRequest::default() }
    }

    fn resolved(text: &str) -> ResolvedQuery {
        ResolvedQuery { request: Request { query: text.to_owned(), ..Request::default() }, new_hash: None }
    }

    fn is_stored(store: &PersistedQueries, text: &str) -> bool {
        match store.resolve(envelope(None, Some(text))) {
            Ok(query) => query == resolved(text),
            Err(PersistedQueryError::NotFound) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn insert(store: &PersistedQueries, text: &str) {
        store.store(&mut store.resolve(envelope(Some(text), Some(text))).unwrap());
    }

    #[test]
    fn computes_hashes_as_clients_do() {
        // The example of Apollo's documentation.
        let hash = QueryHash::of("{__typename}").0;
        assert_eq!(hash, "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38");
    }

    #[test]
    fn finds_a_text_by_its_hash_once_it_is_stored() {
        let store = PersistedQueries::new(Some(1000));
        assert!(!is_stored(&store, "{a}"));
        let mut query = store.resolve(envelope(Some("{a}"), Some("{a}"))).unwrap();
        assert!(!is_stored(&store, "{a}"));
        store.store(&mut query);
        assert!(is_stored(&store, "{a}"));
        let mismatch = store.resolve(envelope(Some("{b}"), Some("{a}"))).unwrap_err();
        assert_eq!(mismatch.to_string(), "provided sha does not match query");
        assert_eq!(store.resolve(envelope(Some("{b}"), None)).unwrap(), resolved("{b}"));
    }

    #[test]
    fn stays_within_its_bytes_and_evicts_the_least_recently_used() {
        let store = PersistedQueries::new(Some(10));
        insert(&store, "{aa}");
        insert(&store, "{bb}");
        insert(&store, "{bb}");
        assert!(is_stored(&store, "{aa}"));
        insert(&store, "{cc}");
        assert!(is_stored(&store, "{aa}") && is_stored(&store, "{cc}"));
        assert!(!is_stored(&store, "{bb}"));
        insert(&store, "{too long for it}");
        assert!(is_stored(&store, "{aa}") && is_stored(&store, "{cc}"));
        assert_eq!(store.texts().unwrap().bytes(), 8);
    }

    #[test]
    fn rejects_hashes_where_persisted_queries_are_switched_off() {
        let store = PersistedQueries::new(None);
        for text in [None, Some("{a}")] {
            let error = store.resolve(envelope(text, Some("{a}"))).unwrap_err();
            assert!(matches!(error, PersistedQueryError::NotSupported), "{error}");
        }
        assert!(store.resolve(envelope(Some("{a}"), None)).is_ok());
    }

    #[test]
    fn rejects_malformed_hashes() {
        let store = PersistedQueries::new(Some(1000));
        let hash = QueryHash::of("{a}").0;
        for (extension, part) in [
            (json!("x"), "must be a JSON object"),
            (json!({"sha256Hash": hash}), "version"),
            (json!({"version": 2, "sha256Hash": hash}), "version"),
            (json!({"version": 1}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": hash.to_uppercase()}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": "ab"}), "sha256Hash"),
        ] {
            let error = store.resolve(with_extension(Some("{a}"), extension.clone())).unwrap_err();
            assert!(error.to_string().contains(part), "{extension}: {error}");
        }
        assert!(store.resolve(with_extension(Some("{a}"), Value::Null)).is_ok());
        assert!(store.resolve(with_extension(None, Value::Null)).is_err());
    }
}
