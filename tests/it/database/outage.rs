//! PostgreSQL goes away under a running server and comes back: what clients are told meanwhile, and that nobody has to
//! lend a hand.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::Arc;
use std::{env, fs};

use orderql::access::profile::Profile;
use orderql::database::address::ClusterAddress;
use orderql::database::cluster::Cluster;
use orderql::database::connect::connect;
use orderql::database::migrate::migrate;
use orderql::database::options::{ClusterOptions, Durability};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_postgres::{Client, Config};

use crate::support::http::{GRAPHQL_JSON, JSON, Response};
use crate::support::server::Server;
use crate::support::users::create_users;

/// A PostgreSQL of a test's own, which it may kill.
struct Postgres {
    folder: PathBuf,
    address: ClusterAddress,
}

/// A query of 4 credits.
const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";

impl Postgres {
    /// A migrated database with the user `demo`.
    async fn start(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("orderql-outage-{}-{name}", process::id()));
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let address = Cluster::open(&options(&folder)).unwrap().leave_running();
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
        let claim = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        send(signal, claim.lines().next().unwrap());
    }

    /// Ends the server without a word to anybody, as a crash does, and waits until it is gone.
    async fn kill(&self) {
        self.signal("-QUIT");
        while connect(&self.config()).await.is_ok() || self.folder.join("data/postmaster.pid").exists() {}
    }

    fn restart(&self) {
        let address = Cluster::open(&options(&self.folder)).unwrap().leave_running();
        assert_eq!(address, self.address);
    }

    /// Waits until so many statements of the service wait for a lock.
    async fn wait_for_waiting(&self, count: i64) {
        let admin = connect(&self.address.config("postgres")).await.unwrap();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'orders' AND wait_event_type = 'Lock'";
        while admin.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) != count {}
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Stops it, whatever state the test has left it in.
        drop(Cluster::open(&options(&self.folder)));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn options(folder: &std::path::Path) -> ClusterOptions {
    ClusterOptions {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        // What was committed has to be there after a crash.
        durability: Durability::Durable,
        settings: Vec::new(),
    }
}

fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}

/// A server whose queries have all the time in the world and whose buckets tell exactly what was paid, and a token.
fn serve(postgres: &Postgres, flags: &[&str]) -> (Arc<Server>, String) {
    let server =
        Server::start_with_config(&postgres.config(), &[&["--deadline", "1h", "--restore-rate", "0"], flags].concat());
    let token = server.token("demo");
    (Arc::new(server), token)
}

/// Asks that many times at once.
fn ask_at_once(server: &Arc<Server>, token: &str, count: usize) -> JoinSet<Response> {
    let mut asking = JoinSet::new();
    for _ in 0..count {
        let (server, token) = (Arc::clone(server), token.to_owned());
        asking.spawn_blocking(move || server.query(&token, ORDER));
    }
    asking
}

fn assert_unavailable(answer: &Response) {
    assert_eq!((answer.status, answer.header("retry-after")), (200, Some("1")), "{answer:?}");
    let body = answer.json();
    assert_eq!(body["data"], Value::Null);
    let expected = json!({"code": "SERVICE_UNAVAILABLE", "retryAfterMs": 1000});
    assert_eq!(body["errors"][0]["extensions"], expected);
}

/// The same of several. Where one was taken for a fault, the server's log tells why.
fn assert_all_unavailable(answers: &[Response], server: Arc<Server>) -> Arc<Server> {
    let faults = answers.iter().filter(|answer| answer.code() == "INTERNAL_SERVER_ERROR").count();
    assert!(faults == 0, "{}", Arc::into_inner(server).unwrap().stop());
    answers.iter().for_each(assert_unavailable);
    server
}

/// Asks until the database answers, which it must with data or not at all.
fn wait_for_recovery(server: &Server, token: &str) -> Response {
    loop {
        let answer = server.query(token, ORDER);
        if answer.json().get("errors").is_none() {
            return answer;
        }
        assert_unavailable(&answer);
    }
}

/// Ends the server, which must never have taken the outage for a fault of its own.
fn end(server: Arc<Server>) {
    let log = Arc::into_inner(server).unwrap().stop();
    assert!(!log.contains("panicked") && !log.contains("internal error") && !log.contains("\"status\":500"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_postgresql_is_away_clients_are_told_so_and_afterwards_served() {
    let postgres = Postgres::start("away").await;
    let (server, token) = serve(&postgres, &["--pool-size", "4"]);
    // Every connection of the pool is made, and idles.
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let asking = ask_at_once(&server, &token, 4);
    postgres.wait_for_waiting(4).await;
    lock.rollback().await.unwrap();
    let least = asking.join_all().await.iter().map(Response::available).min();
    assert_eq!(least, Some(1000 - 4 * 4));

    for outage in 1..=2 {
        postgres.kill().await;
        // More than there were connections.
        for answer in ask_at_once(&server, &token, 12).join_all().await {
            assert_unavailable(&answer);
        }
        let newer = server.post(&token, GRAPHQL_JSON, json!({ "query": ORDER }).to_string());
        assert_eq!((newer.status, newer.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
        assert_eq!(newer.json().get("data"), None);

        // What needs no database is answered as ever.
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
        // Only what was executed is paid.
        assert_eq!(wait_for_recovery(&server, &token).available(), 1000 - 4 * (4 + outage));
        while server.get("/health/ready").status == 503 {}
        // It hears of grants again, too.
        let name = format!("after{outage}");
        create_users(&mut postgres.connect().await, &[(&name, Profile::DEFAULT)]).await;
        while server.sign_in("/auth/token", &name, &name).status == 401 {}
    }
    end(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_when_postgresql_goes_is_told_so_at_once() {
    let postgres = Postgres::start("flight").await;
    let (server, token) = serve(&postgres, &["--pool-size", "6", "--pool-wait", "1h"]);
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    // Six are executed, and four wait for a connection.
    let asking = ask_at_once(&server, &token, 10);
    postgres.wait_for_waiting(6).await;
    postgres.kill().await;
    let server = assert_all_unavailable(&asking.join_all().await, server);
    postgres.restart();
    assert_eq!(wait_for_recovery(&server, &token).available(), 996, "what was not answered is not paid");
    end(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_that_postgresql_gets_over_by_itself_is_got_over_with_it() {
    let postgres = Postgres::start("crash").await;
    let (mut server, token) = serve(&postgres, &[]);
    for _ in 0..3 {
        wait_for_recovery(&server, &token);
        let mut client = loop {
            // PostgreSQL may still be on its way back.
            if let Ok(client) = connect(&postgres.config()).await {
                break client;
            }
        };
        let lock = client.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE order_header").await.unwrap();
        let asking = ask_at_once(&server, &token, 3);
        postgres.wait_for_waiting(3).await;
        // One process that ends like this takes all the others with it.
        let victim: i32 = lock.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        send("-KILL", &victim.to_string());
        server = assert_all_unavailable(&asking.join_all().await, server);
    }
    wait_for_recovery(&server, &token);
    end(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_that_does_not_answer_is_not_waited_for() {
    let postgres = Postgres::start("stopped").await;
    let (server, token) = serve(&postgres, &["--pool-size", "1"]);
    // Its socket takes connections, and nobody says anything.
    postgres.signal("-STOP");
    for answer in ask_at_once(&server, &token, 4).join_all().await {
        assert_unavailable(&answer);
    }
    postgres.signal("-CONT");
    assert_eq!(wait_for_recovery(&server, &token).available(), 996);
    end(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_postgresql_does_not_let_idle_are_made_anew() {
    let postgres = Postgres::start("idle").await;
    let client = postgres.connect().await;
    let (mut server, token) = serve(&postgres, &["--bucket-size", "1000000", "--pool-size", "2"]);
    // The pool has made none yet. So short that it ends connections between two statements of one request, too.
    client.batch_execute("ALTER DATABASE orders SET idle_session_timeout = 1").await.unwrap();
    for _ in 0..20 {
        let (away, answered): (Vec<_>, Vec<_>) = ask_at_once(&server, &token, 10)
            .join_all()
            .await
            .into_iter()
            .partition(|answer| answer.json().get("errors").is_some());
        server = assert_all_unavailable(&away, server);
        assert!(answered.iter().all(|answer| answer.json()["data"] == json!({"order": null})));
    }
    client.batch_execute("ALTER DATABASE orders RESET idle_session_timeout").await.unwrap();
    wait_for_recovery(&server, &token);
    end(server);
}
