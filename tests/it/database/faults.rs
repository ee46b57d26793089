//! Faults of the connections to PostgreSQL, at random places of the protocol. Every query gets its usual response, or an error
//! that blames the service; every order update is applied once or not at all; no connection is used again after a fault that the
//! server noticed; and the memory stays flat.
//!
//! `FAULTS` sets the number of requests, `FAULT_SEED` another seed.

mod known;
mod queries;
pub mod updates;

use std::sync::Arc;
use std::{env, fs};

use orderql::access::profile::Profile;
use tokio_postgres::Config;

use crate::support::fault_proxy::FaultProxy;
use crate::support::fault_proxy::fault::Fault;
use crate::support::http::Response;
use crate::support::server::Server;
use crate::support::users::UNLIMITED_PROFILE;

/// A server that reaches its database through a proxy, with one connection of each pool.
pub struct Line {
    server: Arc<Server>,
    proxy: FaultProxy,
    token: String,
}

/// What a request and its fault came to.
pub struct Exchange {
    response: Response,
    /// The damage; `None` if the request had no message at the fault's place.
    damage: Option<String>,
    /// The messages of the request: from the server, and from PostgreSQL.
    messages: [usize; 2],
}

/// The number of requests and the seed, printed for failing tests.
fn requests_and_seed(share: usize) -> (usize, u64) {
    let number = |variable: &str, default| env::var(variable).map_or(default, |number| number.parse().unwrap());
    let (requests, seed) = (number("FAULTS", 400), number("FAULT_SEED", 1));
    println!("FAULTS={requests} FAULT_SEED={seed}");
    (requests / share, seed as u64)
}

/// The profile of the user `demo`. Requests that no fault holds up take a fraction of the deadline.
fn profile(deadline_ms: i64) -> Profile {
    Profile { deadline_ms: Some(deadline_ms), idempotency_keys: Some(1_000_000), ..UNLIMITED_PROFILE }
}

impl Line {
    /// Starts a server on a database with the user `demo`.
    async fn open(database: &Config) -> Self {
        let proxy = FaultProxy::start(database).await;
        let server = Server::start_on(
            &proxy.url(),
            // The token lasts longer than a run of a hundred thousand requests.
            &["--pool-size", "1", "--writer-pool-size", "1", "--shared-connections", "off", "--token-lifetime", "24h"],
        );
        let token = server.token("demo");
        Self { server: Arc::new(server), proxy, token }
    }

    /// Sends a request with a fault on its way.
    async fn send(
        &self,
        fault: Option<Fault>,
        send: impl FnOnce(&Server, &str) -> Response + Send + 'static,
    ) -> Exchange {
        self.proxy.arm(fault);
        let (server, token) = (Arc::clone(&self.server), self.token.clone());
        let response = tokio::task::spawn_blocking(move || send(&server, &token)).await.unwrap();
        let report = self.proxy.disarm();
        Exchange { response, damage: report.damage, messages: report.messages }
    }

    /// The server's memory in MiB; `None` where the system does not tell.
    fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024)
    }

    /// Stops the server. Panics if it has panicked or, unless values were damaged, failed for a reason of its own.
    fn stop(self, values_were_damaged: bool) {
        let log = Arc::into_inner(self.server).unwrap().stop();
        let failures: Vec<_> =
            log.lines().filter(|line| line.contains("panicked") || line.contains("internal error")).collect();
        let is_expected = |line: &&str| values_were_damaged && !line.contains("panicked");
        assert!(failures.iter().all(is_expected), "{}", failures.join("\n"));
    }
}
