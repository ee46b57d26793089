//! The access log: which requests are in it, and what it says about them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::orders::update::{INPUT_BOX, ONE_BOX};
use crate::support::database::migrated_database;
use crate::support::http::{JSON, Response, bearer};
use crate::support::server::{Server, wait_until};
use crate::support::store::{Store, URLENCODED};
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// The events of a log with that message.
pub fn events(log: &str, message: &str) -> Vec<Value> {
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["message"] == message).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_setting_says_which_requests_are_logged() {
    let database = migrated_database().await;
    for (setting, statuses) in [
        ("all", &[200, 200, 404, 200, 200, 404, 200, 200, 404][..]),
        ("errors", &[404, 404, 404]),
        // The first, the fifth and the ninth.
        ("sampled:4", &[200, 200, 404]),
        ("off", &[]),
    ] {
        let server = Server::start(&database, &["--access-log", setting]);
        for path in ["/health/live", "/health/ready", "/nowhere"].repeat(3) {
            server.get(path);
        }
        let log = server.stop();
        let logged: Vec<_> = events(&log, "request").iter().map(|event| event["status"].as_u64().unwrap()).collect();
        assert_eq!(logged, statuses, "{setting}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_logged_with_its_bytes_times_and_trace() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let server = Server::start(&database, &["--admin-listen", "0", "--trusted-proxies", "127.0.0.1"]);
    let token = server.token("demo");
    let body = json!({ "query": "query Named { orders(first: 1) { edges { node { orderId } } } }" }).to_string();
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let headers = [
        &bearer(&token),
        "Content-Type: application/json",
        &format!("Accept: {JSON}"),
        "X-Forwarded-For: 192.0.2.7",
        &format!("traceparent: 00-{trace}-b7ad6b7169203331-01"),
    ];
    let response = server.request("POST /rest/s1/graphql", &headers, &body);
    let gets =
        [server.request("GET /health/live", &["traceparent: nonsense"], ""), server.get_as_operator("/health/live")];
    let log = server.stop();
    let logged = events(&log, "request");
    let find = |route: &str| logged.iter().filter(|event| event["route"] == route).collect::<Vec<_>>();
    let query = find("graphql")[0];
    for (field, value) in [
        ("trace_id", json!(trace)),
        ("listener", json!("public")),
        ("peer", json!("192.0.2.7")),
        ("bytes_in", json!(body.len())),
        ("bytes_out", json!(response.body.len())),
        ("request_id", json!(response.header("x-request-id"))),
        ("operation", json!("Named")),
        ("caller", json!("demo")),
        ("cost", json!(2)),
    ] {
        assert_eq!(query[field], value, "{field}");
    }
    let times = ["compile_ms", "wait_ms", "database_ms", "duration_ms"].map(|field| query[field].as_f64().unwrap());
    assert!(times.iter().all(|time| *time > 0.0) && times[..3].iter().all(|time| *time <= times[3]), "{times:?}");
    let gets: Vec<_> = find("live").into_iter().zip(gets).collect();
    assert_eq!(gets.iter().map(|(event, _)| &event["listener"]).collect::<Vec<_>>(), ["public", "admin"]);
    for (event, response) in gets {
        assert_eq!((&event["peer"], &event["bytes_out"]), (&json!("127.0.0.1"), &json!(response.body.len())));
        let missing = ["trace_id", "compile_ms", "wait_ms", "database_ms", "cost"];
        assert!(missing.iter().all(|field| event.get(field).is_none()), "{event}");
    }
    // A port alone is one of the loopback address.
    let listening = events(&log, "listening");
    assert!(listening.iter().any(|event| {
        event["endpoints"] == "admin" && event["address"].as_str().unwrap().starts_with("127.0.0.1:")
    }));
}

/// Each failure of an order update is logged with its status and its code of the table, whatever step it fails at.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_order_update_is_logged_with_its_code() {
    let store = Store::open().await;
    let expected = [
        (store.update_with_key("k", INPUT_BOX), 200, None),
        (store.update("facilityId=%00"), 400, Some("BAD_USER_INPUT")),
        (store.update("facilityId=S&rej_quantity_0=1"), 400, Some("BAD_USER_INPUT")),
        (store.update_with_key("a b", INPUT_BOX), 400, Some("BAD_REQUEST")),
        (store.update(&INPUT_BOX.replace("SHIP_INPUT", "NONE")), 404, Some("NOT_FOUND")),
        (store.update(&INPUT_BOX.replace("SHIP_INPUT", "SHIP_PACKED")), 409, Some("CONFLICT")),
        (store.update_with_key("k", ONE_BOX), 422, Some("IDEMPOTENCY_KEY_REUSED")),
        (store.send(&["Content-Type: text/plain"], INPUT_BOX), 415, Some("UNSUPPORTED_MEDIA_TYPE")),
        (store.send_as("x", &[URLENCODED], INPUT_BOX), 401, Some("UNAUTHENTICATED")),
    ];
    let log = store.server.stop();
    let logged = events(&log, "request");
    for (response, status, code) in expected {
        assert_eq!(response.status, status, "{response:?}");
        let id = response.header("x-request-id").unwrap();
        let event = logged.iter().find(|event| event["request_id"] == id).unwrap();
        assert_eq!((&event["status"], event["error_code"].as_str()), (&json!(status), code), "{event}");
        assert_eq!(event["route"], "updateOrder");
        assert_eq!(event["token_fault"], if status == 401 { json!("malformed") } else { Value::Null });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_to_the_database_are_named_after_their_role() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let server = Server::start(&database, &[]);
    let names = "SELECT DISTINCT application_name FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name LIKE '%-%' ORDER BY 1";
    let rows = client.query(names, &[]).await.unwrap();
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(names.contains(&"orderql-accounts".to_owned()), "{names:?}");
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_changes_which_requests_are_logged() {
    let database = migrated_database().await;
    let folder = TestFolder::create("access-log");
    let file = folder.path().join("orderql.toml");
    fs::write(&file, "access-log = 'off'").unwrap();
    let server = Server::start(&database, &["--admin-listen", "0", "--config", file.to_str().unwrap()]);
    let id = |response: Response| response.header("x-request-id").unwrap().to_owned();
    let before = id(server.get("/health/live"));
    fs::write(&file, "access-log = 'all'").unwrap();
    assert!(Command::new("kill").args(["-HUP", &server.id().to_string()]).status().unwrap().success());
    wait_until(|| server.get_as_operator("/config").json()["access-log"]["value"] != "off");
    let after = id(server.get("/health/live"));
    let log = server.stop();
    assert!(!log.contains(&before) && log.contains(&after), "{log}");
}
