//! Answers, and the one place where an error becomes a status and JSON.
//!
//! Every denial has the shape of a GraphQL error, on every endpoint: `{"errors": [{"message", "extensions": {"code"}}]}`.
//! On the GraphQL endpoint `application/json` answers 200 to every well-formed request, refused or not, and a refusal
//! has `data: null` (the specification); `application/graphql-response+json` has the status that tells what happened and
//! no `data` (GraphQL-over-HTTP).

use std::{error::Error, fmt, time::Duration};

use bytes::Bytes;
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{self, HeaderValue},
};
use serde_json::{Map, Value, json};

use crate::{
    access::{lockout::Locked, token::BadToken},
    http::{
        framing::{LONGEST_HEAD, MOST_HEADERS},
        negotiate::Media,
        record::Record,
    },
    refusal::{Code, Facts, Refusals},
    telemetry::event::{Event, emit},
    throttle::bucket::{Empty, Status},
};

/// An answer before it goes to the connection.
pub type Answer = Response<Content>;

/// An answer's body.
pub enum Content {
    /// Sent in one frame, with its length in the head.
    Whole(Bytes),
    /// Sent as the client reads it: the next part is asked for when there is room for it. A part that fails breaks the
    /// connection, so that a truncated body never looks whole.
    Parts(Box<dyn Iterator<Item = Result<Bytes, BoxError>> + Send>),
}

/// Any error, for the log.
pub type BoxError = Box<dyn Error + Send + Sync>;

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Parts(_) => f.write_str("parts"),
        }
    }
}

/// The status of a refused document under `application/graphql-response+json`. The newest draft of GraphQL-over-HTTP
/// says 422, the audit suite in use says 400.
const REFUSED: StatusCode = StatusCode::BAD_REQUEST;

/// When to come back to a service that has no room.
const SOON: Duration = Duration::from_secs(1);

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub enum Denial {
    /// An HTTP/1.1 request without `Host`, or with two, or one that is none.
    #[error("an HTTP/1.1 request has exactly one Host header, which names a host")]
    Host,
    /// A head that cannot be read.
    #[error("this is no HTTP/1.1 request: its first line or a header is malformed")]
    HeadBroken,
    /// A head with too many headers or bytes.
    #[error("the request's head has more than {MOST_HEADERS} headers or {LONGEST_HEAD} bytes")]
    HeadTooLarge,
    /// `Content-Length` beside `Transfer-Encoding`.
    #[error("a request has Content-Length or Transfer-Encoding, not both")]
    LengthAndEncoding,
    /// A transfer coding other than `chunked`.
    #[error("the only Transfer-Encoding understood is chunked")]
    Encoding,
    /// A request target that is too long.
    #[error("the request target is longer than {limit} bytes")]
    TargetTooLong {
        /// Bytes it may have.
        limit: usize,
    },
    /// A body above the limit.
    #[error("the request's body is larger than {limit} bytes")]
    BodyTooLarge {
        /// Bytes it may have.
        limit: usize,
    },
    /// A body that takes too long to come.
    #[error("the request's body did not arrive within {} s", timeout.as_secs_f64())]
    BodyTooSlow {
        /// How long it may take.
        timeout: Duration,
    },
    /// A body whose framing is broken, or whose end never came.
    #[error("the request's body is broken off or badly framed")]
    BodyBroken(#[source] hyper::Error),
    /// A compressed body.
    #[error("a request's body must not be compressed; send it without Content-Encoding")]
    ContentEncoded,
    /// No endpoint at the path.
    #[error("there is nothing at this path")]
    NotFound,
    /// A method that the endpoint does not have.
    #[error("this endpoint takes {allow}")]
    MethodNotAllowed {
        /// What it takes.
        allow: &'static str,
    },
    /// An `Accept` that excludes what the endpoint has.
    #[error("answers are application/json or application/graphql-response+json, and Accept excludes both")]
    NotAcceptable,
    /// An `Accept-Encoding` that excludes every coding there is, and no coding too.
    #[error("Accept-Encoding excludes every coding that answers can have, and identity, which is none")]
    NoCoding,
    /// A body that does not say it is JSON.
    #[error("the body must be JSON, sent with Content-Type: application/json")]
    NotJson,
    /// A body that does not say it is a form.
    #[error("send the form as application/x-www-form-urlencoded or multipart/form-data")]
    NotAForm,
    /// JSON in another character set.
    #[error("the body must be in UTF-8; no other charset is read")]
    NotUtf8,
    /// No Basic credentials, or malformed ones.
    #[error("send a user's name and password as HTTP Basic credentials")]
    NoCredentials,
    /// Credentials that open no account, for whatever reason.
    #[error("the name or the password is wrong")]
    WrongCredentials,
    /// Too many wrong passwords for the account, or from the client's address.
    #[error("too many wrong passwords; try again later")]
    Locked(#[from] Locked),
    /// No Bearer token.
    #[error("send a token as Authorization: Bearer <token>; POST /auth/token gives one")]
    NoToken,
    /// An `Authorization` header that holds no Bearer token, or two headers.
    #[error("send exactly one Authorization header, as Bearer <token>")]
    NotBearer,
    /// A token that is not accepted.
    #[error("{0}")]
    BadToken(#[from] BadToken),
    /// The token's account is gone or disabled.
    #[error("the token's account is closed")]
    AccountClosed,
    /// None of the caller's groups has the grant.
    #[error("none of your user groups has the grant on {path}")]
    NotGranted {
        /// The artifact's path.
        path: &'static str,
    },
    /// A body that is not a GraphQL request.
    #[error("{0}")]
    NotARequest(String),
    /// A persisted query that is not known, so that its text is needed. The words are the protocol's; clients read them.
    #[error("PersistedQueryNotFound")]
    PersistedQueryNotFound,
    /// A persisted query where none are kept, so that its text is needed this time and always. Likewise.
    #[error("PersistedQueryNotSupported")]
    PersistedQueryNotSupported,
    /// Refused by the pure half; nothing was executed and nothing debited.
    #[error("{0}")]
    Refused(Refusals),
    /// The caller's bucket cannot cover the query.
    #[error(
        "the query costs {} credits and the bucket holds {} of {}, refilled by {} a second",
        .0.credits, .0.status.currently_available, .0.status.maximum_available, .0.status.restore_rate
    )]
    Throttled(Empty),
    /// As many of the caller's queries run as may.
    #[error("{limit} of your queries are running, and no more may run at the same time")]
    TooManyRunning {
        /// How many may.
        limit: u32,
        /// What this one would cost.
        cost: u64,
        /// The bucket, of which nothing was taken.
        status: Status,
    },
    /// The request ran past its wall-clock budget.
    #[error("the query was not finished within {} s and was cancelled; narrow it", deadline.as_secs_f64())]
    DeadlineExceeded {
        /// The budget.
        deadline: Duration,
        /// What was debited, and what is left.
        cost: u64,
        /// The bucket after the debit.
        status: Status,
    },
    /// The database is away or has no room, or too many wait for their passwords.
    #[error("the service has no room for the request just now; try again")]
    Unavailable(#[source] BoxError),
    /// A fault of this service.
    #[error("a fault of the service; its operator finds it in the log under {request_id}")]
    Fault {
        /// The request's id.
        request_id: String,
        /// What happened; for the log alone.
        source: BoxError,
    },
}

impl Denial {
    /// A fault, written to the log under the request's id.
    pub fn fault(record: &Record, error: impl Into<BoxError>) -> Self {
        let source = error.into();
        emit(&Event::Fault { request_id: &record.id, error: &*source });
        Self::Fault { request_id: record.id.to_string(), source }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Host
            | Self::HeadBroken
            | Self::LengthAndEncoding
            | Self::Encoding
            | Self::BodyBroken(_)
            | Self::NotARequest(_) => StatusCode::BAD_REQUEST,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Refused(_) => REFUSED,
            // The protocol's status on every media type: some of its clients read no other answer to its end.
            Self::PersistedQueryNotFound | Self::PersistedQueryNotSupported => StatusCode::OK,
            Self::TargetTooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable | Self::NoCoding => StatusCode::NOT_ACCEPTABLE,
            Self::NotJson | Self::NotAForm | Self::NotUtf8 | Self::ContentEncoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::NoCredentials
            | Self::WrongCredentials
            | Self::NoToken
            | Self::NotBearer
            | Self::BadToken(_)
            | Self::AccountClosed => StatusCode::UNAUTHORIZED,
            Self::NotGranted { .. } => StatusCode::FORBIDDEN,
            Self::Throttled(_) | Self::TooManyRunning { .. } | Self::Locked(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::DeadlineExceeded { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Fault { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The code in `extensions`; the first one's where there are several.
    pub fn code(&self) -> &'static str {
        let code = match self {
            Self::Refused(refusals) => refusals.first().code,
            Self::Throttled(_) | Self::TooManyRunning { .. } => Code::Throttled,
            Self::DeadlineExceeded { .. } => Code::DeadlineExceeded,
            Self::Unavailable(_) => Code::ServiceUnavailable,
            Self::Fault { .. } => Code::InternalServerError,
            Self::NotARequest(_) => Code::BadUserInput,
            Self::NotGranted { .. } => Code::Forbidden,
            Self::NoCredentials
            | Self::WrongCredentials
            | Self::NoToken
            | Self::NotBearer
            | Self::BadToken(_)
            | Self::AccountClosed => Code::Unauthenticated,
            Self::Locked(_) => return "TOO_MANY_LOGINS",
            Self::NotFound => return "NOT_FOUND",
            Self::MethodNotAllowed { .. } => return "METHOD_NOT_ALLOWED",
            Self::PersistedQueryNotFound => return "PERSISTED_QUERY_NOT_FOUND",
            Self::PersistedQueryNotSupported => return "PERSISTED_QUERY_NOT_SUPPORTED",
            Self::NotAcceptable | Self::NoCoding => return "NOT_ACCEPTABLE",
            Self::NotJson | Self::NotAForm | Self::NotUtf8 | Self::ContentEncoded => return "UNSUPPORTED_MEDIA_TYPE",
            Self::BodyTooLarge { .. } => return "PAYLOAD_TOO_LARGE",
            Self::BodyTooSlow { .. } => return "REQUEST_TIMEOUT",
            Self::TargetTooLong { .. } => return "URI_TOO_LONG",
            Self::HeadTooLarge => return "REQUEST_HEADER_FIELDS_TOO_LARGE",
            Self::Host | Self::HeadBroken | Self::LengthAndEncoding | Self::Encoding | Self::BodyBroken(_) => {
                return "BAD_REQUEST";
            }
        };
        code.as_str()
    }

    /// Whether it denies a well-formed GraphQL request, which under `application/json` is answered with 200.
    fn is_of_graphql(&self) -> bool {
        matches!(
            self,
            Self::Refused(_)
                | Self::Throttled(_)
                | Self::TooManyRunning { .. }
                | Self::DeadlineExceeded { .. }
                | Self::Unavailable(_)
                | Self::Fault { .. }
        )
    }

    /// Whether the rest of what the client sends on the connection cannot be trusted, or is not worth reading.
    fn closes(&self) -> bool {
        matches!(
            self,
            Self::Host
                | Self::HeadBroken
                | Self::HeadTooLarge
                | Self::LengthAndEncoding
                | Self::Encoding
                | Self::BodyTooLarge { .. }
                | Self::BodyTooSlow { .. }
                | Self::BodyBroken(_)
        )
    }

    fn facts(&self) -> Facts {
        let pairs = match self {
            Self::Throttled(empty) => {
                vec![
                    ("requestedQueryCost", json!(empty.credits)),
                    ("currentlyAvailable", json!(empty.status.currently_available)),
                    ("retryAfterMs", json!(empty.retry_after.map(milliseconds))),
                ]
            }
            Self::TooManyRunning { limit, cost, .. } => vec![
                ("estimatedCost", json!(cost)),
                ("maxConcurrentQueries", json!(limit)),
                ("retryAfterMs", json!(milliseconds(SOON))),
            ],
            Self::Locked(locked) => vec![("retryAfterMs", json!(milliseconds(locked.retry_after)))],
            Self::DeadlineExceeded { deadline, .. } => vec![("deadlineMs", json!(milliseconds(*deadline)))],
            Self::Unavailable(_) => vec![("retryAfterMs", json!(milliseconds(SOON)))],
            Self::Fault { request_id, .. } => vec![("requestId", json!(request_id))],
            _ => Vec::new(),
        };
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The entries of `errors`.
    pub(super) fn errors(&self) -> Value {
        match self {
            Self::Refused(refusals) => refusals
                .iter()
                .map(|refusal| {
                    let mut entry = entry(&refusal.message, refusal.code.as_str(), refusal.facts.clone());
                    if !refusal.locations.is_empty() {
                        let locations = refusal.locations.iter();
                        entry["locations"] =
                            locations.map(|at| json!({"line": at.line, "column": at.column})).collect();
                    }
                    entry
                })
                .collect(),
            other => json!([entry(&other.to_string(), other.code(), other.facts())]),
        }
    }

    /// `extensions.cost`, where the bucket was asked.
    fn cost(&self) -> Option<Value> {
        match self {
            Self::Throttled(empty) => Some(json!({
                "requestedQueryCost": empty.credits,
                "actualQueryCost": 0,
                "throttleStatus": throttle_status(&empty.status),
            })),
            Self::DeadlineExceeded { cost, status, .. } | Self::TooManyRunning { cost, status, .. } => Some(json!({
                "requestedQueryCost": cost,
                "actualQueryCost": 0,
                "throttleStatus": throttle_status(status),
            })),
            _ => None,
        }
    }

    fn headers(&self, answer: &mut Answer) {
        let headers = answer.headers_mut();
        match self {
            Self::MethodNotAllowed { allow } => {
                headers.insert(header::ALLOW, HeaderValue::from_static(allow));
            }
            Self::NoCredentials | Self::WrongCredentials => {
                let challenge = HeaderValue::from_static("Basic realm=\"orderql\", charset=\"UTF-8\"");
                headers.insert(header::WWW_AUTHENTICATE, challenge);
            }
            Self::NoToken => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"orderql\""));
            }
            Self::NotBearer => {
                headers.insert(header::WWW_AUTHENTICATE, challenge("invalid_request", self));
            }
            Self::BadToken(_) | Self::AccountClosed => {
                headers.insert(header::WWW_AUTHENTICATE, challenge("invalid_token", self));
            }
            Self::Throttled(Empty { retry_after: Some(wait), .. }) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(*wait)));
            }
            Self::Locked(Locked { retry_after }) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(*retry_after)));
            }
            Self::Unavailable(_) | Self::TooManyRunning { .. } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(SOON)));
            }
            _ => {}
        }
        if self.closes() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// What a Bearer token's denial says in `WWW-Authenticate` (RFC 6750, section 3).
fn challenge(error: &str, denial: &Denial) -> HeaderValue {
    let text = format!("Bearer realm=\"orderql\", error=\"{error}\", error_description=\"{denial}\"");
    // The messages are our own, in ASCII and without quotes.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer realm=\"orderql\""))
}

/// A denial as every endpoint but GraphQL's answers it.
pub fn deny(denial: &Denial) -> Answer {
    let mut answer = with_json(denial.status(), Media::Json, &json!({"errors": denial.errors()}));
    denial.headers(&mut answer);
    answer
}

/// A denial as the GraphQL endpoint answers it.
pub fn deny_graphql(denial: &Denial, media: Media) -> Answer {
    let status = match media {
        Media::Json if denial.is_of_graphql() => StatusCode::OK,
        _ => denial.status(),
    };
    let mut body = Map::new();
    // On the newer type it goes with success, and with nothing else.
    if media == Media::Json || status.is_success() {
        body.insert("data".into(), Value::Null);
    }
    body.insert("errors".into(), denial.errors());
    if let Some(cost) = denial.cost() {
        body.insert("extensions".into(), json!({ "cost": cost }));
    }
    let mut answer = with_json(status, media, &Value::Object(body));
    denial.headers(&mut answer);
    answer
}

/// A denial as the order update answers it, in the form that OFBiz's clients read.
pub fn deny_update(denial: &Denial) -> Answer {
    let message = denial.to_string();
    let body = json!({ "_ERROR_MESSAGE_": message, "_ERROR_MESSAGE_LIST_": [message] });
    let mut answer = with_json(denial.status(), Media::Json, &body);
    denial.headers(&mut answer);
    answer
}

/// An answer of JSON.
pub fn with_json(status: StatusCode, media: Media, body: &Value) -> Answer {
    let mut answer = Answer::new(Bytes::from(body.to_string()).into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    answer
}

/// An answer without a body.
pub fn empty(status: StatusCode) -> Answer {
    let mut answer = Answer::new(Bytes::new().into());
    *answer.status_mut() = status;
    answer
}

/// Notes a header of requests on which the answer depends, so that caches keep its variants apart.
pub fn vary(answer: &mut HeaderMap, name: &'static str) {
    let value = match answer.get(header::VARY).and_then(|value| value.to_str().ok()) {
        None => HeaderValue::from_static(name),
        Some(others) => match HeaderValue::try_from(format!("{others}, {name}")) {
            Ok(value) => value,
            Err(_) => return,
        },
    };
    answer.insert(header::VARY, value);
}

/// A bucket as `extensions.cost.throttleStatus` reports it.
pub fn throttle_status(status: &Status) -> Value {
    json!({
        "maximumAvailable": status.maximum_available,
        "currentlyAvailable": status.currently_available,
        "restoreRate": status.restore_rate,
    })
}

fn entry(message: &str, code: &str, facts: Facts) -> Value {
    let mut extensions = Map::from_iter([("code".to_owned(), json!(code))]);
    extensions.extend(facts);
    json!({"message": message, "extensions": extensions})
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
    use super::*;
    use crate::refusal::{Location, Reason, Refusal};

    fn parts(answer: &Answer) -> (u16, Value) {
        let Content::Whole(body) = answer.body() else { panic!("a denial is sent whole") };
        (answer.status().as_u16(), serde_json::from_slice(body).unwrap())
    }

    #[test]
    fn a_refusal_has_null_data_and_200_on_json_and_neither_on_the_newer_type() {
        #[derive(Debug, thiserror::Error)]
        #[error("too dear")]
        struct TooDear;
        impl Reason for TooDear {
            fn code(&self) -> Code {
                Code::CostExceeded
            }
            fn facts(&self) -> Facts {
                Facts::from_iter([("maxCost".to_owned(), json!(1000))])
            }
        }
        let refusal = Refusal::new(&TooDear, [Location { line: 1, column: 3 }]);
        let denial = Denial::Refused(Refusals::one(refusal));
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
    fn what_an_answer_depends_on_is_gathered_in_one_line() {
        let mut headers = HeaderMap::new();
        vary(&mut headers, "Accept");
        vary(&mut headers, "Origin");
        assert_eq!(headers[header::VARY], "Accept, Origin");
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
