//! A PostgreSQL server that a test may stop, freeze or fill, and a service on it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use orderql::database::connection::connect::connect;
use orderql::private_cluster::address::ClusterAddress;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::options::{ClusterOptions, Durability};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

use crate::support::cluster::{copy_prepared_cluster, throwaway_cluster};
use crate::support::http::Response;
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;

/// A PostgreSQL server that the test may kill.
pub struct Postgres {
    pub folder: TestFolder,
    pub address: ClusterAddress,
}

/// A query of 4 credits.
pub const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";

impl Postgres {
    /// Starts it with a migrated database and the user `demo`.
    pub async fn start(name: &str) -> Self {
        Self::start_with(name, &[]).await
    }

    /// Starts it with these settings, a migrated database and the user `demo`.
    pub async fn start_with(name: &str, settings: &[(&str, &str)]) -> Self {
        let folder = TestFolder::create(&format!("outage-{name}"));
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let options = ClusterOptions { settings, ..durable_cluster(folder.path()) };
        copy_prepared_cluster(folder.path()).await;
        let address = Cluster::open(&options).unwrap().leave_running();
        Self { folder, address }
    }

    /// Starts a standby: a copy of a stopped server, the first of `follows`, that receives the changes of the one that is the
    /// primary.
    pub fn standby_of(follows: &[&Self], name: &str, settings: &[(&str, &str)]) -> Self {
        let folder = TestFolder::create(&format!("standby-{name}"));
        for part in ["data", "lock"] {
            let from = follows[0].folder.path().join(part);
            assert!(Command::new("cp").arg("-a").arg(from).arg(folder.path()).status().unwrap().success());
        }
        let data = folder.path().join("data");
        fs::write(data.join("standby.signal"), "").unwrap();
        let (hosts, ports): (Vec<_>, Vec<_>) = follows.iter().map(|server| server.host_and_port()).unzip();
        let primary = format!(
            "host={} port={} user=postgres target_session_attrs=read-write connect_timeout=2",
            hosts.join(","),
            ports.join(",")
        );
        let always =
            [("primary_conninfo", primary.as_str()), ("wal_retrieve_retry_interval", "100ms"), ("fsync", "off")];
        let settings = always.iter().chain(settings).map(|(name, value)| format!("{name} = '{value}'\n"));
        fs::write(data.join("postgresql.auto.conf"), settings.collect::<String>()).unwrap();
        let address = Cluster::open(&durable_cluster(folder.path())).unwrap().leave_running();
        Self { folder, address }
    }

    /// The folder of its socket, and its port.
    pub fn host_and_port(&self) -> (String, String) {
        let config = self.config();
        let [Host::Unix(folder)] = config.get_hosts() else { panic!("tests use a Unix socket") };
        (folder.display().to_string(), config.get_ports()[0].to_string())
    }

    pub fn config(&self) -> Config {
        self.address.config("orders")
    }

    pub async fn connect(&self) -> Client {
        connect(&self.config()).await.unwrap()
    }

    /// Sends a signal to the server's first process.
    pub fn signal(&self, signal: &str) {
        send(signal, &self.folder.postmaster().unwrap());
    }

    /// Sends a signal to all of the server's processes.
    pub fn signal_all(&self, signal: &str) {
        let postmaster = self.folder.postmaster().unwrap();
        let children = fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children")).unwrap();
        for process in [postmaster.as_str()].into_iter().chain(children.split_whitespace()) {
            // A process may have ended in the meantime.
            let _ = Command::new("kill").args([signal, process]).status();
        }
    }

    /// Stops the server immediately, like a crash, and waits until it has ended.
    pub async fn kill(&self) {
        self.signal("-QUIT");
        while connect(&self.config()).await.is_ok() || self.folder.postmaster().is_some() {}
    }

    /// Stops the server and waits until it has ended. Its data is complete.
    pub fn stop(&self) {
        // Dropping a cluster stops its server.
        drop(Cluster::open(&durable_cluster(self.folder.path())));
    }

    pub fn restart(&self) {
        let address = Cluster::open(&durable_cluster(self.folder.path())).unwrap().leave_running();
        assert_eq!(address, self.address);
    }

    /// Waits until exactly `count` statements of the server wait for locks.
    pub async fn wait_for_lock_waits(&self, count: i64) {
        let admin = connect(&self.address.config("postgres")).await.unwrap();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'orders' AND wait_event_type = 'Lock'";
        while admin.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) != count {}
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.folder.postmaster().is_some() {
            self.signal_all("-CONT");
        }
        // Opening and dropping a cluster stops its server, in whatever state the test has left it.
        drop(Cluster::open(&durable_cluster(self.folder.path())));
    }
}

/// The options of a cluster that keeps committed rows after a crash.
pub fn durable_cluster(folder: &Path) -> ClusterOptions {
    ClusterOptions { durability: Durability::Durable, ..throwaway_cluster(folder) }
}

pub fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}

/// Starts a server whose queries have no deadline and whose buckets are never refilled, and returns a token.
pub fn serve(postgres: &Postgres, flags: &[&str]) -> (Arc<Server>, String) {
    let server =
        Server::start_with_config(&postgres.config(), &[&["--deadline", "1h", "--restore-rate", "0"], flags].concat());
    let token = server.token("demo");
    (Arc::new(server), token)
}

/// Sends `count` queries at the same time.
pub fn send_queries(server: &Arc<Server>, token: &str, count: usize) -> JoinSet<Response> {
    let mut queries = JoinSet::new();
    for _ in 0..count {
        let (server, token) = (Arc::clone(server), token.to_owned());
        queries.spawn_blocking(move || server.query(&token, ORDER));
    }
    queries
}

pub fn assert_unavailable(response: &Response) {
    assert_eq!((response.status, response.header("retry-after")), (200, Some("1")), "{response:?}");
    let body = response.json();
    assert_eq!(body["data"], Value::Null);
    let expected = json!({"code": "SERVICE_UNAVAILABLE", "retryAfterMs": 1000});
    assert_eq!(body["errors"][0]["extensions"], expected);
}

/// Panics unless all responses report that the database is unavailable. The server's log explains an internal error.
pub fn assert_all_unavailable(responses: &[Response], server: Arc<Server>) -> Arc<Server> {
    let internal_errors = responses.iter().filter(|response| response.code() == "INTERNAL_SERVER_ERROR").count();
    assert!(internal_errors == 0, "{}", Arc::into_inner(server).unwrap().stop());
    responses.iter().for_each(assert_unavailable);
    server
}

/// Sends queries until one succeeds. The others must report that the database is unavailable.
pub fn wait_for_recovery(server: &Server, token: &str) -> Response {
    loop {
        let response = server.query(token, ORDER);
        if response.json().get("errors").is_none() {
            return response;
        }
        assert_unavailable(&response);
    }
}

/// Stops the server. Panics if it has logged an internal error.
pub fn stop(server: Arc<Server>) {
    let log = Arc::into_inner(server).unwrap().stop();
    assert!(!log.contains("panicked") && !log.contains("internal error") && !log.contains("\"status\":500"), "{log}");
}
