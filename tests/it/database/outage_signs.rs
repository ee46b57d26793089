//! What tells an operator of an outage: parts of the service, alerts, lines of the log and statuses. The connections to the database, the
//! database, its disk, its locks and a replica are taken away one by one, and `docs/run.md` names what is found.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use orderql::database::connection::connect::connect;
use serde_json::Value;
use tokio_postgres::Client;

use crate::database::postgres::{ORDER, Postgres, assert_unavailable, send_queries, serve};
use crate::database::refusals::{full_disk, update_box};
use crate::database::replicas::servers::Servers;
use crate::support::alerts::assert_fire;
use crate::support::http::{GRAPHQL_JSON, Response};
use crate::support::metrics::Metrics;
use crate::support::server::{Server, wait_until};

/// Panics unless the row of the table of outages says all of this.
fn assert_documented(outage: &str, signs: &[&str]) {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/run.md")).unwrap();
    let row =
        page.lines().find(|line| line.starts_with(&format!("| {outage} |"))).unwrap_or_else(|| panic!("{outage}"));
    for sign in signs {
        assert!(row.contains(&format!("`{sign}`")), "{sign} is not in {row}");
    }
}

/// The part's status, as operators see it.
fn status_of(server: &Server, part: &str) -> String {
    server.get_as_operator("/health/ready").json()["parts"][part]["status"].as_str().unwrap().to_owned()
}

fn has_code(code: &'static str, count: u64) -> impl Fn(&Metrics) -> bool {
    move |metrics| metrics.get(&format!("orderql_errors_total{{code=\"{code}\"}}")) >= count
}

fn log_of(server: Arc<Server>) -> String {
    Arc::into_inner(server).unwrap().stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn other_clients_take_all_connections() {
    let settings = [("max_connections", "14"), ("superuser_reserved_connections", "0")];
    let postgres = Postgres::start_with("signs-full", &settings).await;
    let (server, token) = serve(&postgres, &["--pool-size", "4", "--shared-connections", "off", "--admin-listen", "0"]);
    let before = server.metrics();
    let others = take_connections(&postgres).await;
    for response in send_queries(&server, &token, 6).join_all().await {
        assert_unavailable(&response);
    }
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, ORDER).status, 503);
    assert_eq!(["pool", "database"].map(|part| status_of(&server, part)), ["failed", "degraded"]);
    let ready = server.get_as_operator("/health/ready");
    let reason = ready.json()["parts"]["database"]["reason"].as_str().unwrap().to_owned();
    assert!(ready.status == 503 && reason.contains("max_connections"), "{ready:?}");
    // While nobody asks for anything, a connection is tried all the same.
    let failed =
        r#"orderql_failed_connects_total{db_client_connection_pool_name="queries",error_type="too_many_connections"}"#;
    let count = server.metrics().get(failed);
    assert!(count >= 1);
    server.wait_for_metrics(|metrics| metrics.get(failed) > count);
    let during = server.wait_for_metrics(has_code("SERVICE_UNAVAILABLE", 7));
    let alerts = ["OrderqlNotReady", "OrderqlConnectsFail", "OrderqlServerErrors"];
    assert_fire(&alerts, &before, &during);
    // The parts recover by themselves.
    drop(others);
    wait_until(|| ["pool", "database"].iter().all(|part| status_of(&server, part) == "ok"));
    assert_eq!(server.get("/health/ready").status, 200);
    assert_eq!(server.query(&token, ORDER).available(), 996);

    // Connections that are open go on working when others have all that are left.
    let others = take_connections(&postgres).await;
    others[0].batch_execute("BEGIN; LOCK TABLE order_header").await.unwrap();
    let queries = send_queries(&server, &token, 4);
    wait_until(|| status_of(&server, "pool") == "degraded" && server.get("/health/ready").status == 200);
    others[0].batch_execute("ROLLBACK").await.unwrap();
    let answered = queries.join_all().await.iter().filter(|response| response.code().is_empty()).count();
    assert!(answered >= 1, "that on the connection that was open");
    drop(others);
    let log = log_of(server);
    let lines = ["no connection to the database can be opened", "connections to the database can be opened again"];
    assert!(lines.iter().all(|line| log.contains(line)), "{log}");
    assert_documented("connections: other clients have all", &[&alerts[..], &lines[..1], &["pool", "503"]].concat());
}

/// Takes all connections that are left.
async fn take_connections(postgres: &Postgres) -> Vec<Client> {
    let mut others = Vec::new();
    while let Ok(client) = connect(&postgres.config()).await {
        others.push(client);
    }
    others
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_is_stopped() {
    let postgres = Postgres::start("signs-away").await;
    let (server, token) = serve(&postgres, &["--pool-size", "2", "--admin-listen", "0"]);
    let before = server.metrics();
    postgres.kill().await;
    assert_unavailable(&server.query(&token, ORDER));
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, ORDER).status, 503);
    wait_until(|| status_of(&server, "database") == "failed");
    let during = server.wait_for_metrics(has_code("SERVICE_UNAVAILABLE", 2));
    let alerts = ["OrderqlNotReady", "OrderqlConnectsFail", "OrderqlServerErrors"];
    assert_fire(&alerts, &before, &during);
    postgres.restart();
    wait_until(|| ["pool", "database", "accounts"].iter().all(|part| status_of(&server, part) == "ok"));
    let log = log_of(server);
    let lines = ["no connection to the database can be opened", "changes of grants are no longer received"];
    assert!(lines.iter().all(|line| log.contains(line)), "{log}");
    assert_documented(
        "the database: it is stopped or unreachable",
        &[&alerts[..], &lines, &["database", "503"]].concat(),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_is_full() {
    let postgres = Postgres::start("signs-disk").await;
    let Some((disk, client)) = full_disk(&postgres).await else { return };
    let (server, token) = serve(&postgres, &["--admin-listen", "0"]);
    let before = server.metrics();
    assert_eq!(update_box(&server, &token, "full").status, 503);
    let during = server.wait_for_metrics(has_code("SERVICE_UNAVAILABLE", 1));
    let alerts = ["OrderqlServerErrors", "OrderqlDatabaseErrors"];
    assert_fire(&alerts, &before, &during);
    let log = log_of(server);
    assert!(log.contains("the service is unavailable") && log.contains("No space left on device"), "{log}");
    let line = "the service is unavailable";
    assert_documented("its disk: it is full", &[&alerts[..], &[line, "No space left on device", "503"]].concat());
    drop((client, postgres, disk));
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_are_held() {
    let postgres = Postgres::start("signs-locks").await;
    let flags = ["--pool-size", "2", "--admin-listen", "0", "--deadline", "2s", "--pool-wait", "1h"];
    let server = Arc::new(Server::start_with_config(&postgres.config(), &flags));
    let token = server.token("demo");
    let before = server.metrics();
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let queries = send_queries(&server, &token, 5);
    wait_until(|| status_of(&server, "pool") == "degraded");
    let codes: Vec<_> = queries.join_all().await.iter().map(Response::code).collect();
    assert!(codes.iter().filter(|code| *code == "DEADLINE_EXCEEDED").count() >= 2, "{codes:?}");
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, ORDER).status, 504);
    let during = server.wait_for_metrics(has_code("DEADLINE_EXCEEDED", 3));
    let alerts = ["OrderqlDeadlineExceeded", "OrderqlServerErrors"];
    assert_fire(&alerts, &before, &during);
    lock.rollback().await.unwrap();
    wait_until(|| status_of(&server, "pool") == "ok");
    let log = log_of(server);
    let slow = log.lines().filter(|line| line.contains("slow query"));
    let waits = slow.filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["lock_ms"].as_f64());
    assert!(waits.into_iter().any(|wait| wait > 0.0), "{log}");
    assert_documented("locks: somebody holds one", &[&alerts[..], &["slow query", "lock_ms", "pool", "504"]].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_is_stopped() {
    let servers = Servers::start("signs-replica", [&[], &[]]).await;
    let service = servers.serve(&[]);
    service.wait_for_replicas(2);
    let before = service.server.metrics();
    servers.standbys[0].stop();
    service.wait_for_replicas(1);
    let response = service.query(0, ORDER, &[]);
    assert!(response.status == 200 && response.code().is_empty(), "{response:?}");
    let during = service.server.metrics();
    assert_eq!(during.get("orderql_ready"), 1);
    assert_fire(&["OrderqlPartDegraded"], &before, &during);
    let log = log_of(service.server);
    assert!(log.contains("a replica is not read"), "{log}");
    let signs = ["OrderqlPartDegraded", "a replica is not read", "replica HOST:PORT", "200"];
    assert_documented("a replica: it is stopped or unreachable", &signs);
}
