//! Connections that requests share: every query gets its own response, whatever happens to the connections.

use std::env;
use std::io::Write as _;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use orderql::access::profile::Profile;
use serde_json::json;

use crate::support::database::sampled_database;
use crate::support::http::{GRAPHQL_JSON, graphql_request};
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// Clients that send at the same time.
const CLIENTS: usize = 8;

/// How many requests are sent, unless the environment says so.
const REQUESTS: u64 = 2_000;

/// Every so many requests, a client resets its connection while its query runs.
const RESET: u64 = 23;

/// Every so many requests, the processes of PostgreSQL that run queries are ended.
const KILL: u64 = 400;

fn query(order: &str) -> String {
    format!("{{ order(orderId: \"{order}\") {{ orderId orderItems(first: 3) {{ edges {{ node {{ orderId }} }} }} }} }}")
}

/// `SHARED_REQUESTS=100000 ./dev test shared_connections` sends so many requests.
#[tokio::test(flavor = "multi_thread")]
async fn no_response_is_that_of_another_request() {
    let requests = env::var("SHARED_REQUESTS").map_or(REQUESTS, |text| text.parse().unwrap());
    let database = sampled_database().await;
    let profile = Profile { max_cost: Some(1_000_000), ..UNLIMITED_PROFILE };
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    let client = database.connect().await;
    let orders = client.query("SELECT order_id FROM order_header", &[]).await.unwrap();
    let orders: Arc<Vec<String>> = Arc::new(orders.iter().map(|row| row.get(0)).collect());
    let server = Arc::new(Server::start(&database, &["--shared-connections", "2", "--pool-size", "2"]));
    let token = server.token("demo");

    let (sent, right, away) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = sent.fetch_add(1, Ordering::Relaxed);
                        if number >= requests {
                            return;
                        }
                        let order = &orders[usize::try_from(number * 7919).unwrap() % orders.len()];
                        if number % RESET == 0 {
                            let mut stream = server.connect();
                            stream.write_all(graphql_request(&token, GRAPHQL_JSON, &query(order)).as_bytes()).unwrap();
                            stream.shutdown(Shutdown::Both).unwrap();
                            continue;
                        }
                        let response = server.query(&token, &query(order));
                        if response.code() == "SERVICE_UNAVAILABLE" {
                            away.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        let found = &response.json()["data"]["order"];
                        assert_eq!(found["orderId"], json!(order), "{}", response.body);
                        let items = found["orderItems"]["edges"].as_array().unwrap();
                        assert!(items.iter().all(|item| item["node"]["orderId"] == json!(order)), "{}", response.body);
                        right.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let mut next = KILL;
            while !is_over.load(Ordering::Relaxed) {
                if sent.load(Ordering::Relaxed) < next {
                    thread::yield_now();
                    continue;
                }
                next += KILL;
                runtime.block_on(async {
                    let client = database.connect().await;
                    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE datname = current_database() AND application_name = 'orderql-queries'";
                    client.query(kill, &[]).await.unwrap();
                });
            }
        });
        let ended: Vec<_> = clients.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        for client in ended {
            client.unwrap();
        }
    });
    let [right, away] = [&right, &away].map(|count| count.load(Ordering::Relaxed));
    println!("{right} responses were right, {away} requests were refused while PostgreSQL's processes were ended");
    // Most requests that lose their connection are run once more.
    assert!(right > requests * 9 / 10, "{right} right, {away} refused");
    let shared = "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = 'orderql-queries' AND query LIKE 'SET statement_timeout%'
                     OR query LIKE '%AS step%'";
    let count: i64 = client.query_one(shared, &[]).await.unwrap().get(0);
    assert!(count > 0, "connections are open again");
}
