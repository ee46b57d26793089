//! Queries that wait for their credits or their place, in their caller's line.

use std::io::Write as _;
use std::net::TcpStream;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::http::{GRAPHQL_JSON, Response, graphql_head, read_last_response, read_to_end, with_body};
use crate::support::http2;
use crate::support::server::{Server, server_with_demo_user, server_with_users};

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";
const FREE: &str = "{ __typename }";

/// A query with `Prefer: wait=…`, if it has one.
fn request(token: &str, wait: Option<&str>, body: &Value) -> String {
    let prefer = wait.map(|wait| format!("Prefer: wait={wait}\r\n")).unwrap_or_default();
    with_body(&format!("{}{prefer}", graphql_head(token, GRAPHQL_JSON)), &body.to_string())
}

fn send(server: &Server, token: &str, wait: Option<&str>, query: &str) -> Response {
    server.send(request(token, wait, &json!({ "query": query })))
}

/// Sends a query whose response is read later.
fn begin(server: &Server, token: &str, wait: Option<&str>, query: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.write_all(request(token, wait, &json!({ "query": query })).as_bytes()).unwrap();
    stream
}

fn end(stream: TcpStream) -> Response {
    let (mut response, body) = read_last_response(stream);
    response.body = String::from_utf8(body).unwrap();
    response
}

fn facts(response: &Response) -> Value {
    response.json()["errors"][0]["extensions"].clone()
}

/// Waits until so many queries of the caller wait behind a running one.
fn wait_until_waiting(server: &Server, token: &str, count: u64) {
    let waiting = || facts(&send(server, token, Some("0"), FREE))["waitingQueries"].as_u64().unwrap_or(0);
    while waiting() != count {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_waits_for_its_credits_if_its_client_prefers_to() {
    let profile = Profile { bucket_size: Some(10), restore_rate: Some(20), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &["--max-wait", "1h"]).await;
    // 40 credits are 30 more than the bucket holds.
    for _ in 0..10 {
        let served = send(&server, &token, Some("10"), ORDER);
        assert_eq!((served.status, served.header("preference-applied")), (200, Some("wait")));
        assert_eq!(served.json()["data"], json!({ "order": null }));
    }
    // One that does not want to wait is refused. It may take some until the bucket is empty.
    let refused = loop {
        let response = send(&server, &token, None, ORDER);
        if response.status == 429 {
            break response;
        }
    };
    assert_eq!((refused.code().as_str(), refused.header("preference-applied")), ("THROTTLED", None));
    assert!(facts(&refused)["retryAfterMs"].as_u64().unwrap() <= 200);
    let impatient = loop {
        let response = send(&server, &token, Some("0"), ORDER);
        if response.status == 429 {
            break response;
        }
    };
    assert_eq!((impatient.code().as_str(), impatient.header("preference-applied")), ("THROTTLED", Some("wait")));
    let log = server.stop();
    let entries = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let paid: u64 = entries.filter_map(|entry| entry["cost"].as_u64()).sum();
    assert!(paid >= 40 && paid.is_multiple_of(4), "{paid}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_whose_credits_are_restored_too_late_is_refused_at_once() {
    let profile = Profile { bucket_size: Some(5), deadline_ms: Some(3_600_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &["--max-wait", "1h", "--restore-rate", "0"]).await;
    assert_eq!(send(&server, &token, Some("3600"), ORDER).status, 200);
    // If it waited, the test would take an hour.
    let refused = send(&server, &token, Some("3600"), ORDER);
    assert_eq!((refused.status, refused.header("preference-applied")), (429, Some("wait")));
    let expected = json!({
        "code": "THROTTLED", "requestedQueryCost": 4, "currentlyAvailable": 1, "retryAfterMs": null,
    });
    assert_eq!(facts(&refused), expected);
    // So is one whose client prefers to wait for longer than may be.
    let (server, _database, token) =
        server_with_demo_user(Profile { restore_rate: Some(1), ..profile }, &["--max-wait", "1s"]).await;
    assert_eq!(send(&server, &token, None, ORDER).status, 200);
    let refused = send(
        &server,
        &token,
        Some("3600"),
        "{ orders(first: 1) { edges { node { orderId statusId orderName orderDate } } } }",
    );
    assert_eq!(refused.status, 429);
    assert!(facts(&refused)["retryAfterMs"].as_u64().unwrap() > 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_wait_for_a_place_within_the_bounds_of_their_line() {
    let profile = Profile { concurrent_queries: Some(1), ..Profile::DEFAULT };
    let users = [("demo", profile), ("other", profile)];
    let flags = ["--max-wait", "1h", "--deadline", "1h", "--queue-wait", "10ms", "--queue-length", "2"];
    let (server, database) = server_with_users(&users, &flags).await;
    let (token, other) = (server.token("demo"), server.token("other"));
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let first = begin(&server, &token, None, ORDER);
    database.wait_for_lock_waits(1).await;
    // Without the header it waits for `queue-wait`.
    let refused = send(&server, &token, None, ORDER);
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    let second = begin(&server, &token, Some("3600"), ORDER);
    wait_until_waiting(&server, &token, 1);
    let third = begin(&server, &token, Some("3600"), FREE);
    wait_until_waiting(&server, &token, 2);
    // The line is full.
    let refused = facts(&send(&server, &token, Some("3600"), FREE));
    assert_eq!((&refused["maxConcurrentQueries"], &refused["waitingQueries"]), (&json!(1), &json!(2)));
    assert_eq!(send(&server, &other, None, FREE).status, 200, "another caller is not affected");
    // A client that hangs up leaves the line.
    drop(second);
    wait_until_waiting(&server, &token, 1);
    let fourth = begin(&server, &token, Some("3600"), ORDER);
    wait_until_waiting(&server, &token, 2);
    lock.rollback().await.unwrap();
    for stream in [first, third, fourth] {
        assert_eq!(end(stream).status, 200);
    }
    assert_eq!(send(&server, &token, None, ORDER).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_counts_towards_the_deadline() {
    let profile = Profile { concurrent_queries: Some(1), deadline_ms: Some(100), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &["--max-wait", "1h"]).await;
    // A response that nobody reads keeps its place.
    let client = http2::connect(&server, 0).await;
    let _unread = http2::ask(&client, &server, &token, FREE).await;
    let refused = send(&server, &token, Some("3600"), ORDER);
    assert_eq!((refused.status, refused.code().as_str()), (429, "THROTTLED"));
    assert_eq!(facts(&refused)["maxConcurrentQueries"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_tells_those_that_wait_and_finishes_those_that_run() {
    let profile = Profile { concurrent_queries: Some(1), ..Profile::DEFAULT };
    let flags = ["--max-wait", "1h", "--deadline", "1h", "--grace", "1h"];
    let (mut server, database, token) = server_with_demo_user(profile, &flags).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let running = begin(&server, &token, None, ORDER);
    database.wait_for_lock_waits(1).await;
    let waiting = begin(&server, &token, Some("3600"), ORDER);
    wait_until_waiting(&server, &token, 1);
    server.terminate();
    let response = end(waiting);
    assert_eq!((response.status, response.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
    assert_eq!(response.header("retry-after"), Some("1"));
    assert!(response.body.contains("the server is stopping"), "{response:?}");
    lock.rollback().await.unwrap();
    assert!(read_to_end(running).contains("\"data\":{\"order\":null}"));
    assert!(!server.wait().contains("cut off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_was_refused_is_refused_again_without_a_look_at_its_variables() {
    let profile = Profile { bucket_size: Some(4), ..Profile::DEFAULT };
    let users = [("demo", profile), ("rich", Profile { bucket_size: Some(1000), ..profile })];
    let (server, _database) = server_with_users(&users, &["--restore-rate", "0"]).await;
    let (token, rich) = (server.token("demo"), server.token("rich"));
    let query = "query Named($id: ID!) { order(orderId: $id) { orderName statusId grandTotal } }";
    let send = |token: &str, variables: Value| {
        server.send(request(token, None, &json!({ "query": query, "variables": variables })))
    };
    assert_eq!(send(&token, json!({ "id": "NONE" })).status, 200);
    assert_eq!(send(&token, json!({})).code(), "BAD_USER_INPUT");
    let [first, second] = [send(&token, json!({ "id": "NONE" })), send(&token, json!({}))];
    assert_eq!((first.status, first.json()), (second.status, second.json()));
    assert_eq!(second.code(), "THROTTLED");
    // A caller with credits gets the error.
    assert_eq!(send(&rich, json!({})).code(), "BAD_USER_INPUT");
    assert_eq!(send(&rich, json!({ "id": "NONE" })).status, 200);
    let log = server.stop();
    let refused = log.lines().filter(|line| line.contains("THROTTLED") && line.contains("\"operation\":\"Named\""));
    assert_eq!(refused.count(), 2, "{log}");
}
