//! Replicas that lag, fail, freeze or cancel queries, under load: no caller notices.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use orderql::schema_file::BUILT_IN;

use crate::database::replicas::servers::{CALLERS, Servers, Service};
use crate::support::server::wait_until;

const QUERY: &str =
    "{ orders(first: 20) { edges { node { orderId orderItems(first: 10) { edges { node { orderItemSeqId } } } } } } }";

/// Callers that query until it is dropped.
struct Load {
    is_over: Arc<AtomicBool>,
    responses: Arc<AtomicU64>,
    callers: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn start(service: &Service) -> Self {
        let (is_over, responses) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let callers = (0..CALLERS.len()).map(|caller| {
            let (service, is_over, responses) = (service.clone(), Arc::clone(&is_over), Arc::clone(&responses));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let response = service.query(caller, QUERY, &[]);
                    let body = response.json();
                    assert!(response.status == 200 && body.get("errors").is_none(), "{response:?}");
                    assert_eq!(body["data"]["orders"]["edges"].as_array().unwrap().len(), 20);
                    responses.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        Self { callers: callers.collect(), is_over, responses }
    }

    /// Waits until each caller has had some more responses.
    fn go_on(&self) {
        let before = self.responses.load(Ordering::Relaxed);
        wait_until(|| {
            assert!(!self.callers.iter().any(thread::JoinHandle::is_finished), "a caller got an error");
            self.responses.load(Ordering::Relaxed) > before + 30
        });
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.callers.into_iter().for_each(|caller| caller.join().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_notices_an_outage_of_replicas() {
    let settings = [("max_standby_streaming_delay", "0")];
    let servers = Servers::start("replicas", [&settings, &settings]).await;
    let schema = servers.primary.folder.path().join("schema.graphql");
    fs::write(&schema, BUILT_IN).unwrap();
    let service = servers.serve(&["--replica-lag", "1s", "--deadline", "1h", "--schema", schema.to_str().unwrap()]);
    let [first, second] = &servers.standbys;
    service.wait_for_replicas(2);
    let load = Load::start(&service);
    load.go_on();
    assert!(service.reads(false, "preferred") > 0);

    // Replaying a lock cancels what reads the table.
    let client = servers.primary.connect().await;
    while service.reads(true, "retry") == 0 {
        client.batch_execute("BEGIN; LOCK TABLE order_item; COMMIT").await.unwrap();
    }

    // A schema that is served instead is checked on the replicas first.
    fs::write(&schema, format!("{BUILT_IN}\n# Another one.\n")).unwrap();
    service.server.signal("-HUP");

    // A replica that lags is not read until it has caught up.
    first.connect().await.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    while !service.parts().to_string().contains("it lags too far") {
        client.batch_execute("SELECT pg_logical_emit_message(true, '', '')").await.unwrap();
    }
    load.go_on();
    first.connect().await.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
    service.wait_for_replicas(2);

    // A replica that crashes, and one that freezes.
    first.kill().await;
    service.wait_for_replicas(1);
    load.go_on();
    second.signal_all("-STOP");
    service.wait_for_replicas(0);
    load.go_on();
    assert!(service.reads(true, "no_replica") > 0);
    assert_eq!(service.server.get("/health/ready").status, 200);
    second.signal_all("-CONT");
    first.restart();
    service.wait_for_replicas(2);

    let lag = service.server.metrics();
    assert_eq!(lag.samples.keys().filter(|name| name.starts_with("orderql_replica_lag_seconds")).count(), 2);
    load.go_on();
    load.stop();
    let log = Arc::into_inner(service.server).unwrap().stop();
    for expected in ["a replica is not read", "a replica is read", "the settings were read again"] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert!(
        !log.contains("internal error") && !log.contains("panicked") && !log.contains("the service is unavailable"),
        "{log}"
    );
}
