//! GraphQL requests with POST: the checks of token, grant, media types and body, in this order.

use crate::support::http::{Response, bearer};
use crate::support::server::{Server, server_with_demo_user, server_with_users};
use crate::support::users::UNLIMITED_PROFILE;

fn post(server: &Server, headers: &[&str], body: impl AsRef<[u8]>) -> Response {
    server.request("POST /rest/s1/graphql", headers, body)
}

const JSON: &str = "Content-Type: application/json";

const ACCEPT_GRAPHQL_JSON: &str = "Accept: application/graphql-response+json";

#[tokio::test(flavor = "multi_thread")]
async fn checks_the_token_first() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let altered = format!("Authorization: Bearer {token}x");
    for headers in [
        &[][..],
        &["Authorization: Bearer"],
        &["Authorization: Bearer a.b.c"],
        &["Authorization: Basic ZGVtbzpkZW1v"],
        &[altered.as_str()],
        &["Accept: text/html", "Content-Type: text/plain"],
    ] {
        let response = post(&server, headers, "garbage");
        assert_eq!((response.status, response.code().as_str()), (401, "UNAUTHENTICATED"), "{headers:?}");
        assert!(response.header("www-authenticate").unwrap().starts_with("Bearer realm="), "{headers:?}");
    }
    let log = server.stop();
    assert!(!log.contains("garbage") && !log.contains("a.b.c") && !log.contains("ZGVtbzpkZW1v"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_the_current_grants_second() {
    let (server, database) = server_with_users(&[("guest", UNLIMITED_PROFILE)], &[]).await;
    let token = bearer(&server.token("guest"));
    let status = || post(&server, &[&token, JSON], "garbage").status;
    let forbidden = post(&server, &[&token], "garbage");
    assert_eq!((forbidden.status, forbidden.code().as_str()), (403, "FORBIDDEN"));
    let client = database.connect().await;
    client.execute("INSERT INTO orderql.group_member VALUES ('API', 'guest')", &[]).await.unwrap();
    while status() == 403 {}
    assert_eq!(status(), 400);
    client.execute("DELETE FROM orderql.artifact_grant WHERE artifact_group_id = 'GRAPHQL'", &[]).await.unwrap();
    while status() == 400 {}
    assert_eq!(status(), 403);
    client.execute("DELETE FROM orderql.user_account WHERE user_id = 'guest'", &[]).await.unwrap();
    while status() == 403 {}
    assert_eq!(status(), 401, "a token is invalid without its account");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_invalid_bodies_in_both_media_types() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    for body in [&b""[..], b"{", b"[]", b"{\"query\": 1}", b"\xff\xfe", b"{\"query\": \"\0\"}", b"\0", b"null"] {
        for accept in ["Accept: */*", ACCEPT_GRAPHQL_JSON] {
            let response = post(&server, &[&token, JSON, accept], body);
            assert_eq!((response.status, response.code().as_str()), (400, "BAD_USER_INPUT"), "{body:?}");
            assert_eq!(response.json().get("data").is_some(), accept != ACCEPT_GRAPHQL_JSON);
        }
    }
    let batch = post(&server, &[&token, JSON], "[{\"query\": \"{__typename}\"}]").json();
    let message = batch["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("a list of requests (a batch) is not accepted; send one request at a time"), "{message}");
    let deep = "[".repeat(500_000);
    assert_eq!(post(&server, &[&token, JSON], deep).status, 400);
    assert_eq!(post(&server, &[&token, JSON], "x".repeat((1 << 20) + 1)).status, 413);
    for content_type in ["Content-Type: text/plain", "Content-Type: application/json; charset=latin1", "X: y"] {
        assert_eq!(post(&server, &[&token, content_type], "{}").status, 415, "{content_type}");
    }
    assert_eq!(post(&server, &[&token, JSON, "Content-Encoding: gzip"], "{}").status, 415);
    assert_eq!(post(&server, &[&token, JSON, "Accept: text/html"], "{}").status, 406);
}
