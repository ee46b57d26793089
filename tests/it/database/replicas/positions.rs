//! What callers read: what they have written, and nothing older than what they have seen.
//!
//! `REPLICA_PAIRS` sets the number of updates, each with a read after it.

use std::collections::BTreeSet;
use std::env;
use std::sync::Arc;
use std::thread;

use crate::database::replicas::servers::{CALLERS, Servers, Service};
use crate::support::command::{orderql, run};
use crate::support::http::JSON;
use crate::support::server::wait_until;
use crate::support::store_server::StoreServer;

const BOXES: [&str; 2] = ["YOURPACKNG", "BOPISPACKNG"];

/// The reads of each walk.
const STEPS: usize = 40;

/// The callers that write.
const WRITERS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn callers_see_what_they_wrote_and_nothing_older_than_before() {
    let pairs: usize = env::var("REPLICA_PAIRS").map_or(60, |number| number.parse().unwrap());
    let servers = Servers::start("stale", [&[], &[("recovery_min_apply_delay", "300ms")]]).await;
    let service = servers.serve(&["--pool-size", "2", "--replica-lag", "5s"]);
    service.wait_for_replicas(2);

    // Some callers have a shipment of their own, which they change. The others only read.
    let shipment = |caller: usize| format!("O{caller}S0");
    let mut written = [BOXES[0]; WRITERS];
    let mut stale = 0;
    let replicas = [servers.standbys[0].connect().await, servers.standbys[1].connect().await];
    for number in 0..pairs {
        let caller = number % WRITERS;
        let is_held = number % 10 == 0;
        if is_held {
            // On a quiet machine the late replica may not be read yet by those who have seen more, and on a busy one it is not late
            // any more. Here all may be read, and have nothing of what follows.
            for reader in WRITERS..CALLERS.len() {
                service.wait_for_a_read_from_a_replica(reader, &shipment(caller));
            }
            for replica in &replicas {
                replica.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
            }
        }
        written[caller] = BOXES[(number / WRITERS + 1) % 2];
        let update = service.set_box(caller, &shipment(caller), written[caller]);
        assert_eq!(update.status, 200, "{update:?}");
        let position = format!("Orderql-After: {}", update.header("orderql-position").unwrap());
        for (writer, box_type) in written.iter().enumerate() {
            assert_eq!(service.box_type(writer, &shipment(writer), &[]), *box_type, "update {number}");
        }
        for reader in WRITERS..CALLERS.len() {
            // Nothing is promised here.
            stale += usize::from(service.box_type(reader, &shipment(caller), &[]) != written[caller]);
            let found = service.box_type(reader, &shipment(caller), &[&position]);
            assert_eq!(found, written[caller], "update {number}");
        }
        if is_held {
            for replica in &replicas {
                replica.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
            }
        }
    }
    println!("{stale} reads of what others wrote were stale");
    assert!(stale > 0, "the replicas are too fast to show anything");
    let reads = (service.reads(false, "preferred"), service.reads(true, "position"));
    println!("from replicas, and from the primary for a position: {reads:?}");
    assert!(reads.0 > 0 && reads.1 > 0, "{reads:?}");

    for wrong in ["latest", "1", "1/2/3", ""] {
        let response = service.query(0, "{ __typename }", &[&format!("Orderql-After: {wrong}")]);
        assert_eq!((response.status, response.code().as_str()), (400, "BAD_REQUEST"), "{wrong}: {response:?}");
        assert!(response.body.contains("Orderql-Position"), "{response:?}");
    }
    // Exports and large responses are read from replicas as well, after a position.
    let update = service.set_box(0, &shipment(0), BOXES[0]);
    let position = format!("Orderql-After: {}", update.header("orderql-position").unwrap());
    let shipments = "{ shipments(first: 20) { edges { node { shipmentId packages(first: 100) { edges { node {
        shipmentBoxTypeId } } } } } } }";
    for accept in ["application/x-ndjson", JSON] {
        wait_until(|| {
            let before = service.reads(false, "preferred");
            let response = service.query_as(accept, WRITERS, shipments, &[&position]);
            assert_eq!(response.status, 200, "{response:?}");
            let (_, found) = response.body.split_once(&shipment(0)).unwrap();
            let (_, found) = found.split_once("shipmentBoxTypeId").unwrap();
            assert!(found[..20].contains(BOXES[0]), "{found}");
            service.reads(false, "preferred") > before
        });
    }

    let urls = format!("{},{}", servers.replica_addresses(), Servers::primary_address(&[&servers.primary]));
    let primary = Servers::primary_address(&[&servers.primary]);
    let examined = run(orderql().args(["doctor", "--database-url", &primary, "--replica-urls", &urls]), "");
    let found = |text: &str| examined.stdout.matches(text).count();
    assert_eq!((found("follows the primary"), found("is no standby")), (2, 1), "{}", examined.stdout);

    // One that has stopped to replay is not read.
    let replica = &replicas[0];
    replica.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    servers
        .primary
        .connect()
        .await
        .batch_execute("CREATE TABLE written_later (); DROP TABLE written_later")
        .await
        .unwrap();
    let examined = run(orderql().args(["doctor", "--database-url", &primary, "--replica-urls", &urls]), "");
    assert!(examined.stdout.contains(" bytes behind, more than 2 s, so that it is not read"), "{}", examined.stdout);
    replica.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();

    // A position that nobody has written would send every read to the primary.
    for accept in [JSON, "application/x-ndjson"] {
        let before = (service.reads(true, "position"), service.reads(false, "preferred"));
        for position in ["FFFFFFFF/FFFFFFFF", "FFFFFFFF/0"] {
            let response = service.query_as(accept, 0, shipments, &[&format!("Orderql-After: {position}")]);
            assert_eq!((response.status, response.code().as_str()), (400, "BAD_REQUEST"), "{response:?}");
            assert!(response.body.contains("beyond all that was written"), "{response:?}");
        }
        assert_eq!((service.reads(true, "position"), service.reads(false, "preferred")), before);
    }

    let before = service.reads(false, "preferred");
    walk(&servers, &service).await;
    let walked = service.reads(false, "preferred") - before;
    println!("{walked} steps of the walks were on replicas");
    // Although somebody writes all the time, and each caller reads all the time.
    assert!(walked > (STEPS * CALLERS.len() / 2) as u64, "{walked}");
    let log = Arc::into_inner(service.server).unwrap().stop();
    assert!(!log.contains("internal error") && !log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_sees_on_every_server_with_a_shared_store_what_it_wrote_on_one() {
    let Some(store) = StoreServer::start() else { return };
    let url = store.url();
    let servers = Servers::start("everywhere", [&[], &[]]).await;
    let flags = ["--replica-lag", "5m", "--bucket-url", &url];
    let service = servers.serve(&flags);
    let primary = Servers::primary_address(&[&servers.primary]);
    let other = service.start_another(&primary, &servers.replica_addresses(), &flags);
    let (writer, reader) = (0, WRITERS);
    for service in [&service, &other] {
        service.wait_for_replicas(2);
        service.wait_for_a_read_from_a_replica(reader, "O0S0");
    }
    for replica in &servers.standbys {
        replica.connect().await.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    }
    for box_type in BOXES {
        assert_eq!(service.set_box(writer, "O0S0", box_type).status, 200);
        let before = other.reads(true, "position");
        assert_eq!(other.box_type(writer, "O0S0", &[]), box_type);
        assert_eq!(other.reads(true, "position"), before + 1);
        let export = "{ shipments(first: 20) { edges { node { shipmentId packages(first: 1) { edges { node {
            shipmentBoxTypeId } } } } } } }";
        let exported = other.query_as("application/x-ndjson", writer, export, &[]);
        let line = exported.body.lines().find(|line| line.contains("O0S0")).unwrap();
        assert!(line.contains(box_type), "{line}");
    }
    // Nothing is remembered for others.
    let before = other.reads(false, "preferred");
    other.box_type(reader, "O0S0", &[]);
    assert!(other.reads(false, "preferred") > before);
    for replica in &servers.standbys {
        replica.connect().await.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
    }
}

/// Callers that read again and again what somebody counts up never see it go back, although the pools are small, so that they are
/// handed on.
async fn walk(servers: &Servers, service: &Service) {
    let client = servers.primary.connect().await;
    thread::scope(|scope| {
        let readers: Vec<_> = (0..CALLERS.len())
            .map(|caller| {
                scope.spawn(move || {
                    let (mut last, mut steps, mut values) = (0, 0, BTreeSet::new());
                    while steps < STEPS || values.len() < 3 {
                        let response = service.query(caller, "{ order(orderId: \"O0\") { orderName } }", &[]);
                        let name = response.json()["data"]["order"]["orderName"].take();
                        let count: u64 = name.as_str().map_or(0, |count| count.parse().unwrap());
                        assert!(count >= last, "{}: {last}, then {count}", CALLERS[caller]);
                        (last, steps) = (count, steps + 1);
                        values.insert(count);
                    }
                })
            })
            .collect();
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for count in 1_u64.. {
                    if readers.iter().all(thread::ScopedJoinHandle::is_finished) {
                        break;
                    }
                    let update = "UPDATE order_header SET order_name = $1 WHERE order_id = 'O0'";
                    client.execute(update, &[&count.to_string()]).await.unwrap();
                }
            });
        });
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
