//! The log of slow queries.

use std::collections::BTreeSet;
use std::thread;
use std::time::SystemTime;

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::database::{Database, loaded_database};
use crate::support::http::{JSON, Response};
use crate::support::server::{Server, server_with_users};
use crate::support::users::{UNLIMITED_PROFILE, create_users};
use crate::telemetry::access_log::events;

const QUERY: &str = "query Late($q: String) { some: orders(first: 3, query: $q) \
                     { edges { node { orderId shipGroups(first: 2) { edges { node { shipGroupSeqId } } } } } } }";

/// Waits until a server has observed the statements that wait for locks now. It does so again and again, on one connection.
async fn wait_for_observers(database: &Database) {
    let client = database.connect().await;
    let asked = "SELECT query_start FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'orderql-locks' AND query LIKE '%pg_locks%'
                     AND query_start > (SELECT max(waitstart) FROM pg_locks WHERE NOT granted)";
    // It prepares the question first, and asks again when it has seen the answer.
    let mut questions = BTreeSet::new();
    while questions.len() < 3 {
        let rows = client.query(asked, &[]).await.unwrap();
        questions.extend(rows.iter().map(|row| row.get::<_, SystemTime>(0)));
    }
}

fn hash(query: &str) -> String {
    Sha256::digest(query).iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_queries_are_logged_with_their_branches_and_without_variables() {
    let database = loaded_database().await;
    let hasty = Profile { deadline_ms: Some(400), ..UNLIMITED_PROFILE };
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE), ("hasty", hasty)]).await;
    // The only connection has prepared the statement when the second query runs.
    let flags = ["--slow-query", "1ms", "--access-log", "off", "--pool-size", "1"];
    let server = Server::start(&database, &flags);
    let silent = Server::start(&database, &["--slow-query", "off", "--access-log", "off"]);
    let body = json!({ "query": QUERY, "variables": { "q": "statusId:ORDER_APPROVED,GEHEIM" } }).to_string();
    let mut locker = database.connect().await;

    // One query waits for a lock, and gets it.
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_item_ship_group").await.unwrap();
    let responses = thread::scope(|scope| {
        let send = |server: &Server| server.post(&server.token("demo"), JSON, &body);
        let senders = [&server, &silent].map(|server| scope.spawn(move || send(server)));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                database.wait_for_lock_waits(2).await;
                wait_for_observers(&database).await;
                lock.commit().await.unwrap();
            });
        });
        senders.map(|sender| sender.join().unwrap())
    });
    assert_eq!(responses.each_ref().map(Response::code), ["", ""]);
    let count = responses[0].json()["data"]["some"]["edges"].as_array().unwrap().len();

    // Another one does not get it before its deadline.
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_item_ship_group").await.unwrap();
    assert_eq!(server.post(&server.token("hasty"), JSON, &body).code(), "DEADLINE_EXCEEDED");
    lock.commit().await.unwrap();

    assert_eq!(events(&silent.stop(), "slow query").len(), 0);
    let log = server.stop();
    let slow = events(&log, "slow query");
    let [demo, hasty] = ["demo", "hasty"].map(|caller| slow.iter().find(|event| event["caller"] == caller).unwrap());
    for event in [demo, hasty] {
        assert_eq!((&event["operation"], &event["hash"]), (&json!("Late"), &json!(hash(QUERY))));
        assert!(event["cost"].as_u64() > Some(0) && event["compile_ms"].as_f64() > Some(0.0), "{event}");
    }
    let branches = demo["branches"].as_str().unwrap();
    assert!(branches.starts_with(&format!("some: {count} rows; some.shipGroups: ")), "{demo}");
    assert_eq!(hasty["branches"], "some: not finished; some.shipGroups: not finished");
    assert!(hasty["statement_ms"].as_f64() > Some(300.0), "{hasty}");
    let [lock, prepare] = ["lock_ms", "prepare_ms"].map(|name| demo[name].as_f64().unwrap());
    assert!(lock > 0.0 && lock < prepare, "it waited when it was prepared: {demo}");
    assert!(hasty["prepare_ms"].is_number() && hasty.get("retries").is_none(), "{hasty}");
    [demo, hasty].into_iter().for_each(assert_adds_up);
    assert_eq!(demo["request_id"], json!(responses[0].header("x-request-id")));
    assert!(!log.contains("GEHEIM") && !log.contains("ORDER_APPROVED"), "{log}");
}

/// The times of the parts are no longer than the whole. Each may be rounded up by half a microsecond.
fn assert_adds_up(event: &Value) {
    let time = |name: &str| event[name].as_f64().unwrap_or_default();
    let parts = ["compile_ms", "wait_ms", "prepare_ms", "statement_ms"].map(time);
    assert!(parts.iter().sum::<f64>() <= time("duration_ms") + 0.01, "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_waits_for_a_lock_and_for_connections_is_logged_with_times_that_add_up() {
    let database = loaded_database().await;
    let hasty = Profile { deadline_ms: Some(400), ..UNLIMITED_PROFILE };
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE), ("hasty", hasty)]).await;
    let flags = ["--slow-query", "300ms", "--access-log", "off", "--pool-size", "1"];
    let server = Server::start(&database, &flags);
    let [demo, hasty] = ["demo", "hasty"].map(|user| server.token(user));
    let query = "{ order(orderId: \"NONE\") { orderId } }";
    // Until a connection that requests share has prepared it.
    let shared = "SELECT count(*) > 1 FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = 'orderql-queries'";
    let client = database.connect().await;
    while !client.query_one(shared, &[]).await.unwrap().get::<_, bool>(0) {
        server.query(&demo, query);
    }
    (0..5).for_each(|_| drop(server.query(&demo, query)));
    let mut locker = database.connect().await;
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    thread::scope(|scope| {
        let sender = scope.spawn(|| server.query(&demo, query));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                // On the connection that requests share it is given up after a second. Then it has the only other one.
                let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                             AND application_name = 'orderql-queries' AND query_start < now() - interval '1.2 s'";
                let has_waited = async || client.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) > 0;
                while !has_waited().await {}
                let other = "{ orders(first: 100) { edges { node { orderId } } } }";
                assert_eq!(server.query(&hasty, other).code(), "DEADLINE_EXCEEDED");
                lock.commit().await.unwrap();
            });
        });
        assert_eq!(sender.join().unwrap().code(), "");
    });
    let log = server.stop();
    let slow = events(&log, "slow query");
    let [demo, hasty] = ["demo", "hasty"].map(|caller| slow.iter().find(|event| event["caller"] == caller).unwrap());
    [demo, hasty].into_iter().for_each(assert_adds_up);
    assert!(hasty["wait_ms"].as_f64() > Some(200.0) && hasty.get("statement_ms").is_none(), "{hasty}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_not_compiled_in_time_is_logged_with_the_hash_of_its_text() {
    let hasty = Profile { deadline_ms: Some(1), ..UNLIMITED_PROFILE };
    let flags = ["--slow-query", "1ms", "--access-log", "off"];
    let (server, _database) = server_with_users(&[("hasty", hasty)], &flags).await;
    // A name that nobody has is compared with all that there are.
    let fields = (0..4000).map(|number| format!("wrong{number}")).collect::<Vec<_>>().join(" ");
    let query = format!("{{ orders(first: 1) {{ edges {{ node {{ {fields} }} }} }} }}");
    assert_eq!(server.query(&server.token("hasty"), &query).code(), "SERVICE_UNAVAILABLE");
    let log = server.stop();
    let slow = events(&log, "slow query");
    assert_eq!(slow.len(), 1, "{log}");
    assert_eq!(slow[0]["hash"], hash(&query));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_export_the_slowest_page_is_logged() {
    let database = loaded_database().await;
    let hasty = Profile { deadline_ms: Some(400), ..UNLIMITED_PROFILE };
    create_users(&mut database.connect().await, &[("hasty", hasty)]).await;
    let server = Server::start(&database, &["--slow-query", "300ms", "--access-log", "off"]);
    let mut locker = database.connect().await;
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_item_ship_group").await.unwrap();
    let body = json!({ "query": QUERY.replace("($q: String)", "").replace(", query: $q", "") }).to_string();
    assert_eq!(server.post(&server.token("hasty"), "application/x-ndjson", &body).code(), "DEADLINE_EXCEEDED");
    lock.commit().await.unwrap();
    let log = server.stop();
    let slow = events(&log, "slow query");
    assert_eq!(slow.len(), 1, "{log}");
    assert_eq!((&slow[0]["operation"], &slow[0]["page"]), (&json!("Late"), &json!(1)));
    assert_eq!(slow[0]["branches"], "", "preparing the statement waited for the lock: {log}");
    assert!(slow[0]["cost"].as_u64() > Some(0), "{log}");
}
