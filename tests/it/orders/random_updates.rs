//! Random updates of random orders on many connections at the same time. No update is lost or applied twice, totals stay
//! correct, and no shipment gets an impossible status. If PostgreSQL is killed meanwhile, every update is applied once or
//! not at all.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::options::{ClusterOptions, Durability};
use tokio_postgres::{Client, Config};

use crate::support::cluster::{copy_prepared_cluster, throwaway_cluster};
use crate::support::database::{assert_no_deadlocks, migrated_database};
use crate::support::random::Random;
use crate::support::server::Server;
use crate::support::store::{URLENCODED, update_request};
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// The number of clients that send at the same time.
const CLIENTS: u64 = 6;

/// Starts a server on the orders of `orders.sql`, and returns a token.
async fn server(database: &Config) -> (Server, String) {
    let mut client = connect(database).await.unwrap();
    client.batch_execute(include_str!("random_updates/orders.sql")).await.unwrap();
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start_with_config(
        database,
        &[
            "--writer-pool-size",
            "6",
            "--concurrent-updates",
            "6",
            "--updates-per-second",
            "100000",
            "--pool-wait",
            "30s",
        ],
    );
    let token = server.token("demo");
    (server, token)
}

/// The inconsistencies that `inconsistencies.sql` finds.
async fn inconsistencies(client: &Client) -> Vec<String> {
    client
        .query(include_str!("random_updates/inconsistencies.sql"), &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect()
}

/// Random updates.
struct Updates(Random);

impl Updates {
    /// An update of one order or two: boxes, rejected items and moved items. Some of them do not exist.
    fn form(&mut self, name: &str) -> String {
        let orders = [self.0.below(30), self.0.below(30)];
        let shipment = |random: &mut Self, order: usize| format!("O{order}S{}", random.0.below(3));
        let mut form = format!("facilityId=STORM&name={name}");
        let boxed = shipment(self, orders[0]);
        let box_type = *self.0.pick(&["YOURPACKNG", "YOURPACKNG", "BOPISPACKNG"]);
        let _ = write!(form, "&box_shipmentId_0={boxed}&box_shipmentBoxTypeId_0={box_type}&0_box_rowSubmit=0");
        for index in 0..self.0.below(3) {
            let order = orders[usize::from(self.0.below(4) == 0)];
            let (from, item) = (shipment(self, order), self.0.below(5));
            let reason = *self.0.pick(&["INACTIVE_STORE", "MISMATCH", "MISMATCH", "REJ_RSN_DAMAGED", "NOT_IN_STOCK"]);
            let _ = write!(form, "&rej_shipmentId_{index}={from}&rej_rejectionReason_{index}={reason}");
            if item > 0 {
                let _ = write!(form, "&rej_shipmentItemSeqId_{index}={item:05}");
            }
            // Now and then the product of all orders.
            if self.0.below(12) == 0 {
                let may_split = *self.0.pick(&["Y", "N"]);
                let _ = write!(form, "&rej_cascadeRejectByProduct_{index}=Y&rej_maySplit_{index}={may_split}");
            }
        }
        for index in 0..self.0.below(3) {
            let order = orders[usize::from(self.0.below(4) == 0)];
            let (from, to, item) = (shipment(self, order), shipment(self, order), self.0.below(7));
            let _ = write!(form, "&rtp_shipmentId_{index}={from}&rtp_newShipmentId_{index}={to}");
            if item > 0 {
                let _ = write!(form, "&rtp_shipmentItemSeqId_{index}={item:05}");
            }
        }
        form
    }
}

/// The seed, printed for failing tests. `STORM_SEED` sets another one.
fn seed() -> u64 {
    let seed = env::var("STORM_SEED").map_or(7, |seed| seed.parse().unwrap());
    println!("STORM_SEED={seed}");
    seed
}

/// Sends an update and returns the status of the response, or `None` if the client disconnects before it arrives.
fn send(server: &Server, token: &str, key: Option<&str>, form: &str, disconnects: bool) -> Option<u16> {
    let key = key.map(|key| format!("Idempotency-Key: {key}"));
    let headers: Vec<&str> = [URLENCODED].into_iter().chain(key.as_deref()).collect();
    let mut stream = server.connect();
    stream.write_all(update_request(token, &headers, form).as_bytes()).unwrap();
    if disconnects {
        return None;
    }
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    let status = std::str::from_utf8(&head).unwrap().strip_prefix("HTTP/1.1 ").unwrap().parse().unwrap();
    // Reads the rest, so that the server can write all of it.
    stream.read_to_end(&mut Vec::new()).unwrap();
    Some(status)
}

/// Sends until the status is not 503.
fn send_until_available(server: &Server, token: &str, key: &str, form: &str) -> u16 {
    loop {
        match send(server, token, Some(key), form, false).unwrap() {
            503 => {}
            status => return status,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_updates_are_neither_lost_nor_applied_twice() {
    let seed = seed();
    let database = migrated_database().await;
    let (server, token) = server(&database.config()).await;
    let client = database.connect().await;
    assert_eq!(inconsistencies(&client).await, [""; 0], "the orders are inconsistent before any update");
    let statuses = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (server, token) = (&server, &token);
                scope.spawn(move || {
                    let mut random = Updates(Random(seed * 1000 + number));
                    let forms = (0..30).map(|update| random.form(&format!("{number}-{update}")));
                    forms.map(|form| send(server, token, None, &form, false).unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let mut counts: HashMap<u16, i64> = HashMap::new();
    for status in statuses {
        *counts.entry(status).or_default() += 1;
    }
    assert!(counts.keys().all(|status| [200, 409].contains(status)), "{counts:?}");
    assert!(counts[&200] > 20, "{counts:?}");
    assert_eq!(inconsistencies(&client).await, [""; 0], "{counts:?}");
    let audited: i64 = client.query_one("SELECT count(*) FROM orderql.order_update", &[]).await.unwrap().get(0);
    assert_eq!(audited, counts[&200]);
    drop(server);
    assert_no_deadlocks(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_of_postgresql_each_answered_update_is_applied_once() {
    let seed = seed();
    let folder = TestFolder::create("random-updates");
    let options = ClusterOptions { durability: Durability::Durable, ..throwaway_cluster(folder.path()) };
    copy_prepared_cluster(folder.path()).await;
    let cluster = Cluster::open(&options).unwrap();
    let database = cluster.address().config("orders");
    let (server, token) = server(&database).await;

    let mut random = Updates(Random(seed));
    let answered = AtomicUsize::new(0);
    let running = AtomicUsize::new(usize::try_from(CLIENTS).unwrap());
    let cluster = thread::scope(|scope| {
        let mut cluster = cluster;
        for number in 0..CLIENTS {
            let (server, token, answered, running) = (&server, &token, &answered, &running);
            scope.spawn(move || {
                let mut random = Updates(Random(seed * 2000 + number));
                for update in 0..20 {
                    let name = format!("{number}-{update}");
                    let form = random.form(&name);
                    // Some clients disconnect and send again.
                    if random.0.below(5) == 0 {
                        send(server, token, Some(&name), &form, true);
                    }
                    let status = send_until_available(server, token, &name, &form);
                    assert!([200, 409].contains(&status), "{status}");
                    // A repeated update gets the stored response. What was rejected may be possible meanwhile.
                    let repeated = send_until_available(server, token, &name, &form);
                    assert!(repeated == status || [status, repeated] == [409, 200], "{name}: {status} {repeated}");
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for _ in 0..3 {
            let until = answered.load(Ordering::SeqCst) + 5 + random.0.below(15);
            while answered.load(Ordering::SeqCst) < until && running.load(Ordering::SeqCst) > 0 {
                thread::yield_now();
            }
            let pid_file = folder.path().join("data/postmaster.pid");
            let process = fs::read_to_string(&pid_file).unwrap();
            let process = process.lines().next().unwrap();
            // Like `pg_ctl stop --mode=immediate`: PostgreSQL finishes nothing and writes nothing.
            assert!(Command::new("kill").args(["-QUIT", process]).status().unwrap().success());
            while pid_file.exists() {}
            cluster.leave_running();
            cluster = Cluster::open(&options).unwrap();
            let found = tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current()
                    .block_on(async { inconsistencies(&connect(&database).await.unwrap()).await })
            });
            assert_eq!(found, [""; 0]);
        }
        cluster
    });
    let client = connect(&database).await.unwrap();
    assert_eq!(inconsistencies(&client).await, [""; 0]);
    let counts = "SELECT (SELECT count(*) FROM orderql.order_update), (SELECT count(DISTINCT request) FROM orderql.order_update), \
                  (SELECT count(*) FROM orderql.idempotent_answer)";
    let counts = client.query_one(counts, &[]).await.unwrap();
    let [updates, different, stored] = [0, 1, 2].map(|column| counts.get::<_, i64>(column));
    assert_eq!((updates, different), (stored, stored));
    assert!(updates > 15, "{updates}");
    drop(server);
    cluster.stop().unwrap();
}
