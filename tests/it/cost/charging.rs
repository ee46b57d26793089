//! What an executed query answers, pays and leaves in the log, and what one that is not executed does not.

use std::io::Write;
use std::sync::Arc;

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use orderql::database::connect::connect;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::database::{Database, cluster, fresh_database};
use crate::support::server::{Answer, Server, read_text, until};

const ORDER: &str = "query One { order(orderId: \"NONE\") { orderName statusId grandTotal } }";

/// A server on a fresh database, and a token of `demo`, who has the profile.
async fn server(profile: Profile, flags: &[&str]) -> (Server, Database, String) {
    let database = fresh_database().await;
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    let server = Server::start(&database, flags);
    let token = server.token("demo");
    (server, database, token)
}

fn request(token: &str, query: &str, accept: &str) -> String {
    let body = json!({ "query": query }).to_string();
    let head = format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: {accept}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    head + &body
}

fn ask(server: &Server, token: &str, query: &str, accept: &str) -> Answer {
    let mut answers = server.exchange(request(token, query, accept));
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

const JSON: &str = "application/json";
const NEWER: &str = "application/graphql-response+json";

fn available(answer: &Answer) -> Value {
    answer.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executed_query_is_paid_and_tells_what_is_left() {
    let profile = Profile { bucket_size: Some(10), ..Profile::default() };
    let (server, _database, token) = server(profile, &["--restore-rate", "0"]).await;
    let answer = ask(&server, &token, ORDER, JSON);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json; charset=utf-8")));
    let body = answer.json();
    assert_eq!(body["data"], json!({"order": null}));
    assert_eq!(body["errors"], Value::Null);
    let cost = &body["extensions"]["cost"];
    assert_eq!(cost["requestedQueryCost"], 4);
    assert!(cost["actualQueryCost"].as_u64().unwrap() <= 4, "{body}");
    assert_eq!(cost["throttleStatus"], json!({"maximumAvailable": 10, "currentlyAvailable": 6, "restoreRate": 0}));

    // Refused documents pay nothing.
    let refused = ask(&server, &token, "{ orders { edges { node { orderId } } } }", JSON);
    assert_eq!((refused.status, refused.code().as_str()), (200, "FIRST_REQUIRED"));
    assert_eq!(refused.json()["data"], Value::Null);
    let refused = ask(&server, &token, "{ order(", NEWER);
    assert_eq!((refused.status, refused.code().as_str()), (400, "GRAPHQL_PARSE_FAILED"));
    assert_eq!(refused.json().get("data"), None);

    let log = server.stop();
    let line = log.lines().find(|line| line.contains("\"operation\":\"One\"")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["caller"], &line["cost"], &line["status"]), (&json!("demo"), &json!(4), &json!(200)));
    assert!(!log.contains("orderName") && !log.contains("NONE") && !log.contains(&token), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_the_bucket_cannot_cover_is_told_when_it_can() {
    let profile = Profile { bucket_size: Some(3), ..Profile::default() };
    let (server, _database, token) = server(profile, &[]).await;
    for (accept, status) in [(JSON, 200), (NEWER, 429)] {
        let answer = ask(&server, &token, ORDER, accept);
        assert_eq!((answer.status, answer.code().as_str()), (status, "THROTTLED"));
        let extensions = answer.json()["errors"][0]["extensions"].clone();
        assert_eq!((&extensions["requestedQueryCost"], &extensions["retryAfterMs"]), (&json!(4), &Value::Null));
        assert_eq!(available(&answer), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_past_its_deadline_is_cancelled_on_the_server_and_paid() {
    let profile = Profile { deadline_ms: Some(300), ..Profile::default() };
    let (server, database, token) = server(profile, &["--restore-rate", "0"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    for (accept, status) in [(JSON, 200), (NEWER, 504)] {
        let answer = ask(&server, &token, ORDER, accept);
        assert_eq!((answer.status, answer.code().as_str()), (status, "DEADLINE_EXCEEDED"), "{answer:?}");
    }
    // Nothing waits for the lock any more, although it is still held.
    wait_for_waiting(&database, 0).await;
    lock.rollback().await.unwrap();
    assert_eq!(available(&ask(&server, &token, ORDER, JSON)), 1000 - 3 * 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_queries_are_told_so_and_pay_nothing() {
    let (server, database, token) = server(Profile::default(), &["--restore-rate", "0"]).await;
    assert_eq!(available(&ask(&server, &token, ORDER, JSON)), 996);
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let name = database.name();
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", &[&name]).await.unwrap();
    for (accept, status) in [(JSON, 200), (NEWER, 503)] {
        let answer = ask(&server, &token, ORDER, accept);
        assert_eq!((answer.status, answer.code().as_str()), (status, "SERVICE_UNAVAILABLE"), "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    while ask(&server, &token, ORDER, NEWER).status == 503 {}
    assert_eq!(available(&ask(&server, &token, ORDER, JSON)), 1000 - 3 * 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_pool_is_waited_for_no_longer_than_it_may_be() {
    let (server, database, token) = server(Profile::default(), &["--pool-size", "1", "--pool-wait", "200ms"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let server = Arc::new(server);
    let mut both = JoinSet::new();
    for _ in 0..2 {
        let (server, token) = (Arc::clone(&server), token.clone());
        both.spawn_blocking(move || ask(&server, &token, ORDER, NEWER).status);
    }
    // The one that has no connection is answered while the other still waits for the lock.
    assert_eq!(both.join_next().await.unwrap().unwrap(), 503);
    lock.rollback().await.unwrap();
    assert_eq!(both.join_next().await.unwrap().unwrap(), 200);
}

/// Stores a hundred orders whose names have a hundred characters, and asks for each name so many times.
async fn names_of_a_hundred_orders(database: &Database, times: usize) -> String {
    let fill = "INSERT INTO order_header (order_id, order_name, order_date)
                SELECT 'L' || number, repeat('n', 100), '2026-05-01' FROM generate_series(100, 199) AS number";
    database.connect().await.batch_execute(fill).await.unwrap();
    let names: Vec<_> = (0..times).map(|number| format!("n{number}: orderName")).collect();
    format!("{{ orders(first: 100) {{ edges {{ node {{ {} }} }} }} }}", names.join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_answer_comes_in_parts_and_whole() {
    let profile = Profile { max_cost: Some(10_000), bucket_size: Some(10_000), ..Profile::default() };
    let (server, database, token) = server(profile, &[]).await;
    let query = names_of_a_hundred_orders(&database, 20).await;
    let answer = ask(&server, &token, &query, JSON);
    assert_eq!((answer.status, answer.header("transfer-encoding")), (200, Some("chunked")));
    let body = answer.json();
    let edges = body["data"]["orders"]["edges"].as_array().unwrap();
    assert_eq!(edges.len(), 100);
    assert!(edges.iter().all(|edge| edge["node"]["n19"] == json!("n".repeat(100))));
    assert_eq!(body["extensions"]["cost"]["actualQueryCost"], 100 * 21);
    // HTTP/1.0 knows no chunks: the connection's end is the answer's.
    let body = json!({ "query": query }).to_string();
    let head = format!(
        "POST /rest/s1/graphql HTTP/1.0\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = server.connect();
    stream.write_all((head + &body).as_bytes()).unwrap();
    let text = read_text(stream);
    assert!(text.split_once("\r\n\r\n").unwrap().1.ends_with("}}}}"), "{}", text.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let profile = Profile { max_cost: Some(1_000_000), bucket_size: Some(1_000_000), ..Profile::default() };
    let (mut server, database, token) = server(profile, &["--write-timeout", "200ms", "--grace", "1h"]).await;
    // 20 MB, more than the system keeps for a reader who does not read.
    let query = names_of_a_hundred_orders(&database, 2000).await;
    let mut stream = server.connect();
    stream.write_all(request(&token, &query, JSON).as_bytes()).unwrap();
    until(&stream, "HTTP/1.1 200 OK\r\n");
    server.tell_to_stop();
    let log = server.wait();
    assert!(!log.contains("cut off"), "it was not the grace time that ended it: {log}");
    assert!(!read_text(stream).ends_with("0\r\n\r\n"), "what is broken off does not look whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_its_statements_cancelled() {
    let (server, database, token) = server(Profile::default(), &[]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut stream = server.connect();
    stream.write_all(request(&token, ORDER, JSON).as_bytes()).unwrap();
    wait_for_waiting(&database, 1).await;
    drop(stream);
    wait_for_waiting(&database, 0).await;
    let log = server.stop();
    let line = log.lines().find(|line| line.contains("\"operation\":\"One\"")).unwrap();
    assert!(!line.contains("\"status\""), "it was not answered: {line}");
}

/// Waits until so many statements wait for a lock.
async fn wait_for_waiting(database: &Database, count: i64) {
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    while admin.query_one(waiting, &[&database.name()]).await.unwrap().get::<_, i64>(0) != count {}
}
