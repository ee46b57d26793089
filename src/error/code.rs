//! The stable error codes: one table, with a row for each code. The enum, its texts, the HTTP statuses, the codes with `Retry-After` and
//! the table in docs/api.md are made from it.

use std::fmt::{self, Write};

/// Makes [`ErrorCode`] from the rows of the table.
macro_rules! error_codes {
    ($($variant:ident $name:literal $status:literal $retry_after:ident $meaning:literal)+) => {
        /// A stable error code, as in `extensions.code`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The code as clients see it in `extensions.code`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The HTTP status. GraphQL's `application/json` answers well-formed requests with 200 instead; see `api::error_response`.
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                }
            }

            /// Whether the response has `Retry-After`, provided that a retry can succeed.
            pub const fn has_retry_after(self) -> bool {
                match self {
                    $(Self::$variant => error_codes!(@$retry_after),)+
                }
            }

            /// When clients get the code, in Markdown.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
    (@yes) => { true };
    (@no) => { false };
}

// The columns: variant, name, HTTP status, `Retry-After`, meaning. The first ten codes except `RESPONSE_TOO_LARGE` are from the
// specification. Most of the others are Apollo's or named after their HTTP status, because clients already have these names.
//
// The status of rejected documents is 400: the newest draft of GraphQL-over-HTTP says 422, but graphql-http's audit
// suite still expects 400. The codes of the protocol of persisted queries have 200, its own status: some of its clients do
// not read the body of any other.
error_codes! {
    FirstRequired "FIRST_REQUIRED" 400 no "a connection without `first:` or `last:`"
    FirstTooLarge "FIRST_TOO_LARGE" 400 no "a page size above the caller's maximum"
    CostExceeded "COST_EXCEEDED" 400 no "an estimated cost above the caller's maximum"
    DepthExceeded "DEPTH_EXCEEDED" 400 no "too many levels of object nesting"
    ResponseTooLarge "RESPONSE_TOO_LARGE" 400 no "a response with too many bytes (`responseBytes`, `maxResponseBytes`): by the free parts of its selection, before it runs; or by its rows, when they were read (`rowsRead`). Then it is paid for, and about `fittingRows` rows would have fit"
    FieldNotFilterable "FIELD_NOT_FILTERABLE" 400 no "a search key that the root does not declare"
    OperatorNotAllowed "OPERATOR_NOT_ALLOWED" 400 no "a comparator that the search key does not accept, or that does not exist"
    MalformedQuery "MALFORMED_QUERY" 400 no "a search term that is not `key:value`, or a value that its key cannot take, such as one with `*`"
    Throttled "THROTTLED" 429 yes "the bucket cannot cover the query; or the caller runs too many queries or updates, asks for prices, plans and introspection too fast, sends too many large invalid queries, sends updates too fast, or has stored too many idempotency keys; retry after `retryAfterMs`, or [wait](long-requests.md#waiting)"
    DeadlineExceeded "DEADLINE_EXCEEDED" 504 no "the query ran longer than it may, or the database cancelled it for that (`statement_timeout`); it is charged"
    ValueOutOfRange "VALUE_OUT_OF_RANGE" 400 no "a sum or a product of the query's rows has more digits than the database computes with, or it does not know a value, such as a time zone; the query is charged"
    GraphqlParseFailed "GRAPHQL_PARSE_FAILED" 400 no "the text is not a GraphQL document"
    GraphqlValidationFailed "GRAPHQL_VALIDATION_FAILED" 400 no "the document is not valid against the schema"
    BadUserInput "BAD_USER_INPUT" 400 no "variables, cursors or arguments that cannot be used, search strings with too many terms or values, a body that is not a GraphQL request, or a form that is not an order update"
    PersistedQueryNotFound "PERSISTED_QUERY_NOT_FOUND" 200 no "no query is stored under the hash; send the text with the hash"
    PersistedQueryNotSupported "PERSISTED_QUERY_NOT_SUPPORTED" 200 no "persisted queries are switched off; send the text without the hash"
    PersistedQueryTooLarge "PERSISTED_QUERY_TOO_LARGE" 400 no "a text that is sent with its hash is too large to be stored (`maxBytes`); send it without the hash"
    DocumentRequired "DOCUMENT_REQUIRED" 400 no "a caller who may run documents that the server knows, and no others, sends a text or the hash of another one; name a document with `documentId`"
    SyncTokenInvalid "SYNC_TOKEN_INVALID" 410 no "a token of a change feed of another database, or older than a restore or a reset of the feeds (`reason`); copy everything once more, from a new token on"
    SyncRewound "SYNC_REWOUND" 409 no "a token of a change feed that is ahead of the database: a standby without the last changes was promoted. Go on from `token`, and copy once more the rows that you stored since the time `at`"
    Unauthenticated "UNAUTHENTICATED" 401 no "no token or password, or a bad one (on both media types)"
    Forbidden "FORBIDDEN" 403 no "a user without the grant, or one who does not see a row that is to be changed or counted, or no longer sees what the response began with (on both media types)"
    TooManyLogins "TOO_MANY_LOGINS" 429 yes "too many wrong passwords, or too many logins at the same time"
    BadRequest "BAD_REQUEST" 400 no "a request that is not well-formed HTTP, or asks for a form of the schema that there is not, or whose `Orderql-After` is no position or beyond the primary's, or whose `Idempotency-Key` is no key"
    NotFound "NOT_FOUND" 404 no "no endpoint at the path, no order tables in the database for the order update, or an order update that names what does not exist"
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 no "a method that the endpoint does not have; `Allow` lists its methods"
    NotAcceptable "NOT_ACCEPTABLE" 406 no "`Accept` or `Accept-Encoding` excludes every response that the endpoint has"
    Conflict "CONFLICT" 409 no "an order update that the state of the orders does not allow"
    IdempotencyKeyReused "IDEMPOTENCY_KEY_REUSED" 422 no "the `Idempotency-Key` was used with other parameters"
    RequestTimeout "REQUEST_TIMEOUT" 408 no "the body did not arrive in time"
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 no "the body is too large, or has more JSON values (`values`) than are allowed (`maxValues`)"
    UriTooLong "URI_TOO_LONG" 414 no "the request target is too long"
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" 415 no "a body of another media type or charset, or a compressed one"
    RequestHeaderFieldsTooLarge "REQUEST_HEADER_FIELDS_TOO_LARGE" 431 no "too many headers, or too many bytes of them"
    ServiceUnavailable "SERVICE_UNAVAILABLE" 503 yes "the database cannot be reached, has no free connection, or cannot run statements (out of connections, memory or disk space, shutting down, read-only), or requests and unread responses take as much memory as they may, or the server is stopping and the request would have to wait; retry"
    SchemaChanged "SCHEMA_CHANGED" 503 no "what the request reads is not in the database as the schema has it: somebody has changed a table since the server compared the two. It is charged, for the database has looked at it; other requests are answered"
    UnrepresentableValue "UNREPRESENTABLE_VALUE" 200 no "a field is null because the database has a value there that its type cannot be, such as an infinity (`path` names the field); the rest of the response is complete"
    ValueTooLarge "VALUE_TOO_LARGE" 200 no "a field is null because the database has a value there that is longer than 1 MiB (`path` names the field); the rest of the response is complete"
    ListTooLong "LIST_TOO_LONG" 200 no "a list is null because it has more rows, or more rows with one value of the column that it is sorted by, than the schema file says that it has at most (`atMost`, `ties`), and no index has them in its order (`path` names the list); the rest of the response is complete"
    InternalServerError "INTERNAL_SERVER_ERROR" 500 no "an internal error; the operator finds it in the log under `requestId`"
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The codes as a Markdown table, for the documentation.
pub fn markdown_table() -> String {
    let mut table = String::from("| code | when | status | `Retry-After` |\n|---|---|---|---|\n");
    for code in ErrorCode::ALL {
        let retry_after = if code.has_retry_after() { "yes" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{code}` | {} | {} | {retry_after} |", code.meaning(), code.status());
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_in_capitals() {
        let names: HashSet<_> = ErrorCode::ALL.into_iter().map(ErrorCode::as_str).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')));
    }

    #[test]
    fn the_markdown_table_has_a_row_for_every_code() {
        let table = markdown_table();
        assert_eq!(table.lines().count(), 2 + ErrorCode::ALL.len());
        assert!(
            table.contains(
                "\n| `TOO_MANY_LOGINS` | too many wrong passwords, or too many logins at the same time | 429 | yes |\n"
            ),
            "{table}"
        );
    }
}
