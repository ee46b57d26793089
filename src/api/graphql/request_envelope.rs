//! The JSON around a query: `{"query", "operationName", "variables", "extensions"}`, in a body or in the target.

use std::str::Utf8Error;

use hyper::Method;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::access::grants::Principal;
use crate::api::errors::api_error::ApiError;
use crate::api::graphql::request_members::{Body, Members};
use crate::api::negotiate;
use crate::api::request_context::RequestContext;
use crate::error::code::ErrorCode;
use crate::http::request::body;
use crate::query::Variables;

/// The extension of clients that send a query's hash in place of its text; see `persisted_queries`.
pub(crate) const PERSISTED_QUERY: &str = "persistedQuery";

/// A request as the client sent it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphqlRequest {
    /// The query's text. Without it, `extensions` have its hash.
    pub query: Option<String>,
    /// The operation's name.
    pub operation_name: Option<String>,
    /// The values of the operation's variables.
    pub variables: Variables,
    /// The client's additions to the protocol.
    pub extensions: Map<String, Value>,
}

/// The longest body, in bytes, that is parsed in less than a millisecond.
const MAX_QUICK_BODY: usize = 64 * 1024;

/// Why there is no GraphQL request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvelopeError {
    /// A body of no bytes.
    #[error("the body is empty; send a JSON object with the key \"query\"")]
    EmptyBody,
    /// A batch of requests.
    #[error(
        "a list of requests (a batch) is not accepted; send one request at a time, as a JSON object with the key \"query\""
    )]
    Batch,
    /// Another JSON value.
    #[error("the body must be a JSON object with the key \"query\"")]
    NotAnObject,
    /// A body that is not JSON.
    #[error("the body is not JSON: {0}")]
    MalformedBody(serde_json::Error),
    /// A parameter that is not in UTF-8.
    #[error("the parameter \"{name}\" is not in UTF-8")]
    ParameterNotUtf8 {
        /// Its name.
        name: String,
    },
    /// A parameter that must be JSON and is not.
    #[error("the parameter \"{name}\" is not JSON: {source}")]
    MalformedParameter {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A parameter that is there twice.
    #[error("the parameter \"{name}\" is given twice; give it once")]
    RepeatedParameter {
        /// Its name.
        name: String,
    },
    /// `query` has another type.
    #[error("\"query\" must be a string that holds a GraphQL document")]
    QueryType,
    /// `operationName` has another type.
    #[error("\"operationName\" must be a string or null")]
    OperationNameType,
    /// `variables` or `extensions` has another type.
    #[error("\"{0}\" must be a JSON object or null")]
    ObjectType(&'static str),
}

impl From<EnvelopeError> for ApiError {
    fn from(error: EnvelopeError) -> Self {
        Self::new(ErrorCode::BadUserInput, &error)
    }
}

/// Reads the request from the body, or from the target of a `GET`. There are no mutations, which a `GET` would have to
/// exclude.
pub(crate) async fn read(
    context: &mut RequestContext,
    caller: &Principal,
    body: &mut Incoming,
) -> Result<GraphqlRequest, ApiError> {
    let RequestContext { service, head, in_flight, .. } = context;
    if head.method == Method::POST {
        negotiate::require_json(&head.headers)?;
        let body = body::read(body, in_flight, &service.http.options).await?;
        if body.len() <= MAX_QUICK_BODY {
            return Ok(from_body(&body)?);
        }
        Ok(service.cpu_tasks.run(caller.limits.deadline, move || from_body(&body)).await??)
    } else {
        Ok(from_target(head.uri.query())?)
    }
}

/// Parses a body. Checks types strictly, because a mistake would otherwise go unnoticed: `query` must be a string,
/// `variables` and `extensions` objects, `operationName` a string. All but `query` may be null or absent. Other keys are
/// ignored, as GraphQL-over-HTTP demands.
pub(crate) fn from_body(body: &[u8]) -> Result<GraphqlRequest, EnvelopeError> {
    if body.is_empty() {
        return Err(EnvelopeError::EmptyBody);
    }
    match serde_json::from_slice(body).map_err(EnvelopeError::MalformedBody)? {
        Body::Object(members) => request(members),
        Body::List => Err(EnvelopeError::Batch),
        Body::Other => Err(EnvelopeError::NotAnObject),
    }
}

/// Parses a target's query component (GraphQL-over-HTTP, section "GET"): `query` and `operationName` are text, `variables`
/// and `extensions` JSON. All but `query` may be empty or absent. A repeated parameter is an error: a proxy or a cache
/// might read the other one. Other parameters are ignored.
pub(crate) fn from_target(component: Option<&str>) -> Result<GraphqlRequest, EnvelopeError> {
    let mut members = Members::default();
    for pair in component.unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Ok(name) = decode(name) else { continue };
        let Some(member) = members.named(&name) else { continue };
        let Ok(value) = decode(value) else { return Err(EnvelopeError::ParameterNotUtf8 { name }) };
        let value = match name.as_str() {
            "query" => Value::String(value),
            _ if value.is_empty() => Value::Null,
            "operationName" => Value::String(value),
            _ => match serde_json::from_str(&value) {
                Ok(value) => value,
                Err(source) => return Err(EnvelopeError::MalformedParameter { name, source }),
            },
        };
        if member.is_some() {
            return Err(EnvelopeError::RepeatedParameter { name });
        }
        *member = Some(value);
    }
    request(members)
}

/// The request, if all members have the right types.
fn request(members: Members) -> Result<GraphqlRequest, EnvelopeError> {
    let extensions = match members.extensions {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(extensions)) => extensions,
        Some(_) => return Err(EnvelopeError::ObjectType("extensions")),
    };
    let query = match members.query {
        None => None,
        Some(Value::String(query)) => Some(query),
        Some(Value::Null) if extensions.contains_key(PERSISTED_QUERY) => None,
        Some(_) => return Err(EnvelopeError::QueryType),
    };
    let operation_name = match members.operation_name {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(EnvelopeError::OperationNameType),
    };
    let variables = match members.variables {
        None | Some(Value::Null) => Variables::new(),
        Some(Value::Object(variables)) => variables,
        Some(_) => return Err(EnvelopeError::ObjectType("variables")),
    };
    Ok(GraphqlRequest { query, operation_name, variables, extensions })
}

/// Decodes a name or a value of `application/x-www-form-urlencoded`. The crate `form_urlencoded` would replace invalid
/// UTF-8, and so change the query.
fn decode(text: &str) -> Result<String, Utf8Error> {
    let text = text.replace('+', " ");
    Ok(percent_decode_str(&text).decode_utf8()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> String {
        from_body(body).unwrap_err().to_string()
    }

    #[test]
    fn reads_a_request_with_all_its_parts_or_only_its_query() {
        let bare = from_body(br#"{"query": "{a}"}"#).unwrap();
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        let nulls = br#"{"query": "{a}", "variables": null, "operationName": null, "extensions": null, "id": 7}"#;
        assert_eq!(from_body(nulls).unwrap(), bare);
        let whole = br#"{"query": "{a}", "variables": {"x": 1}, "operationName": "A", "extensions": {}}"#;
        let whole = from_body(whole).unwrap();
        assert_eq!((whole.operation_name.as_deref(), whole.variables["x"].as_u64()), (Some("A"), Some(1)));
    }

    #[test]
    fn rejects_bodies_that_are_not_requests() {
        for (body, part) in [
            (&b""[..], "empty"),
            (b"[]", "one request at a time"),
            (b"[{\"query\": \"{a}\"}]", "one request at a time"),
            (b"null", "must be a JSON object"),
            (b"{a}", "not JSON"),
            (b"{\"query\": \"{a}\"} x", "not JSON"),
            (b"\xef\xbb\xbf{}", "not JSON"),
            (b"{\"query\": \"\xff\"}", "not JSON"),
            (b"{\"query\": \"\0\"}", "not JSON"),
            (b"{\"query\": \"\\ud800\"}", "not JSON"),
            (b"{\"query\": null}", "\"query\" must be a string"),
            (b"{\"query\": [\"{a}\"]}", "\"query\" must be a string"),
            (b"{\"extensions\": {\"persistedQuery\": {}}, \"query\": 1}", "\"query\" must be a string"),
            (b"{\"query\": \"{a}\", \"variables\": []}", "\"variables\" must be"),
            (b"{\"query\": \"{a}\", \"variables\": \"{}\"}", "\"variables\" must be"),
            (b"{\"query\": \"{a}\", \"operationName\": 1}", "\"operationName\" must be"),
            (b"{\"query\": \"{a}\", \"extensions\": []}", "\"extensions\" must be"),
        ] {
            let message = message(body);
            assert!(message.contains(part), "{:?}: {message}", String::from_utf8_lossy(body));
        }
        assert!(message("[".repeat(100_000).as_bytes()).contains("recursion limit"));
    }

    #[test]
    fn accepts_a_hash_in_place_of_the_query() {
        for body in [
            r#"{"extensions": {"persistedQuery": {"version": 1}}}"#,
            r#"{"extensions": {"persistedQuery": {"version": 1}}, "query": null}"#,
        ] {
            let envelope = from_body(body.as_bytes()).unwrap();
            assert_eq!((envelope.query, envelope.extensions["persistedQuery"]["version"].as_u64()), (None, Some(1)));
        }
    }

    #[test]
    fn reads_a_request_from_a_target() {
        let whole =
            "query=query+A(%24x%3aInt)%7Ba%7D&variables=%7B%22x%22:1%7D&operationName=A&extensions=%7B%7D&v=2&v=3";
        let whole = from_target(Some(whole)).unwrap();
        assert_eq!(whole.query.as_deref(), Some("query A($x:Int){a}"));
        assert_eq!((whole.operation_name.as_deref(), whole.variables["x"].as_u64()), (Some("A"), Some(1)));
        let bare = from_target(Some("query={a}&variables=&operationName=&extensions=")).unwrap();
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        assert_eq!(from_target(Some("variables=null")).unwrap(), GraphqlRequest::default());
        assert_eq!(from_target(Some("query=%F0%9F%8F%83")).unwrap().query.as_deref(), Some("🏃"));
        for nothing in [None, Some(""), Some("&&"), Some("Query={a}"), Some("%ff=1")] {
            assert_eq!(from_target(nothing).unwrap(), GraphqlRequest::default(), "{nothing:?}");
        }
    }

    #[test]
    fn rejects_targets_that_are_not_requests() {
        for (component, part) in [
            ("query={a}&query={a}", "\"query\" is given twice"),
            ("query={a}&q%75ery={b}", "\"query\" is given twice"),
            ("query={a}&variables=&variables={}", "\"variables\" is given twice"),
            ("query=%ff", "\"query\" is not in UTF-8"),
            ("query={a}&variables={", "\"variables\" is not JSON"),
            ("query={a}&variables=[]", "\"variables\" must be"),
            ("query={a}&extensions=x", "\"extensions\" is not JSON"),
            ("query={a}&extensions=1", "\"extensions\" must be"),
        ] {
            let message = from_target(Some(component)).unwrap_err().to_string();
            assert!(message.contains(part), "{component}: {message}");
        }
    }
}
