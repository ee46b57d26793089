//! Outages of PostgreSQL: clients get an error meanwhile, and the server recovers by itself.

use std::process::Command;
use std::sync::Arc;

use orderql::access::profile::Profile;
use orderql::database::address::ClusterAddress;
use orderql::database::cluster::Cluster;
use orderql::database::connect::connect;
use orderql::database::migrate::migrate;
use orderql::database::options::{ClusterOptions, Durability};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_postgres::{Client, Config};

use crate::support::cluster::throwaway_cluster;
use crate::support::http::{GRAPHQL_JSON, JSON, Response};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// A PostgreSQL server that the test may kill.
struct Postgres {
    folder: TestFolder,
    address: ClusterAddress,
}

/// A query of 4 credits.
const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";

impl Postgres {
    /// Starts it with a migrated database and the user `demo`.
    async fn start(name: &str) -> Self {
        let folder = TestFolder::create(&format!("outage-{name}"));
        let address = Cluster::open(&durable_cluster(&folder)).unwrap().leave_running();
        let postgres = Self { folder, address };
        postgres.address.create_database("orders", None).await.unwrap();
        let mut client = postgres.connect().await;
        migrate(&mut client).await.unwrap();
        create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
        postgres
    }

    fn config(&self) -> Config {
        self.address.config("orders")
    }

    async fn connect(&self) -> Client {
        connect(&self.config()).await.unwrap()
    }

    /// Sends a signal to the server's first process.
    fn signal(&self, signal: &str) {
        send(signal, &self.folder.postmaster().unwrap());
    }

    /// Stops the server immediately, like a crash, and waits until it has ended.
    async fn kill(&self) {
        self.signal("-QUIT");
        while connect(&self.config()).await.is_ok() || self.folder.postmaster().is_some() {}
    }

    fn restart(&self) {
        let address = Cluster::open(&durable_cluster(&self.folder)).unwrap().leave_running();
        assert_eq!(address, self.address);
    }

    /// Waits until exactly `count` statements of the server wait for locks.
    async fn wait_for_lock_waits(&self, count: i64) {
        let admin = connect(&self.address.config("postgres")).await.unwrap();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'orders' AND wait_event_type = 'Lock'";
        while admin.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) != count {}
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Opening and dropping a cluster stops its server, in whatever state the test has left it.
        drop(Cluster::open(&durable_cluster(&self.folder)));
    }
}

/// The options of a cluster that keeps committed rows after a crash.
fn durable_cluster(folder: &TestFolder) -> ClusterOptions {
    ClusterOptions { durability: Durability::Durable, ..throwaway_cluster(folder.path()) }
}

fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}

/// Starts a server whose queries have no deadline and whose buckets are never refilled, and returns a token.
fn serve(postgres: &Postgres, flags: &[&str]) -> (Arc<Server>, String) {
    let server =
        Server::start_with_config(&postgres.config(), &[&["--deadline", "1h", "--restore-rate", "0"], flags].concat());
    let token = server.token("demo");
    (Arc::new(server), token)
}

/// Sends `count` queries at the same time.
fn send_queries(server: &Arc<Server>, token: &str, count: usize) -> JoinSet<Response> {
    let mut queries = JoinSet::new();
    for _ in 0..count {
        let (server, token) = (Arc::clone(server), token.to_owned());
        queries.spawn_blocking(move || server.query(&token, ORDER));
    }
    queries
}

fn assert_unavailable(response: &Response) {
    assert_eq!((response.status, response.header("retry-after")), (200, Some("1")), "{response:?}");
    let body = response.json();
    assert_eq!(body["data"], Value::Null);
    let expected = json!({"code": "SERVICE_UNAVAILABLE", "retryAfterMs": 1000});
    assert_eq!(body["errors"][0]["extensions"], expected);
}

/// Panics unless all responses report that the database is unavailable. The server's log explains an internal error.
fn assert_all_unavailable(responses: &[Response], server: Arc<Server>) -> Arc<Server> {
    let internal_errors = responses.iter().filter(|response| response.code() == "INTERNAL_SERVER_ERROR").count();
    assert!(internal_errors == 0, "{}", Arc::into_inner(server).unwrap().stop());
    responses.iter().for_each(assert_unavailable);
    server
}

/// Sends queries until one succeeds. The others must report that the database is unavailable.
fn wait_for_recovery(server: &Server, token: &str) -> Response {
    loop {
        let response = server.query(token, ORDER);
        if response.json().get("errors").is_none() {
            return response;
        }
        assert_unavailable(&response);
    }
}

/// Stops the server. Panics if it has logged an internal error.
fn stop(server: Arc<Server>) {
    let log = Arc::into_inner(server).unwrap().stop();
    assert!(!log.contains("panicked") && !log.contains("internal error") && !log.contains("\"status\":500"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_an_outage_and_recovers_after_it() {
    let postgres = Postgres::start("away").await;
    let (server, token) = serve(&postgres, &["--pool-size", "4"]);
    // Opens every connection of the pool.
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let queries = send_queries(&server, &token, 4);
    postgres.wait_for_lock_waits(4).await;
    lock.rollback().await.unwrap();
    let least = queries.join_all().await.iter().map(Response::available).min();
    assert_eq!(least, Some(1000 - 4 * 4));

    for outage in 1..=2 {
        postgres.kill().await;
        // More queries than connections.
        for response in send_queries(&server, &token, 12).join_all().await {
            assert_unavailable(&response);
        }
        let newer = server.post(&token, GRAPHQL_JSON, json!({ "query": ORDER }).to_string());
        assert_eq!((newer.status, newer.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
        assert_eq!(newer.json().get("data"), None);

        // Requests that need no database still succeed.
        for (query, code) in [
            ("{ orders { edges { cursor } } }", "FIRST_REQUIRED"),
            (
                "{ orders(first: 100) { edges { node { orderItems(first: 10) { edges { cursor } } } } } }",
                "COST_EXCEEDED",
            ),
            ("{ order(", "GRAPHQL_PARSE_FAILED"),
            ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ] {
            assert_eq!(server.query(&token, query).code(), code);
        }
        assert_eq!(server.query(&token, "{ __typename }").json()["data"], json!({"__typename": "Query"}));
        assert_eq!(server.post("a.b.c", JSON, "{}").status, 401);
        assert_eq!(server.sign_in("/auth/token", "demo", "demo").status, 200);
        assert_eq!(server.sign_in("/auth/token", "demo", "wrong").status, 401);
        assert_eq!(server.get("/rest/s1/graphql/sdl").status, 200);
        assert_eq!(server.get("/health/live").status, 200);
        while server.get("/health/ready").status == 200 {}
        assert_eq!(server.get("/health/ready").status, 503);

        postgres.restart();
        // Only executed queries are debited.
        assert_eq!(wait_for_recovery(&server, &token).available(), 1000 - 4 * (4 + outage));
        while server.get("/health/ready").status == 503 {}
        // The server receives notifications of grants again.
        let name = format!("after{outage}");
        create_users(&mut postgres.connect().await, &[(&name, Profile::DEFAULT)]).await;
        while server.sign_in("/auth/token", &name, &name).status == 401 {}
    }
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_queries_fail_at_once_when_postgresql_stops() {
    let postgres = Postgres::start("flight").await;
    let (server, token) = serve(&postgres, &["--pool-size", "6", "--pool-wait", "1h"]);
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    // Six queries run, and four wait for a connection.
    let queries = send_queries(&server, &token, 10);
    postgres.wait_for_lock_waits(6).await;
    postgres.kill().await;
    let server = assert_all_unavailable(&queries.join_all().await, server);
    postgres.restart();
    assert_eq!(wait_for_recovery(&server, &token).available(), 996, "unanswered queries are not debited");
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn recovers_from_a_crash_of_a_postgresql_process() {
    let postgres = Postgres::start("crash").await;
    let (mut server, token) = serve(&postgres, &[]);
    for _ in 0..3 {
        wait_for_recovery(&server, &token);
        let mut client = loop {
            // PostgreSQL may still be recovering.
            if let Ok(client) = connect(&postgres.config()).await {
                break client;
            }
        };
        let lock = client.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE order_header").await.unwrap();
        let queries = send_queries(&server, &token, 3);
        postgres.wait_for_lock_waits(3).await;
        // PostgreSQL ends all its processes if one of them is killed.
        let victim: i32 = lock.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        send("-KILL", &victim.to_string());
        server = assert_all_unavailable(&queries.join_all().await, server);
    }
    wait_for_recovery(&server, &token);
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_wait_for_a_postgresql_that_does_not_answer() {
    let postgres = Postgres::start("stopped").await;
    let (server, token) = serve(&postgres, &["--pool-size", "1"]);
    // The socket still accepts connections.
    postgres.signal("-STOP");
    for response in send_queries(&server, &token, 4).join_all().await {
        assert_unavailable(&response);
    }
    postgres.signal("-CONT");
    assert_eq!(wait_for_recovery(&server, &token).available(), 996);
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn replaces_idle_connections_that_postgresql_closes() {
    let postgres = Postgres::start("idle").await;
    let client = postgres.connect().await;
    let (mut server, token) = serve(&postgres, &["--bucket-size", "1000000", "--pool-size", "2"]);
    // Applies to all connections of the pool, because it has none yet. The time is so short that PostgreSQL also closes
    // connections between two statements of a request.
    client.batch_execute("ALTER DATABASE orders SET idle_session_timeout = 1").await.unwrap();
    for _ in 0..20 {
        let (failed, succeeded): (Vec<_>, Vec<_>) = send_queries(&server, &token, 10)
            .join_all()
            .await
            .into_iter()
            .partition(|response| response.json().get("errors").is_some());
        server = assert_all_unavailable(&failed, server);
        assert!(succeeded.iter().all(|response| response.json()["data"] == json!({"order": null})));
    }
    client.batch_execute("ALTER DATABASE orders RESET idle_session_timeout").await.unwrap();
    wait_for_recovery(&server, &token);
    stop(server);
}
