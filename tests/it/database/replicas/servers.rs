//! A primary with two standbys, a service on them, and what its tests have in common.

use std::sync::Arc;

use orderql::access::profile::Profile;
use serde_json::Value;

use crate::database::faults::updates::ORDERS;
use crate::database::postgres::Postgres;
use crate::support::http::{JSON, Response, bearer};
use crate::support::server::{Server, wait_until};
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// The callers. Some read from the one replica, some from the other.
pub const CALLERS: [&str; 6] = ["ann", "bea", "cid", "dan", "eve", "fay"];

/// A primary with two standbys.
pub struct Servers {
    pub primary: Postgres,
    pub standbys: [Postgres; 2],
}

impl Servers {
    /// Starts them with these settings of the standbys, thirty orders and the callers.
    pub async fn start(name: &str, settings: [&[(&str, &str)]; 2]) -> Self {
        let primary = Postgres::start_with(name, &[("fsync", "off")]).await;
        let mut client = primary.connect().await;
        client.batch_execute(ORDERS).await.unwrap();
        let profile = Profile { concurrent_queries: Some(100), ..UNLIMITED_PROFILE };
        create_users(&mut client, &CALLERS.map(|caller| (caller, profile))).await;
        drop(client);
        primary.stop();
        let first = Postgres::standby_of(&[&primary], &format!("{name}-first"), settings[0]);
        let second = Postgres::standby_of(&[&primary, &first], &format!("{name}-second"), settings[1]);
        primary.restart();
        Self { primary, standbys: [first, second] }
    }

    /// The value of `--database-url` for these servers, of which the primary is meant.
    pub fn primary_address(servers: &[&Postgres]) -> String {
        let (hosts, ports): (Vec<_>, Vec<_>) = servers.iter().map(|server| server.host_and_port()).unzip();
        format!("host={} port={} user=postgres dbname=orders", hosts.join(","), ports.join(","))
    }

    /// The value of `--replica-urls` for both standbys.
    pub fn replica_addresses(&self) -> String {
        self.standbys.each_ref().map(|standby| Self::primary_address(&[standby])).join(",")
    }

    /// Starts a service with both replicas.
    pub fn serve(&self, flags: &[&str]) -> Service {
        Service::start(&Self::primary_address(&[&self.primary]), &self.replica_addresses(), flags)
    }
}

/// A service on several servers.
#[derive(Clone)]
pub struct Service {
    pub server: Arc<Server>,
    /// Those of the callers.
    pub tokens: [String; CALLERS.len()],
}

impl Service {
    /// Starts a service on these servers.
    pub fn start(primary: &str, replicas: &str, flags: &[&str]) -> Self {
        let server = Server::start_on(primary, &[&["--admin-listen", "0", "--replica-urls", replicas], flags].concat());
        let tokens = CALLERS.map(|caller| server.token(caller));
        Self { server: Arc::new(server), tokens }
    }

    /// Starts another service, which accepts the same tokens.
    pub fn start_another(&self, primary: &str, replicas: &str, flags: &[&str]) -> Self {
        let keys = self.server.folder.join("keys");
        let always = ["--admin-listen", "0", "--replica-urls", replicas, "--key-folder", keys.to_str().unwrap()];
        Self { server: Server::start_on(primary, &[&always, flags].concat()).into(), tokens: self.tokens.clone() }
    }

    /// What is said of each part of the service.
    pub fn parts(&self) -> Value {
        self.server.get_as_operator("/health/ready").json()["parts"].take()
    }

    /// The status of the parts that are replicas, in the order of their names.
    pub fn replicas(&self) -> Vec<String> {
        let parts = self.parts();
        let replicas = parts.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("replica "));
        replicas.map(|(_, part)| part["status"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until so many replicas may be read.
    pub fn wait_for_replicas(&self, count: usize) {
        wait_until(|| self.replicas().iter().filter(|status| *status == "ok").count() == count);
    }

    /// The reason and number of reads from a server, all replicas being one.
    pub fn reads(&self, is_primary: bool, reason: &str) -> u64 {
        let metrics = self.server.metrics();
        let reads = metrics.samples.keys().filter(|name| name.starts_with("orderql_reads_total{"));
        let reads = reads.filter(|name| {
            name.contains("server=\"primary\"") == is_primary && name.contains(&format!("reason=\"{reason}\""))
        });
        reads.map(|name| metrics.get(name)).sum()
    }

    /// Waits until a caller, who reads a shipment again and again, reads from a replica: until one has what the caller has seen.
    pub fn wait_for_a_read_from_a_replica(&self, caller: usize, shipment: &str) {
        wait_until(|| {
            let before = self.reads(false, "preferred");
            self.box_type(caller, shipment, &[]);
            self.reads(false, "preferred") > before
        });
    }

    /// Sets the box type of a shipment.
    pub fn set_box(&self, caller: usize, shipment: &str, box_type: &str) -> Response {
        let form = format!(
            "facilityId=STORM&box_shipmentId_0={shipment}&box_shipmentBoxTypeId_0={box_type}&0_box_rowSubmit=0"
        );
        self.server.send(update_request(&self.tokens[caller], &[URLENCODED], &form))
    }

    /// The box type of a shipment, as a caller sees it.
    pub fn box_type(&self, caller: usize, shipment: &str, headers: &[&str]) -> String {
        let query = format!(
            "{{ shipment(shipmentId: \"{shipment}\") {{ packages(first: 1) {{ edges {{ node {{ shipmentBoxTypeId }} }} }} }} }}"
        );
        let response = self.query(caller, &query, headers);
        let body = response.json();
        let found = body["data"]["shipment"]["packages"]["edges"][0]["node"]["shipmentBoxTypeId"].as_str();
        found.unwrap_or_else(|| panic!("{response:?}")).to_owned()
    }

    /// Sends a query with these headers.
    pub fn query(&self, caller: usize, query: &str, headers: &[&str]) -> Response {
        self.query_as(JSON, caller, query, headers)
    }

    /// The same for a response of this media type.
    pub fn query_as(&self, accept: &str, caller: usize, query: &str, headers: &[&str]) -> Response {
        let (authorization, accept) = (bearer(&self.tokens[caller]), format!("Accept: {accept}"));
        let always = [authorization.as_str(), "Content-Type: application/json", &accept];
        let body = serde_json::json!({ "query": query }).to_string();
        self.server.request("POST /rest/s1/graphql", &[&always, headers].concat(), body)
    }
}
