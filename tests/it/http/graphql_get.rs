//! GraphQL requests with GET: the query is in the target.

use serde_json::json;

use crate::support::http::bearer;
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

/// The header that accepts responses whose status depends on the error.
pub const ACCEPT_GRAPHQL_JSON: &str = "Accept: application/graphql-response+json";

const BY_ID: &str = "query ById($id: ID!) { order(orderId: $id) { orderName } } query Other { __typename }";

/// The target of a GraphQL request with these parameters.
pub fn target(parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("/rest/s1/graphql?{}", query.finish())
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_a_query_in_the_target_like_one_in_the_body() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let fill = "INSERT INTO order_header (order_id, order_name) VALUES ('A+1', 'Zwölf & mehr')";
    database.connect().await.batch_execute(fill).await.unwrap();
    let parameters =
        [("query", BY_ID), ("operationName", "ById"), ("variables", r#"{"id": "A+1"}"#), ("extensions", "{}")];
    let target = target(&parameters);
    for (accept, content_type) in [
        ("Accept: */*", "application/json; charset=utf-8"),
        (ACCEPT_GRAPHQL_JSON, "application/graphql-response+json; charset=utf-8"),
        (
            "Accept: application/graphql-response+json, application/json;q=0.9",
            "application/graphql-response+json; charset=utf-8",
        ),
        ("Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json; charset=utf-8"),
    ] {
        let response = server.request(&format!("GET {target}"), &[&token, accept], "");
        assert_eq!((response.status, response.header("content-type")), (200, Some(content_type)), "{accept}");
        assert_eq!(response.json()["data"], json!({"order": {"orderName": "Zwölf & mehr"}}));
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("vary"), Some("Accept, Accept-Encoding"));
    }
    let log = server.stop();
    assert!(log.contains("\"operation\":\"ById\"") && !log.contains("A+1") && !log.contains("orderName"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_a_query_in_the_target_like_one_in_the_body() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let get = |parameters: &[(&str, &str)], headers: &[&str]| {
        server.request(&format!("GET {}", target(parameters)), headers, "")
    };
    let typename = ("query", "{ __typename }");
    let anonymous = get(&[typename], &["Accept: text/html"]);
    assert_eq!((anonymous.status, anonymous.code().as_str()), (401, "UNAUTHENTICATED"));
    assert_eq!(get(&[typename], &[&token, "Accept: text/html"]).status, 406);
    for (parameters, part) in [
        (&[][..], "lacks the key"),
        (&[("Query", "{ __typename }")], "lacks the key"),
        (&[typename, typename], "\"query\" is given twice"),
        (&[typename, ("variables", ""), ("variables", "")], "\"variables\" is given twice"),
        (&[typename, ("variables", "{")], "\"variables\" is not JSON"),
        (&[typename, ("variables", "[]")], "\"variables\" must be"),
        (&[typename, ("extensions", "1")], "\"extensions\" must be"),
    ] {
        for accept in ["Accept: */*", ACCEPT_GRAPHQL_JSON] {
            let response = get(parameters, &[&token, accept]);
            assert_eq!((response.status, response.code().as_str()), (400, "BAD_USER_INPUT"), "{parameters:?}");
            assert!(response.json()["errors"][0]["message"].as_str().unwrap().contains(part), "{response:?}");
        }
    }
    let empty = [("query", BY_ID), ("operationName", "Other"), ("variables", ""), ("extensions", "")];
    assert_eq!(get(&empty, &[&token]).json()["data"]["__typename"].as_str().map(str::is_empty), Some(false));
    for (query, code) in [("{", "GRAPHQL_PARSE_FAILED"), ("mutation { __typename }", "GRAPHQL_VALIDATION_FAILED")] {
        let rejected = get(&[("query", query)], &[&token, ACCEPT_GRAPHQL_JSON]);
        assert_eq!((rejected.status, rejected.code().as_str()), (400, code));
        assert_eq!(get(&[("query", query)], &[&token]).status, 200);
    }
    let long = get(&[("query", &"a".repeat(9000))], &[&token]);
    assert_eq!((long.status, long.code().as_str()), (414, "URI_TOO_LONG"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_head_like_get_and_rejects_other_methods() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let target = target(&[("query", "{ __typename }")]);
    let get = server.request(&format!("GET {target}"), &[&token], "");
    let head = server.request(&format!("HEAD {target}"), &[&token], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for name in ["content-type", "content-length", "vary", "cache-control"] {
        assert!(head.header(name).is_some() && head.header(name) == get.header(name), "{name}: {head:?}");
    }
    assert_eq!(server.request(&format!("HEAD {target}"), &[], "").status, 401);
    for method in ["PUT", "DELETE", "PATCH", "BREW"] {
        let response = server.request(&format!("{method} {target}"), &[&token], "");
        let allow = Some("GET, HEAD, POST, OPTIONS");
        assert_eq!((response.status, response.header("allow")), (405, allow), "{method}");
    }
}
