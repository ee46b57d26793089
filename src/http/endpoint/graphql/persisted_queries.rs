//! Automatic persisted queries, the protocol of Apollo's clients: they send a query's hash in place of its text, and the
//! text only if the server has not stored it yet.
//!
//! A text is stored once it has compiled. Its hash is computed here and must equal the client's. Texts are no secrets, so
//! all callers share the store: a query passes the same gates whether its text or its hash was sent.

use serde_json::{Map, Value};

use crate::error::code::ErrorCode;
use crate::http::api_error::ApiError;
use crate::http::endpoint::graphql::request_envelope::{GraphqlRequest, PERSISTED_QUERY};
use crate::http::query_texts::{QueryHash, QueryTexts};
use crate::query::Request;

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

/// The request with its text: the one that was sent, or the one whose hash was sent.
pub(crate) fn resolve(texts: &QueryTexts, envelope: GraphqlRequest) -> Result<ResolvedQuery, PersistedQueryError> {
    let GraphqlRequest { query, operation_name, variables, extensions } = envelope;
    let (query, new_hash) = match (query, read_hash(&extensions)?) {
        (_, Some(_)) if !texts.is_enabled() => return Err(PersistedQueryError::NotSupported),
        (Some(query), Some(hash)) if QueryHash::of(&query) != hash => {
            return Err(PersistedQueryError::HashMismatch);
        }
        (Some(query), new_hash) => (query, new_hash),
        (None, Some(hash)) => (texts.get(&hash).ok_or(PersistedQueryError::NotFound)?.as_ref().to_owned(), None),
        (None, None) => return Err(PersistedQueryError::NoQuery),
    };
    Ok(ResolvedQuery { request: Request { query, operation_name, variables }, new_hash })
}

/// Stores the text of a query that has compiled, if the client sent its hash.
pub(crate) fn store(texts: &QueryTexts, query: &mut ResolvedQuery) {
    if let Some(hash) = query.new_hash.take() {
        texts.insert(hash, &query.request.query);
    }
}

/// The hash in a request's `extensions`, if there is one.
fn read_hash(extensions: &Map<String, Value>) -> Result<Option<QueryHash>, PersistedQueryError> {
    let extension = match extensions.get(PERSISTED_QUERY) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(extension)) => extension,
        Some(_) => return Err(PersistedQueryError::NotAnObject),
    };
    if extension.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(PersistedQueryError::Version);
    }
    let hash = extension.get("sha256Hash").and_then(Value::as_str).and_then(QueryHash::parse);
    hash.map(Some).ok_or(PersistedQueryError::MalformedHash)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A request with a text, and with the hash of `named`.
    fn envelope(text: Option<&str>, named: Option<&str>) -> GraphqlRequest {
        let extension = named.map(|named| json!({"version": 1, "sha256Hash": QueryHash::of(named).as_str()}));
        with_extension(text, extension.unwrap_or_default())
    }

    fn with_extension(text: Option<&str>, extension: Value) -> GraphqlRequest {
        let extensions = Map::from_iter([(PERSISTED_QUERY.to_owned(), extension)]);
        GraphqlRequest { query: text.map(str::to_owned), extensions, ..GraphqlRequest::default() }
    }

    fn resolved(text: &str) -> ResolvedQuery {
        ResolvedQuery { request: Request { query: text.to_owned(), ..Request::default() }, new_hash: None }
    }

    fn is_stored(texts: &QueryTexts, text: &str) -> bool {
        match resolve(texts, envelope(None, Some(text))) {
            Ok(query) => query == resolved(text),
            Err(PersistedQueryError::NotFound) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn insert(texts: &QueryTexts, text: &str) {
        store(texts, &mut resolve(texts, envelope(Some(text), Some(text))).unwrap());
    }

    #[test]
    fn computes_hashes_as_clients_do() {
        // The example of Apollo's documentation.
        let hash = QueryHash::of("{__typename}");
        assert_eq!(hash.as_str(), "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38");
    }

    #[test]
    fn finds_a_text_by_its_hash_once_it_is_stored() {
        let texts = QueryTexts::new(Some(1000));
        assert!(!is_stored(&texts, "{a}"));
        let mut query = resolve(&texts, envelope(Some("{a}"), Some("{a}"))).unwrap();
        assert!(!is_stored(&texts, "{a}"));
        store(&texts, &mut query);
        assert!(is_stored(&texts, "{a}"));
        let mismatch = resolve(&texts, envelope(Some("{b}"), Some("{a}"))).unwrap_err();
        assert_eq!(mismatch.to_string(), "provided sha does not match query");
        assert_eq!(resolve(&texts, envelope(Some("{b}"), None)).unwrap(), resolved("{b}"));
    }

    #[test]
    fn stays_within_its_bytes_and_evicts_the_least_recently_used() {
        let texts = QueryTexts::new(Some(10));
        insert(&texts, "{aa}");
        insert(&texts, "{bb}");
        insert(&texts, "{bb}");
        assert!(is_stored(&texts, "{aa}"));
        insert(&texts, "{cc}");
        assert!(is_stored(&texts, "{aa}") && is_stored(&texts, "{cc}"));
        assert!(!is_stored(&texts, "{bb}"));
        insert(&texts, "{too long for it}");
        assert!(is_stored(&texts, "{aa}") && is_stored(&texts, "{cc}"));
        assert_eq!(texts.bytes(), 8);
    }

    #[test]
    fn rejects_hashes_where_persisted_queries_are_switched_off() {
        let texts = QueryTexts::new(None);
        for text in [None, Some("{a}")] {
            let error = resolve(&texts, envelope(text, Some("{a}"))).unwrap_err();
            assert!(matches!(error, PersistedQueryError::NotSupported), "{error}");
        }
        assert!(resolve(&texts, envelope(Some("{a}"), None)).is_ok());
    }

    #[test]
    fn rejects_malformed_hashes() {
        let texts = QueryTexts::new(Some(1000));
        let hash = QueryHash::of("{a}").as_str().to_owned();
        for (extension, part) in [
            (json!("x"), "must be a JSON object"),
            (json!({"sha256Hash": hash}), "version"),
            (json!({"version": 2, "sha256Hash": hash}), "version"),
            (json!({"version": 1}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": hash.to_uppercase()}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": "ab"}), "sha256Hash"),
        ] {
            let error = resolve(&texts, with_extension(Some("{a}"), extension.clone())).unwrap_err();
            assert!(error.to_string().contains(part), "{extension}: {error}");
        }
        assert!(resolve(&texts, with_extension(Some("{a}"), Value::Null)).is_ok());
        assert!(resolve(&texts, with_extension(None, Value::Null)).is_err());
    }
}
