//! The JSON around a query: `{"query", "operationName", "variables", "extensions"}`, in a body or in the target.

use std::str::Utf8Error;

use hyper::Method;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde::de::Error;

use crate::access::grants::Principal;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::request::envelope_error::EnvelopeError;
use crate::api::graphql::request::json_members::{JsonMembers, MemberValue};
use crate::api::graphql::request::json_size::{JsonSize, MAX_VALUES};
use crate::api::negotiate;
use crate::api::request_context::RequestContext;
use crate::http::request::body;

/// The extension of clients that send a query's hash in place of its text; see `persisted_queries`.
pub(crate) const PERSISTED_QUERY: &str = "persistedQuery";

/// A request as the client sent it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphqlRequest {
    /// The query's text. Without it, `extensions` have its hash, or there is the id of a document.
    pub query: Option<String>,
    /// The id of a document that the server has.
    pub(crate) document_id: Option<String>,
    /// The operation's name.
    pub operation_name: Option<String>,
    /// The values of the operation's variables: the text of an object.
    pub variables: Option<Box<str>>,
    /// The client's additions to the protocol: the text of an object.
    pub extensions: Option<Box<str>>,
    /// Bytes that the values in these texts would take, beside the texts.
    pub(crate) values_memory: usize,
}

/// The byte order mark that some programs of Windows write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The longest body, in bytes, that is parsed in less than a millisecond.
const MAX_QUICK_BODY: usize = 64 * 1024;

/// Reads the request from the body, or from the target of a `GET`, and reserves the memory of its values. There are no mutations,
/// which a `GET` would have to exclude.
pub(crate) async fn read(
    context: &mut RequestContext,
    caller: &Principal,
    body: &mut Incoming,
) -> Result<GraphqlRequest, ApiError> {
    let RequestContext { service, head, in_flight, .. } = context;
    let request = if head.method == Method::POST {
        negotiate::require_json(&head.headers)?;
        let body = body::read(head.version, body, in_flight, &service.http.options).await?;
        if body.len() <= MAX_QUICK_BODY {
            from_body(&body)?
        } else {
            service.cpu_tasks.run(&caller.user_id, caller.limits.deadline, move || from_body(&body)).await??
        }
    } else {
        from_target(head.uri.query())?
    };
    in_flight.reserve(request.values_memory).map_err(ServiceError::from)?;
    Ok(request)
}

/// Parses a body. Checks types strictly, because a mistake would otherwise go unnoticed: `query` must be a string,
/// `variables` and `extensions` objects, `operationName` and `documentId` strings. All but `query` may be null or absent, and `operationName`
/// empty. Other keys are
/// ignored, as GraphQL-over-HTTP demands.
pub(crate) fn from_body(body: &[u8]) -> Result<GraphqlRequest, EnvelopeError> {
    if body.is_empty() {
        return Err(EnvelopeError::EmptyBody);
    }
    match body.trim_ascii_start().first() {
        Some(b'{') => {}
        _ if body.starts_with(BYTE_ORDER_MARK) => return Err(EnvelopeError::ByteOrderMark),
        first => {
            JsonSize::of(body).map_err(EnvelopeError::MalformedBody)?;
            return Err(if first == Some(&b'[') { EnvelopeError::Batch } else { EnvelopeError::NotAnObject });
        }
    }
    let text = str::from_utf8(body).map_err(|error| EnvelopeError::MalformedBody(serde_json::Error::custom(error)))?;
    let mut members = JsonMembers::with_strings(text, &["query", "operationName", "documentId"])?;
    let size = members.size()?;
    if size.values > MAX_VALUES {
        // Some members may have been left out.
        let size = JsonSize::of(body).map_err(EnvelopeError::MalformedBody)?;
        return Err(EnvelopeError::TooManyValues { values: size.values });
    }
    let mut object_text = |key| members.take(key).filter(|text| *text != "null");
    let (variables, extensions) = (object_text("variables"), object_text("extensions"));
    let mut value = |key| members.take_value(key).filter(|value| !matches!(value, MemberValue::Null));
    let (operation_name, document_id) = (value("operationName"), value("documentId"));
    let query = members.take_value("query");
    let is_named = document_id.is_some() || has_persisted_query(extensions)?;
    let query = query.filter(|query| !(is_named && matches!(query, MemberValue::Null)));
    Ok(GraphqlRequest {
        query: string(query, EnvelopeError::QueryType)?,
        document_id: string(document_id, EnvelopeError::DocumentIdType)?,
        operation_name: string(operation_name, EnvelopeError::OperationNameType)?.filter(|name| !name.is_empty()),
        variables: object("variables", variables)?,
        extensions: object("extensions", extensions)?,
        values_memory: size.memory,
    })
}

/// Parses a target's query component (GraphQL-over-HTTP, section "GET"): `query` and `operationName` are text, `variables`
/// and `extensions` JSON. All but `query` may be empty or absent. A repeated parameter is an error: a proxy or a cache
/// might read the other one. Other parameters are ignored.
pub(crate) fn from_target(component: Option<&str>) -> Result<GraphqlRequest, EnvelopeError> {
    let [mut query, mut document_id, mut operation_name, mut variables, mut extensions] = [const { None }; 5];
    for pair in component.unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Ok(name) = decode(name) else { continue };
        let parameter = match name.as_str() {
            "query" => &mut query,
            "documentId" => &mut document_id,
            "operationName" => &mut operation_name,
            "variables" => &mut variables,
            "extensions" => &mut extensions,
            _ => continue,
        };
        let Ok(value) = decode(value) else { return Err(EnvelopeError::ParameterNotUtf8 { name }) };
        if parameter.replace(value).is_some() {
            return Err(EnvelopeError::RepeatedParameter { name });
        }
    }
    let mut request = GraphqlRequest {
        query,
        document_id: document_id.filter(|id| !id.is_empty()),
        operation_name: operation_name.filter(|name| !name.is_empty()),
        ..GraphqlRequest::default()
    };
    for (name, text, member) in
        [("variables", variables, &mut request.variables), ("extensions", extensions, &mut request.extensions)]
    {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        let malformed = |source| EnvelopeError::MalformedParameter { name: name.to_owned(), source };
        let size = JsonSize::of(text.as_bytes()).map_err(malformed)?;
        if size.values > MAX_VALUES {
            return Err(EnvelopeError::TooManyValues { values: size.values });
        }
        request.values_memory += size.memory;
        *member = object(name, Some(text.trim_ascii()).filter(|text| *text != "null"))?;
    }
    Ok(request)
}

/// The string of a member, or an error for other types.
fn string(value: Option<MemberValue<'_>>, wrong_type: EnvelopeError) -> Result<Option<String>, EnvelopeError> {
    match value {
        None => Ok(None),
        Some(MemberValue::String(text)) => Ok(Some(text.into_owned())),
        Some(MemberValue::Text(_) | MemberValue::Null | MemberValue::NoString(_)) => Err(wrong_type),
    }
}

/// The text of a JSON object.
fn object(name: &'static str, text: Option<&str>) -> Result<Option<Box<str>>, EnvelopeError> {
    match text {
        Some(text) if !text.starts_with('{') => Err(EnvelopeError::ObjectType(name)),
        text => Ok(text.map(Into::into)),
    }
}

/// Whether a query's hash is sent in place of its text.
fn has_persisted_query(extensions: Option<&str>) -> Result<bool, EnvelopeError> {
    let Some(extensions) = extensions.filter(|text| text.starts_with('{')) else { return Ok(false) };
    Ok(JsonMembers::of(extensions)?.take(PERSISTED_QUERY).is_some())
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
    use crate::error::code::ErrorCode;

    fn message(body: &[u8]) -> String {
        from_body(body).unwrap_err().to_string()
    }

    /// Without the memory of its values.
    fn read(body: &[u8]) -> GraphqlRequest {
        GraphqlRequest { values_memory: 0, ..from_body(body).unwrap() }
    }

    #[test]
    fn reads_a_request_with_all_its_parts_or_only_its_query() {
        let bare = read(br#"{"query": "{a}"}"#);
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        assert_eq!(read(br#"{"query": "{a}", "operationName": ""}"#), bare);
        let nulls = br#"{"query": "{a}", "variables": null, "operationName": null, "extensions": null, "id": 7}"#;
        assert_eq!(read(nulls), bare);
        let whole = br#" {"query": "{a}", "variables": {"x": 1}, "operationName": "A\u0042", "extensions": {} }"#;
        let whole = read(whole);
        assert_eq!((whole.operation_name.as_deref(), whole.variables.as_deref()), (Some("AB"), Some(r#"{"x": 1}"#)));
        assert_eq!(whole.extensions.as_deref(), Some("{}"));
    }

    #[test]
    fn counts_the_values_of_a_request_before_it_makes_them() {
        let body = |count: usize| {
            let values = vec!["{}"; count].join(",");
            format!(r#"{{"query": "{{a}}", "unknown": [{values}]}}"#)
        };
        // The object around them, the query and the list.
        let most = from_body(body(MAX_VALUES - 3).as_bytes()).unwrap();
        assert!(most.values_memory > 64 * MAX_VALUES);
        let error = ApiError::from(from_body(body(MAX_VALUES - 2).as_bytes()).unwrap_err());
        assert_eq!(error.code, ErrorCode::PayloadTooLarge);
        assert_eq!(error.to_string(), "the request has 10001 JSON values; at most 10000 are allowed");
        assert!(!error.is_well_formed_request, "the status says so on every media type");
        let target = from_target(Some("query={a}&variables={\"a\":[{},{},{}]}&extensions={}")).unwrap();
        assert!(target.values_memory > 6 * 64);
    }

    #[test]
    fn rejects_keys_that_are_there_twice() {
        for body in [
            r#"{"query": "{a}", "query": "{a}"}"#,
            r#"{"query": "{a}", "qu\u0065ry": null}"#,
            r#"{"query": "{a}", "other": 1, "other": 1}"#,
            r#"{"query": "{a}", "variables": {"a": 1}, "variables": null}"#,
        ] {
            let message = message(body.as_bytes());
            assert!(message.ends_with("is given twice; give it once"), "{body}: {message}");
        }
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
            (b"\xef\xbb\xbf{}", "byte order mark"),
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
            assert_eq!(envelope.query, None);
            assert_eq!(envelope.extensions.as_deref(), Some(r#"{"persistedQuery": {"version": 1}}"#));
        }
    }

    #[test]
    fn reads_a_request_from_a_target() {
        let whole =
            "query=query+A(%24x%3aInt)%7Ba%7D&variables=%7B%22x%22:1%7D&operationName=A&extensions=%7B%7D&v=2&v=3";
        let whole = from_target(Some(whole)).unwrap();
        assert_eq!(whole.query.as_deref(), Some("query A($x:Int){a}"));
        assert_eq!((whole.operation_name.as_deref(), whole.variables.as_deref()), (Some("A"), Some(r#"{"x":1}"#)));
        let bare = from_target(Some("query={a}&variables=&operationName=&extensions=")).unwrap();
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        assert_eq!(from_target(Some("variables=+null+")).unwrap().variables, None);
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
