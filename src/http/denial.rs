//! Why a request is not served: every reason there is, its message, and the status and code that it goes by. How it is
//! written is `respond`'s question.

use std::time::Duration;

use hyper::StatusCode;

use crate::access::jwt::BadToken;
use crate::access::lockout::Locked;
use crate::error::{ErrorCode, GraphqlErrors};
use crate::http::access_log::AccessLogEntry;
use crate::http::framing::{LONGEST_HEAD, MOST_HEADERS};
use crate::http::response::BoxError;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::throttle::bucket::{Empty, Status};

/// The status of a refused document under `application/graphql-response+json`. The newest draft of GraphQL-over-HTTP
/// says 422, the audit suite in use says 400.
const REFUSED: StatusCode = StatusCode::BAD_REQUEST;

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
    Refused(GraphqlErrors),
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
    pub fn fault(record: &AccessLogEntry, error: impl Into<BoxError>) -> Self {
        let source = error.into();
        emit(&Event::InternalError { request_id: &record.id, error: &*source });
        Self::Fault { request_id: record.id.to_string(), source }
    }

    /// The status that tells what happened.
    pub(super) fn status(&self) -> StatusCode {
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
            Self::Throttled(_) | Self::TooManyRunning { .. } => ErrorCode::Throttled,
            Self::DeadlineExceeded { .. } => ErrorCode::DeadlineExceeded,
            Self::Unavailable(_) => ErrorCode::ServiceUnavailable,
            Self::Fault { .. } => ErrorCode::InternalServerError,
            Self::NotARequest(_) => ErrorCode::BadUserInput,
            Self::NotGranted { .. } => ErrorCode::Forbidden,
            Self::NoCredentials
            | Self::WrongCredentials
            | Self::NoToken
            | Self::NotBearer
            | Self::BadToken(_)
            | Self::AccountClosed => ErrorCode::Unauthenticated,
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
    pub(super) fn is_of_graphql(&self) -> bool {
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
    pub(super) fn closes(&self) -> bool {
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
}
