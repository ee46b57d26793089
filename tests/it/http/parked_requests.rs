//! `Prefer: wait` on a change feed: requests that wait until something changed.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use jwt_simple::algorithms::EdDSAKeyPairLike as _;
use jwt_simple::claims::Claims;
use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::http::{JSON, Response, graphql_head, with_body};
use crate::support::http2;
use crate::support::server::{Server, server_with_demo_user, server_with_users, wait_until};
use crate::support::signing_key::signing_key;
use crate::support::users::UNLIMITED_PROFILE;

const PARKED: &str = "orderql_parked_requests";
/// The statements that were run.
const STATEMENTS: &str =
    "db_client_operation_duration_seconds_count{db_operation_name=\"SELECT\",db_system_name=\"postgresql\"}";
const ADMIN: [&str; 2] = ["--admin-listen", "127.0.0.1:0"];

const QUERY: &str = "query($after: String) { orderChanges(first: 1, after: $after) { edges { node { orderId } } \
                     pageInfo { hasNextPage endCursor } } }";

fn body(after: Option<&str>) -> String {
    json!({ "query": QUERY, "variables": { "after": after } }).to_string()
}

fn request(token: &str, after: Option<&str>, wait: u32) -> String {
    with_body(&format!("{}Prefer: wait={wait}\r\n", graphql_head(token, JSON)), &body(after))
}

fn ask(server: &Server, token: &str, after: Option<&str>, wait: u32) -> Response {
    server.send(request(token, after, wait))
}

fn end(response: &Value) -> String {
    response["data"]["orderChanges"]["pageInfo"]["endCursor"]
        .as_str()
        .unwrap_or_else(|| panic!("{response}"))
        .to_owned()
}

fn orders(response: &Value) -> Vec<&str> {
    let edges = response["data"]["orderChanges"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["orderId"].as_str().unwrap()).collect()
}

fn now(server: &Server, token: &str) -> String {
    end(&ask(server, token, None, 0).json())
}

/// Begins a request that waits for half a minute.
async fn park(client: &SendRequest<Bytes>, server: &Server, token: &str, after: &str) -> ResponseFuture {
    let request = hyper::Request::post(format!("http://{}/rest/s1/graphql", server.address))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", JSON)
        .header("prefer", "wait=30")
        .body(())
        .unwrap();
    let (response, mut sender) = client.clone().ready().await.unwrap().send_request(request, false).unwrap();
    sender.send_data(body(Some(after)).into(), true).unwrap();
    response
}

async fn read(response: ResponseFuture) -> Value {
    let mut body = response.await.unwrap().into_body();
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        bytes.extend_from_slice(&part);
    }
    serde_json::from_slice(&bytes).unwrap()
}

async fn insert(client: &Client, id: &str) {
    client.execute("INSERT INTO order_header (order_id) VALUES ($1)", &[&id]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn all_parked_requests_answer_after_one_commit_and_each_caller_has_a_limit() {
    let flags = [&ADMIN[..], &["--parked-requests", "100", "--queue-length", "100"]].concat();
    let profile = Profile { concurrent_queries: Some(1000), ..UNLIMITED_PROFILE };
    let (server, database, token) = server_with_demo_user(profile, &flags).await;
    let after = now(&server, &token);
    let mut responses = Vec::new();
    for _ in 0..2 {
        let client = http2::connect(&server, 1 << 16).await;
        for _ in 0..50 {
            responses.push(park(&client, &server, &token, &after).await);
        }
    }
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 100);
    let refused = ask(&server, &token, Some(&after), 30);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("THROTTLED", Some("1")), "{}", refused.body);
    assert_eq!(orders(&ask(&server, &token, Some(&after), 0).json()), [""; 0], "one that does not wait is answered");
    let used =
        r#"db_client_connection_count{db_client_connection_pool_name="queries",db_client_connection_state="used"}"#;
    server.wait_for_metrics(|metrics| metrics.get(used) == 0);
    insert(&database.connect().await, "X1").await;
    for response in responses {
        assert_eq!(orders(&read(response).await), ["X1"]);
    }
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
}

/// Accounts like that of `demo`, which were made an hour ago.
const CALLERS: &str = "
    INSERT INTO orderql.user_account (user_id, password_hash, password_changed_at)
    SELECT 'caller' || n, password_hash, now() - interval '1 hour'
    FROM orderql.user_account, generate_series(1, 1000) AS n WHERE user_id = 'demo';
    INSERT INTO orderql.group_member (group_id, user_id)
    SELECT group_id, 'caller' || n FROM orderql.group_member, generate_series(1, 1000) AS n WHERE user_id = 'demo'";

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_callers_answer_after_one_commit() {
    let (server, database, demo) = server_with_demo_user(Profile::DEFAULT, &ADMIN).await;
    let postgres = database.connect().await;
    postgres.batch_execute(CALLERS).await.unwrap();
    let (_, key) = signing_key(&server);
    let token = |caller: usize| {
        let claims = Claims::create(jwt_simple::prelude::Duration::from_hours(1));
        key.sign(claims.with_issuer("orderql").with_subject(format!("caller{caller}"))).unwrap()
    };
    wait_until(|| server.query(&token(1000), "{ __typename }").status == 200);
    let after = now(&server, &demo);
    let mut responses = Vec::new();
    for connection in 0..20 {
        let client = http2::connect(&server, 1 << 16).await;
        for caller in 1..=50 {
            responses.push(park(&client, &server, &token(50 * connection + caller), &after).await);
        }
    }
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1000);
    // They take nothing of what others need.
    assert_eq!(server.query(&demo, "{ orders(first: 1) { edges { cursor } } }").status, 200);
    insert(&postgres, "X1").await;
    for response in responses {
        assert_eq!(orders(&read(response).await), ["X1"]);
    }
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_request_costs_what_it_finds() {
    let flags = [&ADMIN[..], &["--restore-rate", "0"]].concat();
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &flags).await;
    let client = database.connect().await;
    let first = ask(&server, &token, None, 0);
    // Without changes it ends with its token, and costs nothing.
    let empty = ask(&server, &token, Some(&end(&first.json())), 1);
    assert_eq!(empty.header("preference-applied"), Some("wait"));
    assert_eq!((orders(&empty.json()), empty.available()), (Vec::new(), first.available()));
    assert_eq!(empty.json()["data"]["orderChanges"]["pageInfo"], first.json()["data"]["orderChanges"]["pageInfo"]);
    assert_eq!(empty.json()["extensions"]["cost"]["requestedQueryCost"], 0);
    // What is there is answered at once.
    insert(&client, "X1").await;
    let found = ask(&server, &token, Some(&end(&empty.json())), 30);
    assert_eq!((orders(&found.json()), found.available()), (vec!["X1"], first.available() - 2));
    // A commit wakes it, and not the write before.
    client.batch_execute("BEGIN; INSERT INTO order_header (order_id) VALUES ('X2')").await.unwrap();
    let connection = http2::connect(&server, 1 << 16).await;
    let response = park(&connection, &server, &token, &end(&found.json())).await;
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1);
    insert(&database.connect().await, "X3").await;
    let other = read(response).await;
    assert_eq!(orders(&other), ["X3"], "of another transaction, which began later");
    let response = park(&connection, &server, &token, &end(&other)).await;
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1);
    client.batch_execute("COMMIT").await.unwrap();
    let woken = read(response).await;
    assert_eq!(orders(&woken), ["X2"]);
    let available = &woken["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"];
    assert_eq!(available, &json!(found.available() - 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_waits_no_more() {
    let flags = [&ADMIN[..], &["--max-wait", "1h"]].concat();
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &flags).await;
    let after = now(&server, &token);
    let mut stream = server.connect();
    stream.write_all(request(&token, Some(&after), 3600).as_bytes()).unwrap();
    let client = http2::connect(&server, 1 << 16).await;
    let response = park(&client, &server, &token, &after).await;
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 2);
    drop((stream, response));
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_changes_put_off_what_else_is_free() {
    let flags = [&ADMIN[..], &["--parked-requests", "400", "--queue-length", "500"]].concat();
    let profile = Profile { concurrent_queries: Some(1000), ..UNLIMITED_PROFILE };
    let (server, _database, token) = server_with_demo_user(profile, &flags).await;
    let after = now(&server, &token);
    // Each page claims five milliseconds and what it took, and all that are read at once claim what each of them took.
    let mut is_late = false;
    for _ in 0..10 {
        let (mut clients, mut responses) = (Vec::new(), Vec::new());
        for _ in 0..8 {
            let client = http2::connect(&server, 1 << 16).await;
            for _ in 0..50 {
                responses.push(park(&client, &server, &token, &after).await);
            }
            clients.push(client);
        }
        // They have their places all the same, and wait for their turns.
        server.wait_for_metrics(|metrics| metrics.get(PARKED) == 400);
        if is_late {
            return;
        }
        is_late = server.query(&token, "{ __typename }").code() == "THROTTLED";
        drop((clients, responses));
        server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
    }
    panic!("4,000 pages were read, and no other free query was refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn parked_requests_end_with_their_tokens_when_the_server_stops_and_with_an_error_when_their_account_is_closed() {
    let users = [("demo", Profile::DEFAULT), ("other", Profile::DEFAULT)];
    let (server, database) = server_with_users(&users, &[&ADMIN[..], &["--grace", "1h"]].concat()).await;
    let [token, closed] = ["demo", "other"].map(|user| server.token(user));
    let (client, postgres) = (http2::connect(&server, 1 << 16).await, database.connect().await);
    let after = now(&server, &closed);
    let statements = server.metrics().get(STATEMENTS);
    let response = park(&client, &server, &closed, &after).await;
    // Its first page has been read.
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1 && metrics.get(STATEMENTS) > statements);
    let disable = "UPDATE orderql.user_account SET disabled = true WHERE user_id = 'other'";
    postgres.batch_execute(disable).await.unwrap();
    let refused = loop {
        let response = server.query(&closed, "{ __typename }");
        if response.status != 200 {
            break response;
        }
    };
    assert_eq!(refused.code(), "UNAUTHENTICATED");
    insert(&postgres, "X1").await;
    let ended = read(response).await;
    assert_eq!(ended["errors"][0]["extensions"]["code"], "UNAUTHENTICATED", "{ended}");

    let after = now(&server, &token);
    let response = park(&client, &server, &token, &after).await;
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1);
    server.terminate();
    let response = tokio::time::timeout(Duration::from_mins(1), read(response)).await.unwrap();
    assert_eq!((orders(&response), end(&response)), (Vec::new(), after));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_request_for_changes_after_a_token_waits_for_them() {
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &["--max-wait", "1h"]).await;
    // These are answered at once, although nothing changes.
    assert_eq!(orders(&ask(&server, &token, None, 3600).json()), [""; 0]);
    let head = format!("{}Prefer: wait=3600\r\n", graphql_head(&token, JSON));
    let both = QUERY.replacen('{', "{ orders(first: 1) { edges { cursor } }", 1);
    let both = json!({ "query": both, "variables": { "after": now(&server, &token) } }).to_string();
    assert_eq!(orders(&server.send(with_body(&head, &both)).json()), [""; 0]);
    // One between two pages reads up to the snapshot of the first, and is answered with what is left of that.
    let client = database.connect().await;
    let token_of_now = now(&server, &token);
    for id in ["X1", "X2", "X3"] {
        insert(&client, id).await;
    }
    let first = ask(&server, &token, Some(&token_of_now), 3600).json();
    insert(&client, "X4").await;
    let second = ask(&server, &token, Some(&end(&first)), 3600).json();
    let third = ask(&server, &token, Some(&end(&second)), 3600).json();
    let fourth = ask(&server, &token, Some(&end(&third)), 3600).json();
    assert_eq!([first, second, third, fourth].each_ref().map(orders), [["X1"], ["X2"], ["X3"], ["X4"]]);
    let wrong = ask(&server, &token, Some("x"), 3600);
    assert_eq!(wrong.code(), "BAD_USER_INPUT");
}
