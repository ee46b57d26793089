//! Automatic persisted queries, the protocol of Apollo's clients: they send a query's hash in place of its text, and the
//! text only if the server has not stored it yet.
//!
//! A text is stored once it has compiled. Its hash is computed here and must equal the client's. A caller finds the texts of all callers
//! with the same grants of the schema: a text of another caller may name what this one does not see. A query passes the same gates whether
//! its text or its hash was sent.

use std::mem;
use std::sync::Arc;

use crate::api::errors::api_error::ApiError;
use crate::api::graphql::request::envelope_error::EnvelopeError;
use crate::api::graphql::request::given_variables;
use crate::api::graphql::request::json_members::JsonMembers;
use crate::api::graphql::request::request_envelope::{GraphqlRequest, PERSISTED_QUERY};
use crate::api::query_texts::{QueryHash, QueryTexts};
use crate::catalog::grant_set::GrantSet;
use crate::error::code::ErrorCode;
use crate::http::connection::InFlightRequest;
use crate::query::{Request, Variables};

/// A request with its text.
#[derive(Debug, PartialEq)]
pub(crate) struct ResolvedQuery {
    pub request: Request,
    /// The hash under which to store the text, if the client sent both.
    new_hash: Option<QueryHash>,
    /// Bytes that are reserved for the values of variables.
    values_memory: usize,
}

/// Why a request has no query.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PersistedQueryError {
    /// Variables or extensions that cannot be read.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
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
        "\"extensions.persistedQuery.sha256Hash\" must be the SHA-256 of the query's text in 64 hexadecimal digits"
    )]
    MalformedHash,
    /// The hash of another text. The message is Apollo's own.
    #[error("provided sha does not match query")]
    HashMismatch,
    /// A text that is too large to be stored.
    #[error("the query has {bytes} bytes and {max} can be stored; send it without its hash")]
    TooLarge {
        /// The text's bytes.
        bytes: usize,
        /// Bytes that are allowed.
        max: usize,
    },
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
            PersistedQueryError::Envelope(error) => return error.into(),
            PersistedQueryError::NotFound => ErrorCode::PersistedQueryNotFound,
            PersistedQueryError::NotSupported => ErrorCode::PersistedQueryNotSupported,
            PersistedQueryError::TooLarge { .. } => ErrorCode::PersistedQueryTooLarge,
            PersistedQueryError::NoQuery
            | PersistedQueryError::NotAnObject
            | PersistedQueryError::Version
            | PersistedQueryError::MalformedHash
            | PersistedQueryError::HashMismatch => ErrorCode::BadUserInput,
        };
        let response = Self::new(code, &error);
        match error {
            PersistedQueryError::TooLarge { bytes, max } => {
                response.with_extension("bytes", bytes as u64).with_extension("maxBytes", max as u64)
            }
            _ => response,
        }
    }
}

/// The request with its text: the one that was sent, or the one whose hash was sent. Finds texts that compiled for callers who hold the
/// same `grants`: others may name what this one does not see.
pub(crate) fn resolve(
    texts: &QueryTexts,
    grants: GrantSet,
    envelope: GraphqlRequest,
) -> Result<ResolvedQuery, PersistedQueryError> {
    let GraphqlRequest { query, operation_name, variables, extensions, values_memory, document_id: _ } = envelope;
    let (query, new_hash) = match (query, hash(extensions.as_deref())?) {
        (_, Some(_)) if !texts.is_enabled() => return Err(PersistedQueryError::NotSupported),
        (Some(query), Some(_)) if query.len() > texts.max_text() => {
            return Err(PersistedQueryError::TooLarge { bytes: query.len(), max: texts.max_text() });
        }
        (Some(query), Some(hash)) if QueryHash::of(&query) != hash => {
            return Err(PersistedQueryError::HashMismatch);
        }
        (Some(query), new_hash) => (query, new_hash.map(|hash| hash.among(grants))),
        (None, Some(hash)) => {
            (texts.get(&hash.among(grants)).ok_or(PersistedQueryError::NotFound)?.as_ref().to_owned(), None)
        }
        (None, None) => return Err(PersistedQueryError::NoQuery),
    };
    let variables = variables.map(|object| given_variables::named_in(&query, &object)).transpose()?.unwrap_or_default();
    Ok(ResolvedQuery { request: Request { query, operation_name, variables }, new_hash, values_memory })
}

impl ResolvedQuery {
    /// Drops the values of its variables, and the memory that is reserved for them.
    pub(crate) fn drop_variables(&mut self, in_flight: &mut InFlightRequest) {
        self.request.variables = Variables::new();
        in_flight.shrink(in_flight.reserved().saturating_sub(mem::take(&mut self.values_memory)));
    }
}

/// Stores the text of a query that has compiled for its caller, if the client sent its hash.
pub(crate) fn store(texts: &QueryTexts, caller: &Arc<str>, query: &mut ResolvedQuery) {
    if let Some(hash) = query.new_hash.take() {
        texts.insert(caller, hash, &query.request.query);
    }
}

/// The hash in a request's `extensions`, if there is one.
pub(crate) fn hash(extensions: Option<&str>) -> Result<Option<QueryHash>, PersistedQueryError> {
    let Some(extensions) = extensions else { return Ok(None) };
    let mut extension = match JsonMembers::of(extensions)?.take(PERSISTED_QUERY) {
        None | Some("null") => return Ok(None),
        Some(text) if text.starts_with('{') => JsonMembers::of(text)?,
        Some(_) => return Err(PersistedQueryError::NotAnObject),
    };
    if extension.take("version").and_then(|text| text.parse::<u64>().ok()) != Some(1) {
        return Err(PersistedQueryError::Version);
    }
    let hash = extension.take("sha256Hash").filter(|text| text.starts_with('"'));
    let hash: Option<String> = hash.and_then(|text| serde_json::from_str(text).ok());
    hash.and_then(|hash| QueryHash::parse(&hash)).map(Some).ok_or(PersistedQueryError::MalformedHash)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::query_texts::QueryTextOptions;

    /// The hash of `{__typename}`, from Apollo's documentation.
    const TYPENAME: &str = "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38";

    fn texts(capacity: usize) -> QueryTexts {
        QueryTexts::new(QueryTextOptions { capacity: Some(capacity), max_text: 1000 })
    }

    fn request(text: Option<&str>, extension: &Value) -> GraphqlRequest {
        let extensions = json!({ PERSISTED_QUERY: extension }).to_string().into();
        GraphqlRequest { query: text.map(str::to_owned), extensions: Some(extensions), ..GraphqlRequest::default() }
    }

    fn with_hash(text: Option<&str>, hash: &str) -> GraphqlRequest {
        request(text, &json!({"version": 1, "sha256Hash": hash}))
    }

    fn insert(texts: &QueryTexts, caller: &str, text: &str) {
        texts.insert(&caller.into(), QueryHash::of(text), text);
    }

    fn is_stored(texts: &QueryTexts, text: &str) -> bool {
        texts.get(&QueryHash::of(text)).is_some_and(|stored| &*stored == text)
    }

    #[test]
    fn finds_a_text_by_its_hash_once_it_is_stored() {
        let texts = texts(10_000);
        let not_found = || {
            matches!(
                resolve(&texts, GrantSet::default(), with_hash(None, TYPENAME)),
                Err(PersistedQueryError::NotFound)
            )
        };
        assert!(not_found());
        let mut query = resolve(&texts, GrantSet::default(), with_hash(Some("{__typename}"), TYPENAME)).unwrap();
        assert!(not_found());
        store(&texts, &"demo".into(), &mut query);
        for hash in [TYPENAME, &TYPENAME.to_uppercase()] {
            assert_eq!(resolve(&texts, GrantSet::default(), with_hash(None, hash)).unwrap(), query);
        }
        let mismatch = resolve(&texts, GrantSet::default(), with_hash(Some("{b}"), TYPENAME)).unwrap_err();
        assert_eq!(mismatch.to_string(), "provided sha does not match query");
        assert_eq!(resolve(&texts, GrantSet::default(), request(Some("{__typename}"), &Value::Null)).unwrap(), query);
    }

    #[test]
    fn evicts_the_least_recently_used_text_of_the_caller_who_has_most() {
        let text = |number: u32| format!("{{a{number:097}}}");
        // Eight texts of 100 bytes.
        let texts = texts(8 * 548);
        insert(&texts, "demo", &text(0));
        for number in 1..20 {
            insert(&texts, "other", &text(number));
            insert(&texts, "other", &text(0));
            assert!(is_stored(&texts, &text(1)), "it is the most recently used one each time");
        }
        let stored: Vec<u32> = (0..20).filter(|number| is_stored(&texts, &text(*number))).collect();
        assert_eq!(stored, [0, 1, 14, 15, 16, 17, 18, 19], "what `demo` stored stays its own");
        for number in 20..24 {
            insert(&texts, "demo", &text(number));
        }
        let stored: Vec<u32> = (0..24).filter(|number| is_stored(&texts, &text(*number))).collect();
        assert_eq!(stored, [16, 17, 18, 19, 20, 21, 22, 23], "an equal share for each: {stored:?}");
        insert(&texts, "third", &"x".repeat(8 * 548));
        assert!(is_stored(&texts, &text(23)), "a text that never fits evicts nothing");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn many_tiny_texts_take_no_more_memory_than_counted() {
        // Without the program's own pages, which depend on how it was compiled.
        let resident = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let kilobytes = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
            kilobytes.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
        };
        let texts = texts(8 << 20);
        insert(&texts, "demo", "{a}");
        let before = resident();
        for number in 0..250_000 {
            insert(&texts, "demo", &format!("{{a{number}}}"));
        }
        assert!(is_stored(&texts, "{a249999}") && !is_stored(&texts, "{a1}"));
        let grown = resident() - before;
        assert!(grown < 9 << 20, "{grown} bytes");
    }

    #[test]
    fn rejects_hashes_where_persisted_queries_are_switched_off() {
        let texts = QueryTexts::new(QueryTextOptions { capacity: None, max_text: 1000 });
        for text in [None, Some("{__typename}")] {
            let error = resolve(&texts, GrantSet::default(), with_hash(text, TYPENAME)).unwrap_err();
            assert!(matches!(error, PersistedQueryError::NotSupported), "{error}");
        }
        assert!(resolve(&texts, GrantSet::default(), request(Some("{a}"), &Value::Null)).is_ok());
    }

    #[test]
    fn rejects_malformed_hashes() {
        let texts = texts(1000);
        for (extension, part) in [
            (json!("x"), "must be a JSON object"),
            (json!({"sha256Hash": TYPENAME}), "version"),
            (json!({"version": 2, "sha256Hash": TYPENAME}), "version"),
            (json!({"version": 1}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": &TYPENAME[1..]}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": format!("{TYPENAME}0a")}), "sha256Hash"),
            (json!({"version": 1, "sha256Hash": "ab"}), "sha256Hash"),
        ] {
            let error = resolve(&texts, GrantSet::default(), request(Some("{a}"), &extension)).unwrap_err();
            assert!(error.to_string().contains(part), "{extension}: {error}");
        }
        assert!(resolve(&texts, GrantSet::default(), request(Some("{a}"), &Value::Null)).is_ok());
        assert!(resolve(&texts, GrantSet::default(), request(None, &Value::Null)).is_err());
    }
}
