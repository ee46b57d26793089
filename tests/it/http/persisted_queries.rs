//! Automatic persisted queries.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::graphql_get::{ACCEPT_GRAPHQL_JSON, target};
use crate::support::http::{Response, bearer};
use crate::support::server::{Server, server_with_demo_user, server_with_users};
use crate::support::users::UNLIMITED_PROFILE;

/// The extensions that name a query by its hash.
fn hash_of(query: &str) -> Value {
    let mut hash = String::new();
    for byte in Sha256::digest(query) {
        write!(hash, "{byte:02x}").unwrap();
    }
    json!({"persistedQuery": {"version": 1, "sha256Hash": hash}})
}

fn post(server: &Server, headers: &[&str], body: &Value) -> Response {
    let headers = [headers, &["Content-Type: application/json"]].concat();
    server.request("POST /rest/s1/graphql", &headers, body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persisted_query_is_sent_once_and_then_found_by_its_hash() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let query = "query Named { __typename }";
    for accept in ["Accept: */*", ACCEPT_GRAPHQL_JSON] {
        let unknown = post(&server, &[&token, accept], &json!({"extensions": hash_of(query)}));
        assert_eq!((unknown.status, unknown.code().as_str()), (200, "PERSISTED_QUERY_NOT_FOUND"));
        let body = unknown.json();
        assert_eq!((&body["data"], &body["errors"][0]["message"]), (&Value::Null, &json!("PersistedQueryNotFound")));
    }
    let other = json!({"query": "{ __typename }", "extensions": hash_of(query)});
    let mismatch = post(&server, &[&token], &other);
    assert_eq!((mismatch.status, mismatch.code().as_str()), (400, "BAD_USER_INPUT"));
    assert_eq!(mismatch.json()["errors"][0]["message"], "provided sha does not match query");

    let first = post(&server, &[&token], &json!({"query": query, "extensions": hash_of(query)}));
    assert_eq!((first.status, &first.json()["errors"]), (200, &Value::Null));
    let second = post(&server, &[&token], &json!({"operationName": "Named", "extensions": hash_of(query)}));
    assert_eq!(second.json()["data"], first.json()["data"]);
    // A browser sends the hash in the target, so that a cache can store the response.
    let line = format!("GET {}", target(&[("extensions", &hash_of(query).to_string())]));
    assert_eq!(server.request(&line, &[&token], "").json()["data"], first.json()["data"]);
    assert_eq!(server.request(&line, &[], "").status, 401, "a hash is no token");

    // An invalid text is not stored.
    let wrong = "{ wrong }";
    let rejected = post(&server, &[&token], &json!({"query": wrong, "extensions": hash_of(wrong)}));
    assert_eq!(rejected.code(), "GRAPHQL_VALIDATION_FAILED");
    let again = post(&server, &[&token], &json!({"extensions": hash_of(wrong)}));
    assert_eq!(again.code(), "PERSISTED_QUERY_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_hashes_if_persisted_queries_are_off() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--persisted-queries", "off"]).await;
    let token = bearer(&token);
    let query = "{ __typename }";
    let response = post(&server, &[&token], &json!({"extensions": hash_of(query)}));
    assert_eq!((response.status, response.code().as_str()), (200, "PERSISTED_QUERY_NOT_SUPPORTED"));
    assert_eq!(response.json()["errors"][0]["message"], "PersistedQueryNotSupported");
    assert_eq!(post(&server, &[&token], &json!({"query": query})).json()["errors"], Value::Null);
}

/// A query with a comment that makes it `bytes` long.
fn padded_query(name: &str, bytes: usize) -> String {
    let query = format!("query {name} {{ __typename }} #");
    format!("{query}{}", "x".repeat(bytes - query.len()))
}

/// Sends a query's text and hash, so that it is stored.
fn persist(server: &Server, token: &str, query: &str) -> Response {
    post(server, &[token, ACCEPT_GRAPHQL_JSON], &json!({"query": query, "extensions": hash_of(query)}))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_texts_of_one_caller_do_not_evict_those_of_another() {
    let users = [("demo", UNLIMITED_PROFILE), ("other", UNLIMITED_PROFILE)];
    let (server, _database) = server_with_users(&users, &["--persisted-queries", "64KiB"]).await;
    let [demo, other] = ["demo", "other"].map(|user| bearer(&server.token(user)));
    let own = "query Own { __typename }";
    assert_eq!(persist(&server, &demo, own).status, 200);
    // Together more than three times what the store holds.
    let others: Vec<_> = (0..25).map(|number| padded_query(&format!("Q{number}"), 8 << 10)).collect();
    for query in &others {
        assert_eq!(persist(&server, &other, query).status, 200);
    }
    let is_stored = |query: &str| post(&server, &[&other], &json!({"extensions": hash_of(query)})).code().is_empty();
    assert!(is_stored(own), "the text of `demo` is found by everybody");
    assert!(is_stored(others.last().unwrap()), "a caller's own oldest text is evicted first");
    assert!(!is_stored(&others[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_a_text_that_is_too_large_to_be_stored() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let largest = padded_query("Largest", 64 << 10);
    assert_eq!(persist(&server, &token, &largest).status, 200);
    assert_eq!(post(&server, &[&token], &json!({"extensions": hash_of(&largest)})).json()["errors"], Value::Null);
    let larger = padded_query("Larger", (64 << 10) + 1);
    let rejected = persist(&server, &token, &larger);
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "PERSISTED_QUERY_TOO_LARGE"));
    let extensions = &rejected.json()["errors"][0]["extensions"];
    assert_eq!((&extensions["bytes"], &extensions["maxBytes"]), (&json!(65537), &json!(65536)));
    let without_hash = post(&server, &[&token], &json!({"query": larger}));
    assert_eq!(without_hash.json()["errors"], Value::Null, "without its hash it is an ordinary query");
}
