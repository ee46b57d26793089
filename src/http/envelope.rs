//! The JSON round a query and round its answer (the specification's request body and response envelope).

use std::str::Utf8Error;

use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::code::ErrorCode;
use crate::execute::field_error::{FieldError, PathPart};
use crate::http::persisted;
use crate::http::request_error::RequestError;
use crate::query::Variables;
use crate::throttle::bucket::Status;

/// What every executed query's answer begins with; its `data` follows.
pub const OPENING: &[u8] = b"{\"data\":";

/// A request as it came: its text may be told by its hash, which its `extensions` then hold; see `persisted`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GraphqlRequest {
    /// The text, if it came along.
    pub query: Option<String>,
    /// The operation's name.
    pub operation_name: Option<String>,
    /// Values of the operation's variables.
    pub variables: Variables,
    /// What clients add to the protocol.
    pub extensions: Map<String, Value>,
}

/// Reads a request's body. Strict where a mistake would otherwise go unnoticed: `query` must be a string, `variables`
/// and `extensions` objects, `operationName` a string; but for `query` each may be null or absent. Other keys are left
/// alone, as GraphQL-over-HTTP wants it.
pub fn read(body: &[u8]) -> Result<GraphqlRequest, RequestError> {
    if body.is_empty() {
        return refuse("the body is empty; send a JSON object with the key \"query\"");
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => of_object(object),
        Ok(Value::Array(_)) => refuse("a list of requests is not taken; send one request at a time"),
        Ok(_) => refuse("the body must be a JSON object with the key \"query\""),
        Err(error) => refuse(&format!("the body is not JSON: {error}")),
    }
}

/// Reads a request from a target's query component (GraphQL-over-HTTP, section "GET"): `query` and `operationName` are
/// text, `variables` and `extensions` JSON; but for `query`, an empty value is as good as none. Of each there may be one:
/// which of two is meant, a proxy or a cache might see otherwise. Other parameters are left alone.
pub fn of_target(component: Option<&str>) -> Result<GraphqlRequest, RequestError> {
    let mut object = Map::new();
    for pair in component.unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Ok(name) = decoded(name) else { continue };
        if !matches!(name.as_str(), "query" | "operationName" | "variables" | "extensions") {
            continue;
        }
        let Ok(value) = decoded(value) else { return refuse(&format!("the parameter \"{name}\" is not in UTF-8")) };
        let value = match name.as_str() {
            "query" => Value::String(value),
            _ if value.is_empty() => Value::Null,
            "operationName" => Value::String(value),
            _ => match serde_json::from_str(&value) {
                Ok(value) => value,
                Err(error) => return refuse(&format!("the parameter \"{name}\" is not JSON: {error}")),
            },
        };
        if object.contains_key(&name) {
            return refuse(&format!("the parameter \"{name}\" is given twice; give it once"));
        }
        object.insert(name, value);
    }
    of_object(object)
}

fn of_object(mut object: Map<String, Value>) -> Result<GraphqlRequest, RequestError> {
    let extensions = match object.remove("extensions") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(extensions)) => extensions,
        Some(_) => return refuse("\"extensions\" must be a JSON object or null"),
    };
    let query = match object.remove("query") {
        None => None,
        Some(Value::String(query)) => Some(query),
        // Where a hash stands for it.
        Some(Value::Null) if extensions.contains_key(persisted::EXTENSION) => None,
        Some(_) => return refuse("\"query\" must be a string that holds a GraphQL document"),
    };
    let operation_name = match object.remove("operationName") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return refuse("\"operationName\" must be a string or null"),
    };
    let variables = match object.remove("variables") {
        None | Some(Value::Null) => Variables::new(),
        Some(Value::Object(variables)) => variables,
        Some(_) => return refuse("\"variables\" must be a JSON object or null"),
    };
    Ok(GraphqlRequest { query, operation_name, variables, extensions })
}

/// A name or a value of `application/x-www-form-urlencoded`. `form_urlencoded` would put something else in place of what
/// is no UTF-8, and a query must not be read otherwise than it was written.
fn decoded(text: &str) -> Result<String, Utf8Error> {
    let text = text.replace('+', " ");
    Ok(percent_decode_str(&text).decode_utf8()?.into_owned())
}

fn refuse(what: &str) -> Result<GraphqlRequest, RequestError> {
    Err(RequestError::NotAGraphqlRequest(what.to_owned()))
}

/// The errors of an executed query, which stand behind its `data`: fields that could not be answered.
pub fn errors(faults: &[FieldError]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let part = |part: &PathPart| match part {
        PathPart::Key(key) => Value::from(&**key),
        PathPart::Index(index) => Value::from(*index),
    };
    let error = |fault: &FieldError| {
        json!({
            "message": fault.cause.to_string(),
            "path": fault.path.iter().map(part).collect::<Vec<_>>(),
            "extensions": {"code": ErrorCode::InternalServerError.as_str()},
        })
    };
    format!(",\"errors\":{}", faults.iter().map(error).collect::<Value>())
}

/// An answer's `extensions`, where the bucket was asked.
#[derive(Debug, Serialize)]
pub struct Extensions<'a> {
    /// What the query costs.
    pub cost: CostExtension<'a>,
}

/// `extensions.cost`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostExtension<'a> {
    /// The estimate, which is debited.
    pub requested_query_cost: u64,
    /// The same sum over the rows that came back.
    pub actual_query_cost: u64,
    /// The bucket then.
    pub throttle_status: Status,
    /// The price of every field, where the client asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<&'a Value>,
}

/// What every executed query's answer ends with, after its `data` and errors.
pub fn closing(cost: CostExtension<'_>) -> Vec<u8> {
    let mut text = b",\"extensions\":".to_vec();
    // Writing to memory cannot fail, and the keys are strings.
    let _ = serde_json::to_writer(&mut text, &Extensions { cost });
    text.push(b'}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> String {
        match read(body) {
            Err(RequestError::NotAGraphqlRequest(message)) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_read_with_all_its_parts_or_only_its_query() {
        let bare = read(br#"{"query": "{a}"}"#).unwrap();
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        let nulls = br#"{"query": "{a}", "variables": null, "operationName": null, "extensions": null, "id": 7}"#;
        assert_eq!(read(nulls).unwrap(), bare);
        let whole = br#"{"query": "{a}", "variables": {"x": 1}, "operationName": "A", "extensions": {}}"#;
        let whole = read(whole).unwrap();
        assert_eq!((whole.operation_name.as_deref(), whole.variables["x"].as_u64()), (Some("A"), Some(1)));
    }

    #[test]
    fn what_is_no_request_is_told_why() {
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
    fn a_hash_may_stand_in_place_of_the_query() {
        for body in [
            r#"{"extensions": {"persistedQuery": {"version": 1}}}"#,
            r#"{"extensions": {"persistedQuery": {"version": 1}}, "query": null}"#,
        ] {
            let envelope = read(body.as_bytes()).unwrap();
            assert_eq!((envelope.query, envelope.extensions["persistedQuery"]["version"].as_u64()), (None, Some(1)));
        }
    }

    #[test]
    fn a_target_holds_what_a_body_would() {
        let whole =
            "query=query+A(%24x%3aInt)%7Ba%7D&variables=%7B%22x%22:1%7D&operationName=A&extensions=%7B%7D&v=2&v=3";
        let whole = of_target(Some(whole)).unwrap();
        assert_eq!(whole.query.as_deref(), Some("query A($x:Int){a}"));
        assert_eq!((whole.operation_name.as_deref(), whole.variables["x"].as_u64()), (Some("A"), Some(1)));
        let bare = of_target(Some("query={a}&variables=&operationName=&extensions=")).unwrap();
        assert_eq!(bare, GraphqlRequest { query: Some("{a}".into()), ..GraphqlRequest::default() });
        assert_eq!(of_target(Some("variables=null")).unwrap(), GraphqlRequest::default());
        assert_eq!(of_target(Some("query=%F0%9F%8F%83")).unwrap().query.as_deref(), Some("🏃"));
        for nothing in [None, Some(""), Some("&&"), Some("Query={a}"), Some("%ff=1")] {
            assert_eq!(of_target(nothing).unwrap(), GraphqlRequest::default(), "{nothing:?}");
        }
    }

    #[test]
    fn a_target_that_is_no_request_is_told_why() {
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
            let Err(RequestError::NotAGraphqlRequest(message)) = of_target(Some(component)) else {
                panic!("{component}")
            };
            assert!(message.contains(part), "{component}: {message}");
        }
    }

    #[test]
    fn an_answer_is_one_object() {
        let throttle_status = Status { maximum_available: 1000, currently_available: 609, restore_rate: 50 };
        let cost = CostExtension { requested_query_cost: 391, actual_query_cost: 9, throttle_status, fields: None };
        let text = [OPENING, b"{\"order\":null}", &closing(cost)].concat();
        let expected = json!({
            "data": {"order": null},
            "extensions": {"cost": {
                "requestedQueryCost": 391,
                "actualQueryCost": 9,
                "throttleStatus": {"maximumAvailable": 1000, "currentlyAvailable": 609, "restoreRate": 50},
            }},
        });
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }
}
