//! The JSON round a query and round its answer (the specification's request body and response envelope).

use serde_json::{Map, Value, json};

use crate::{
    http::respond::{Denial, throttle_status},
    query::{Request, Variables},
    throttle::bucket::Status,
};

/// What every executed query's answer begins with; its `data` follows.
pub const OPENING: &[u8] = b"{\"data\":";

/// Reads a request's body. Strict where a mistake would otherwise go unnoticed: `query` must be a string, `variables`
/// and `extensions` objects, `operationName` a string; but for `query` each may be null or absent. Other keys are left
/// alone, as GraphQL-over-HTTP wants it.
pub fn read(body: &[u8]) -> Result<Request, Denial> {
    let refuse = |what: &str| Err(Denial::NotARequest(what.to_owned()));
    if body.is_empty() {
        return refuse("the body is empty; send a JSON object with the key \"query\"");
    }
    let mut object: Map<String, Value> = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(Value::Array(_)) => return refuse("a list of requests is not taken; send one request at a time"),
        Ok(_) => return refuse("the body must be a JSON object with the key \"query\""),
        Err(error) => return refuse(&format!("the body is not JSON: {error}")),
    };
    let query = match object.remove("query") {
        Some(Value::String(query)) => query,
        Some(_) => return refuse("\"query\" must be a string that holds a GraphQL document"),
        None => return refuse("the body lacks the key \"query\", a string that holds a GraphQL document"),
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
    match object.remove("extensions") {
        None | Some(Value::Null | Value::Object(_)) => Ok(Request { query, operation_name, variables }),
        Some(_) => refuse("\"extensions\" must be a JSON object or null"),
    }
}

/// What every executed query's answer ends with, after its `data`.
///
/// `requested` is the estimate, which was debited; `actual` the same sum over the rows that came back; `fields`
/// is the price of every field, where the client asked for it.
pub fn closing(requested: u64, actual: u64, status: &Status, fields: Option<Value>) -> String {
    let mut cost = json!({
        "requestedQueryCost": requested,
        "actualQueryCost": actual,
        "throttleStatus": throttle_status(status),
    });
    if let Some(fields) = fields {
        cost["fields"] = fields;
    }
    format!(",\"extensions\":{{\"cost\":{cost}}}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> String {
        match read(body) {
            Err(Denial::NotARequest(message)) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_read_with_all_its_parts_or_only_its_query() {
        let bare = read(br#"{"query": "{a}"}"#).unwrap();
        assert_eq!(bare, Request { query: "{a}".into(), ..Request::default() });
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
            (b"{}", "lacks the key \"query\""),
            (b"{\"query\": null}", "\"query\" must be a string"),
            (b"{\"query\": [\"{a}\"]}", "\"query\" must be a string"),
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
    fn an_answer_is_one_object() {
        let status = Status { maximum_available: 1000, currently_available: 609, restore_rate: 50 };
        let text = [OPENING, b"{\"order\":null}", closing(391, 9, &status, None).as_bytes()].concat();
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
