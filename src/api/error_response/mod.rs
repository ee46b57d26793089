//! Turns an [`ApiError`] into a response. No other file decides how an error looks.
//!
//! Errors are GraphQL errors on every endpoint, `{"errors": [{"message", "extensions": {"code"}}]}`, except for the order
//! update, whose clients read OFBiz's format. On the GraphQL endpoint `application/json` answers every well-formed request
//! with 200, and errors have `data: null` (the specification); `application/graphql-response+json` has the error's own
//! status and no `data` (GraphQL-over-HTTP). `update_errors` has the format of the order update.

pub(crate) mod update_errors;

use hyper::StatusCode;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::api::error_response::update_errors::UpdateErrors;
use crate::api::errors::api_error::{ApiError, Entries, ExtensionValue};
use crate::api::extensions::cost_extension::{CostExtension, ResponseExtensions};
use crate::api::negotiate::Media;
use crate::error::code::ErrorCode;
use crate::http::response::{HttpResponse, json_response};

#[derive(Serialize)]
struct Body<'a> {
    /// Null if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<()>,
    errors: Errors<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<ResponseExtensions<'a>>,
}

/// The response of the endpoints that are neither GraphQL nor the order update.
pub(crate) fn plain(error: &ApiError) -> HttpResponse {
    respond(error, error.status(), Media::Json, &Body { data: None, errors: Errors(error), extensions: None })
}

/// The response of the GraphQL endpoint.
pub(crate) fn graphql(error: &ApiError, media: Media) -> HttpResponse {
    let status = match media {
        Media::Json if error.is_well_formed_request => StatusCode::OK,
        Media::Json | Media::GraphqlResponse => error.status(),
    };
    // On the newer media type `data` belongs to responses with 2xx, and to no others.
    let data = (media == Media::Json || status.is_success()).then_some(());
    let extensions = error.cost.map(|cost| ResponseExtensions {
        cost: CostExtension {
            requested_query_cost: cost.credits,
            actual_query_cost: 0,
            throttle_status: cost.bucket,
            fields: None,
        },
        warnings: Vec::new(),
        search: Vec::new(),
        scope: None,
        sync: None,
        plan: None,
    });
    respond(error, status, media, &Body { data, errors: Errors(error), extensions })
}

/// The response of the order update, in the format that OFBiz's clients read.
pub(crate) fn order_update(error: &ApiError) -> HttpResponse {
    respond(error, error.status(), Media::Json, &UpdateErrors::from(error))
}

fn respond(error: &ApiError, status: StatusCode, media: Media, body: &impl Serialize) -> HttpResponse {
    let mut response = json_response(status, media.content_type(), body);
    response.headers_mut().extend(error.headers.iter().cloned());
    response
}

/// The entries of an error, as in `errors`, for a response that has begun.
pub(crate) fn entries(error: &ApiError) -> impl Serialize {
    Errors(error)
}

/// The entries of `errors`.
struct Errors<'a>(&'a ApiError);

impl Serialize for Errors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.entries {
            Entries::Graphql(errors) => errors.serialize(serializer),
            Entries::One { message, extensions } => {
                [ErrorEntry { message, extensions: Extensions { code: self.0.code, others: extensions } }]
                    .serialize(serializer)
            }
            Entries::Several(messages) => {
                let extensions = || Extensions { code: self.0.code, others: &[] };
                serializer.collect_seq(messages.iter().map(|message| ErrorEntry { message, extensions: extensions() }))
            }
        }
    }
}

#[derive(Serialize)]
struct ErrorEntry<'a> {
    message: &'a str,
    extensions: Extensions<'a>,
}

struct Extensions<'a> {
    code: ErrorCode,
    others: &'a [(&'static str, ExtensionValue)],
}

impl Serialize for Extensions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.code.as_str())?;
        for (name, value) in self.others {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::header;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::errors::access_error::AccessError;
    use crate::api::errors::endpoint_error::EndpointError;
    use crate::api::errors::query_error::QueryError;
    use crate::api::errors::service_error::ServiceError;
    use crate::api::graphql::reports::cost_report::CostHeaderError;
    use crate::api::graphql::request::persisted_queries::PersistedQueryError;
    use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
    use crate::error::graphql_error::{GraphqlError, GraphqlErrors, Location};
    use crate::http::request_error::RequestError;
    use crate::http::response::{BoxError, ResponseBody};
    use crate::throttle::bucket::{InsufficientCredits, ThrottleStatus};

    fn parts(response: &HttpResponse) -> (u16, Value) {
        let ResponseBody::Whole(body) = response.body() else { panic!("an error is sent whole") };
        (response.status().as_u16(), serde_json::from_slice(body).unwrap())
    }

    fn both(error: impl Into<ApiError>) -> [HttpResponse; 2] {
        let error = error.into();
        [Media::Json, Media::GraphqlResponse].map(|media| graphql(&error, media))
    }

    #[test]
    fn rejected_queries_have_null_data_and_200_on_json_and_neither_on_the_newer_type() {
        #[derive(Debug, thiserror::Error)]
        #[error("too expensive")]
        struct TooExpensive;
        impl Diagnostic for TooExpensive {
            fn code(&self) -> ErrorCode {
                ErrorCode::CostExceeded
            }
            fn extensions(&self) -> ErrorExtensions {
                ErrorExtensions::from_iter([("maxCost".to_owned(), json!(1000))])
            }
        }
        let error = GraphqlError::new(&TooExpensive, [Location { line: 1, column: 3 }]);
        let errors = json!([{
            "message": "too expensive",
            "locations": [{"line": 1, "column": 3}],
            "extensions": {"code": "COST_EXCEEDED", "maxCost": 1000},
        }]);
        let [json, newer] = both(QueryError::Compile(GraphqlErrors::one(error)));
        assert_eq!(parts(&json), (200, json!({"data": null, "errors": errors})));
        assert_eq!(parts(&newer), (400, json!({"errors": errors})));
    }

    #[test]
    fn throttled_callers_learn_when_to_retry() {
        let status = ThrottleStatus { maximum_available: 1000, currently_available: 3, restore_rate: 50 };
        let insufficient =
            InsufficientCredits { credits: 90, behind: 0, retry_after: Some(Duration::from_micros(1_740_001)), status };
        let [_, response] = both(QueryError::Throttled(insufficient));
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        let ResponseBody::Whole(body) = response.body() else { panic!("an error is sent whole") };
        assert_eq!(
            str::from_utf8(body).unwrap(),
            "{\"errors\":[{\"message\":\"the query costs 90 credits and the bucket holds 3 of 1000, refilled by 50 a \
             second\",\"extensions\":{\"code\":\"THROTTLED\",\"requestedQueryCost\":90,\"currentlyAvailable\":3,\
             \"retryAfterMs\":1741}}],\"extensions\":{\"cost\":{\"requestedQueryCost\":90,\"actualQueryCost\":0,\
             \"throttleStatus\":{\"maximumAvailable\":1000,\"currentlyAvailable\":3,\"restoreRate\":50}}}}"
        );
        assert_eq!(response.status().as_u16(), 429);
        let [never, _] = both(QueryError::Throttled(InsufficientCredits { retry_after: None, ..insufficient }));
        assert_eq!(never.status(), StatusCode::OK);
        assert!(!never.headers().contains_key(header::RETRY_AFTER));
        assert_eq!(parts(&never).1["errors"][0]["extensions"]["retryAfterMs"], Value::Null);
    }

    #[test]
    fn missing_tokens_and_grants_and_malformed_requests_have_their_status_on_both_types() {
        for response in both(AccessError::NoToken) {
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
            assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer realm=\"orderql\"");
        }
        for response in both(AccessError::NotGranted { path: "/graphql" }) {
            assert_eq!(response.status(), StatusCode::FORBIDDEN);
        }
        for response in both(CostHeaderError::Several) {
            assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        }
    }

    #[test]
    fn an_unknown_persisted_query_is_answered_with_200_on_both_types() {
        for response in both(PersistedQueryError::NotFound) {
            let error = json!({
                "message": "PersistedQueryNotFound",
                "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"},
            });
            assert_eq!(parts(&response), (200, json!({"data": null, "errors": [error]})));
        }
    }

    #[test]
    fn the_status_of_an_unavailable_service_is_503_outside_graphql() {
        let error = ApiError::from(ServiceError::Unavailable(BoxError::from("no connection")));
        for response in [plain(&error), order_update(&error)] {
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        }
        assert_eq!(graphql(&error, Media::Json).status(), StatusCode::OK);
    }

    #[test]
    fn requests_that_cannot_be_framed_close_the_connection() {
        let response = plain(&RequestError::BodyTooLarge { limit: 1 }.into());
        assert_eq!(response.headers()[header::CONNECTION], "close");
        let response = plain(&EndpointError::MethodNotAllowed { allow: "GET" }.into());
        assert_eq!(response.headers()[header::ALLOW], "GET");
        assert!(!response.headers().contains_key(header::CONNECTION));
    }
}
