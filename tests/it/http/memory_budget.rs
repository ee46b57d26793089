//! Clients that make the server hold bodies, and responses that they do not read.

use std::io::Write as _;

use bytes::Bytes;
use h2::RecvStream;
use hyper::Response;
use orderql::access::profile::Profile;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::http::{GRAPHQL_JSON, JSON, graphql_head};
use crate::support::http2::{ask, begin, connect, read};
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

/// What a connection may hold of this: one body as large as it may be, and its head.
const SHARE: usize = (512 + 64) << 10;
const BUDGET: [&str; 4] = ["--memory-budget", "4MiB", "--body-limit", "512KiB"];
const SMALL_BUDGET: [&str; 4] = ["--memory-budget", "2MiB", "--body-limit", "256KiB"];

/// The response has more than a hundred kilobytes.
const LARGE: &str = include_str!("../../../benches/micro/documents/introspection.graphql");
const SMALL: &str = "{ __typename }";

fn is_out_of_memory(response: &Response<RecvStream>) -> bool {
    response.status() == 503 && response.headers()["retry-after"] == "1"
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_bodies_take_no_more_than_the_budget() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &SMALL_BUDGET).await;
    // JSON may begin with spaces.
    let spaces = Bytes::from(vec![b' '; 200 << 10]);
    let (mut responses, mut unfinished) = (JoinSet::new(), Vec::new());
    for _ in 0..10 {
        let client = connect(&server, 65_535).await;
        for _ in 0..2 {
            let (response, mut sender) = begin(&client, &server, &token).await;
            sender.send_data(spaces.clone(), false).unwrap();
            unfinished.push(sender);
            responses.spawn(response);
        }
    }
    // A connection holds one body, and three quarters of the budget seven. All others are refused.
    for _ in 0..13 {
        assert!(is_out_of_memory(&responses.join_next().await.unwrap().unwrap().unwrap()));
    }
    let other = connect(&server, 65_535).await;
    assert_eq!(ask(&other, &server, &token, SMALL).await.status(), 200, "small requests have room");
    responses.shutdown().await;
    drop(unfinished);
    while is_out_of_memory(&ask(&other, &server, &token, &format!("{SMALL}{}", " ".repeat(200 << 10))).await) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_take_the_whole_budget_leave_operators_theirs() {
    let flags = [&SMALL_BUDGET[..], &["--admin-listen", "127.0.0.1:0"]].concat();
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &flags).await;
    let head = format!("{}Content-Length: 60000\r\n\r\n", graphql_head(&token, JSON));
    let padding = format!("X-Padding: {}", "x".repeat(4000));
    let mut unfinished = Vec::new();
    // Each connection holds so little that it may use the last quarter as well. The small ones take what the large ones leave.
    while server.request("GET /health/live", &[&padding], "").status == 200 {
        let sent = if unfinished.len() < 100 { 20_000 } else { 1000 };
        let mut stream = server.connect();
        stream.write_all(&[head.as_bytes(), &vec![b' '; sent]].concat()).unwrap();
        unfinished.push(stream);
        assert!(unfinished.len() < 200);
    }
    for path in ["/health/live", "/health/ready", "/metrics", "/config"] {
        assert_eq!(server.as_operator(&format!("GET {path}"), &[&padding], "").status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_responses_take_no_more_than_the_budget() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &BUDGET).await;
    let client = connect(&server, 0).await;
    let mut unread = Vec::new();
    let refused = loop {
        let response = ask(&client, &server, &token, LARGE).await;
        if response.status() != 200 {
            break response;
        }
        unread.push(response);
    };
    assert!(is_out_of_memory(&refused));
    let length: usize = unread[0].headers()["content-length"].to_str().unwrap().parse().unwrap();
    assert_eq!(unread.len(), SHARE / length);
    let other = connect(&server, 65_535).await;
    assert!(read(ask(&other, &server, &token, LARGE).await).await > 100_000, "other connections have their own share");
    drop(unread);
    while is_out_of_memory(&ask(&client, &server, &token, LARGE).await) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unread_response_keeps_its_callers_place_and_ends_its_connection() {
    let profile = Profile { concurrent_queries: Some(1), ..UNLIMITED_PROFILE };
    let (server, _database, token) = server_with_demo_user(profile, &["--write-timeout", "1s"]).await;
    let client = connect(&server, 0).await;
    let response = ask(&client, &server, &token, SMALL).await;
    assert_eq!(ask(&client, &server, &token, SMALL).await.status(), 429);
    // Other requests on the connection do not restart the time-out.
    let live = || hyper::Request::get(format!("http://{}/health/live", server.address)).body(()).unwrap();
    loop {
        let Ok(mut ready) = client.clone().ready().await else { break };
        let Ok((response, _)) = ready.send_request(live(), true) else { break };
        if response.await.is_err() {
            break;
        }
    }
    drop(response);
    let other = connect(&server, 65_535).await;
    while ask(&other, &server, &token, SMALL).await.status() == 429 {}
    assert!(read(ask(&other, &server, &token, LARGE).await).await > 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_count_before_they_are_made() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &SMALL_BUDGET).await;
    let post = |objects: usize| {
        let variables = json!({ "unused": vec![json!({ "a": 1 }); objects] });
        server.post(&token, GRAPHQL_JSON, json!({ "query": SMALL, "variables": variables }).to_string())
    };
    assert_eq!(post(100).status, 200);
    // Some kilobytes of text, which would be half a mebibyte of values.
    let refused = post(1_000);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let too_many = post(10_000);
    assert_eq!((too_many.status, too_many.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    let extensions = &too_many.json()["errors"][0]["extensions"];
    assert_eq!((&extensions["values"], &extensions["maxValues"]), (&json!(20_004), &json!(10_000)));
}
