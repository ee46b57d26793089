//! The one place where a denial becomes a status, headers and JSON.
//!
//! Every denial has the shape of a GraphQL error, on every endpoint but the order update's, whose clients are OFBiz's:
//! `{"errors": [{"message", "extensions": {"code"}}]}`. On the GraphQL endpoint `application/json` answers 200 to every
//! well-formed request, refused or not, and a refusal has `data: null` (the specification);
//! `application/graphql-response+json` has the status that tells what happened and no `data` (GraphQL-over-HTTP).

use std::time::Duration;

use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::access::lockout::Locked;
use crate::http::denial::Denial;
use crate::http::envelope::{self, CostExtension};
use crate::http::negotiate::Media;
use crate::http::response::{Answer, with_json};
use crate::throttle::bucket::Empty;

/// When to come back to a service that has no room.
const SOON: Duration = Duration::from_secs(1);

/// A denial's body.
#[derive(Serialize)]
struct Body<'a> {
    /// Null where it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<()>,
    errors: Errors<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<envelope::Extensions<'a>>,
}

/// A denial as every endpoint but GraphQL's answers it.
pub fn deny(denial: &Denial) -> Answer {
    let body = Body { data: None, errors: Errors(denial), extensions: None };
    let mut answer = with_json(denial.status(), Media::Json, &body);
    add_headers(denial, answer.headers_mut());
    answer
}

/// A denial as the GraphQL endpoint answers it.
pub fn deny_graphql(denial: &Denial, media: Media) -> Answer {
    let status = match media {
        Media::Json if denial.is_of_graphql() => StatusCode::OK,
        _ => denial.status(),
    };
    // On the newer type it goes with success, and with nothing else.
    let data = (media == Media::Json || status.is_success()).then_some(());
    let extensions = cost(denial).map(|cost| envelope::Extensions { cost });
    let mut answer = with_json(status, media, &Body { data, errors: Errors(denial), extensions });
    add_headers(denial, answer.headers_mut());
    answer
}

/// A denial as the order update answers it, in the form that OFBiz's clients read.
pub fn deny_update(denial: &Denial) -> Answer {
    let message = denial.to_string();
    let body = json!({ "_ERROR_MESSAGE_": message, "_ERROR_MESSAGE_LIST_": [message] });
    let mut answer = with_json(denial.status(), Media::Json, &body);
    add_headers(denial, answer.headers_mut());
    answer
}

/// The entries of `errors`: a refusal's own, or the one of another denial.
struct Errors<'a>(&'a Denial);

impl Serialize for Errors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Denial::Refused(refusals) => refusals.serialize(serializer),
            denial => [Entry { message: denial.to_string(), extensions: Extensions(denial) }].serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    message: String,
    extensions: Extensions<'a>,
}

/// The code, and what a program has to know beside it.
struct Extensions<'a>(&'a Denial);

impl Serialize for Extensions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.0.code())?;
        match self.0 {
            Denial::Throttled(empty) => {
                map.serialize_entry("requestedQueryCost", &empty.credits)?;
                map.serialize_entry("currentlyAvailable", &empty.status.currently_available)?;
                map.serialize_entry("retryAfterMs", &empty.retry_after.map(milliseconds))?;
            }
            Denial::TooManyRunning { limit, cost, .. } => {
                map.serialize_entry("estimatedCost", cost)?;
                map.serialize_entry("maxConcurrentQueries", limit)?;
                map.serialize_entry("retryAfterMs", &milliseconds(SOON))?;
            }
            Denial::Locked(locked) => map.serialize_entry("retryAfterMs", &milliseconds(locked.retry_after))?,
            Denial::DeadlineExceeded { deadline, .. } => map.serialize_entry("deadlineMs", &milliseconds(*deadline))?,
            Denial::Unavailable(_) => map.serialize_entry("retryAfterMs", &milliseconds(SOON))?,
            Denial::Fault { request_id, .. } => map.serialize_entry("requestId", request_id)?,
            _ => {}
        }
        map.end()
    }
}

/// What a denied query would have cost, where the bucket was asked.
fn cost(denial: &Denial) -> Option<CostExtension<'static>> {
    let (requested_query_cost, throttle_status) = match denial {
        Denial::Throttled(empty) => (empty.credits, empty.status),
        Denial::DeadlineExceeded { cost, status, .. } | Denial::TooManyRunning { cost, status, .. } => (*cost, *status),
        _ => return None,
    };
    Some(CostExtension { requested_query_cost, actual_query_cost: 0, throttle_status, fields: None })
}

/// What the head of the answer tells: what would be taken, who has to sign in how, and when to come back.
fn add_headers(denial: &Denial, headers: &mut HeaderMap) {
    match denial {
        Denial::MethodNotAllowed { allow } => {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        Denial::NoCredentials | Denial::WrongCredentials => {
            let challenge = HeaderValue::from_static("Basic realm=\"orderql\", charset=\"UTF-8\"");
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        Denial::NoToken => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"orderql\""));
        }
        Denial::NotBearer => {
            headers.insert(header::WWW_AUTHENTICATE, challenge("invalid_request", denial));
        }
        Denial::BadToken(_) | Denial::AccountClosed => {
            headers.insert(header::WWW_AUTHENTICATE, challenge("invalid_token", denial));
        }
        Denial::Throttled(Empty { retry_after: Some(wait), .. }) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(*wait)));
        }
        Denial::Locked(Locked { retry_after }) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(*retry_after)));
        }
        Denial::Unavailable(_) | Denial::TooManyRunning { .. } => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(SOON)));
        }
        _ => {}
    }
    if denial.closes() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// What a Bearer token's denial says in `WWW-Authenticate` (RFC 6750, section 3).
fn challenge(error: &str, denial: &Denial) -> HeaderValue {
    let text = format!("Bearer realm=\"orderql\", error=\"{error}\", error_description=\"{denial}\"");
    // The messages are our own, in ASCII and without quotes.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer realm=\"orderql\""))
}

/// Whole milliseconds, rounded up: who waits for that long has waited long enough.
pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    milliseconds(time).div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::error::{Diagnostic, ErrorCode, ErrorExtensions, GraphqlError, GraphqlErrors, Location};
    use crate::http::response::Content;
    use crate::throttle::bucket::Status;

    fn parts(answer: &Answer) -> (u16, Value) {
        let Content::Whole(body) = answer.body() else { panic!("a denial is sent whole") };
        (answer.status().as_u16(), serde_json::from_slice(body).unwrap())
    }

    #[test]
    fn a_refusal_has_null_data_and_200_on_json_and_neither_on_the_newer_type() {
        #[derive(Debug, thiserror::Error)]
        #[error("too dear")]
        struct TooDear;
        impl Diagnostic for TooDear {
            fn code(&self) -> ErrorCode {
                ErrorCode::CostExceeded
            }
            fn facts(&self) -> ErrorExtensions {
                ErrorExtensions::from_iter([("maxCost".to_owned(), json!(1000))])
            }
        }
        let refusal = GraphqlError::new(&TooDear, [Location { line: 1, column: 3 }]);
        let denial = Denial::Refused(GraphqlErrors::one(refusal));
        let errors = json!([{
            "message": "too dear",
            "locations": [{"line": 1, "column": 3}],
            "extensions": {"code": "COST_EXCEEDED", "maxCost": 1000},
        }]);
        assert_eq!(parts(&deny_graphql(&denial, Media::Json)), (200, json!({"data": null, "errors": errors})));
        assert_eq!(parts(&deny_graphql(&denial, Media::GraphqlResponse)), (400, json!({"errors": errors})));
    }

    #[test]
    fn a_throttled_caller_is_told_when_to_come_back() {
        let status = Status { maximum_available: 1000, currently_available: 3, restore_rate: 50 };
        let empty = Empty { credits: 90, retry_after: Some(Duration::from_micros(1_740_001)), status };
        let answer = deny_graphql(&Denial::Throttled(empty), Media::GraphqlResponse);
        assert_eq!(answer.headers()[header::RETRY_AFTER], "2");
        let (status, body) = parts(&answer);
        assert_eq!(status, 429);
        assert_eq!(
            body["errors"][0]["extensions"],
            json!({
                "code": "THROTTLED", "requestedQueryCost": 90, "currentlyAvailable": 3, "retryAfterMs": 1741,
            })
        );
        assert_eq!(body["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"], 3);
        let never = deny_graphql(&Denial::Throttled(Empty { retry_after: None, ..empty }), Media::Json);
        assert_eq!(never.status(), StatusCode::OK);
        assert!(!never.headers().contains_key(header::RETRY_AFTER));
    }

    #[test]
    fn missing_tokens_and_grants_have_their_status_on_both_types() {
        for media in [Media::Json, Media::GraphqlResponse] {
            let answer = deny_graphql(&Denial::NoToken, media);
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
            assert!(answer.headers().contains_key(header::WWW_AUTHENTICATE));
            assert_eq!(deny_graphql(&Denial::NotGranted { path: "/graphql" }, media).status(), StatusCode::FORBIDDEN);
            let malformed = Denial::NotARequest("not JSON".into());
            assert_eq!(deny_graphql(&malformed, media).status(), StatusCode::BAD_REQUEST);
        }
    }

    #[test]
    fn an_unknown_persisted_query_is_no_failure_on_either_type() {
        for media in [Media::Json, Media::GraphqlResponse] {
            let (status, body) = parts(&deny_graphql(&Denial::PersistedQueryNotFound, media));
            let error = json!({
                "message": "PersistedQueryNotFound",
                "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"},
            });
            assert_eq!((status, body), (200, json!({"data": null, "errors": [error]})));
        }
    }
}
