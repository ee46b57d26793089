//! Connections that requests share: every query gets its own response, whatever happens to the connections.

use std::env;
use std::io::Write as _;
use std::net::Shutdown;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, sampled_database};
use crate::support::http::{GRAPHQL_JSON, graphql_request};
use crate::support::server::{Server, wait_until};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// Clients that send at the same time.
const CLIENTS: usize = 8;

/// How many requests are sent, unless the environment says so.
const REQUESTS: u64 = 2_000;

/// Every so many requests, a client resets its connection while its query runs.
const RESET: u64 = 23;

/// Every so many requests, the processes of PostgreSQL that run queries are ended.
const KILL: u64 = 400;

/// The milliseconds that the queries of one caller may take. Most of them end while they wait or run.
const SHORT_DEADLINE: i64 = 3;

/// A caller, and the stores that it sees; all if there are none.
struct Caller {
    token: String,
    store: Option<String>,
}

/// Callers who see all rows, one of them with little time; and one for each of two stores.
async fn callers(database: &Database, server: &Server) -> Vec<Caller> {
    let client = database.connect().await;
    let stores = "SELECT product_store_id FROM order_header GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 2";
    let stores: Vec<String> = client.query(stores, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    let mut callers: Vec<_> =
        ["demo", "hasty"].map(|user| Caller { token: server.token(user), store: None }).into_iter().collect();
    for (user, store) in ["first", "second"].into_iter().zip(stores) {
        for arguments in [
            format!("group add {user}"),
            format!("grant add {user} /graphql"),
            format!("group scope {user} store {store}"),
            format!("group scope {user} facility *"),
            format!("group join {user} {user}"),
            format!("group leave API {user}"),
        ] {
            assert!(run(orderql_on(database).args(arguments.split(' ')), "").succeeded, "{arguments}");
        }
        let token = server.token(user);
        wait_until(|| server.query(&token, &query("-")).json()["extensions"].get("scope").is_some());
        callers.push(Caller { token, store: Some(store) });
    }
    callers
}

fn query(order: &str) -> String {
    format!("{{ order(orderId: \"{order}\") {{ orderId orderItems(first: 3) {{ edges {{ node {{ orderId }} }} }} }} }}")
}

/// `SHARED_REQUESTS=100000 ./dev test shared_connections` sends so many requests.
#[tokio::test(flavor = "multi_thread")]
async fn no_response_is_that_of_another_request() {
    let requests = env::var("SHARED_REQUESTS").map_or(REQUESTS, |text| text.parse().unwrap());
    let database = sampled_database().await;
    let profile = Profile { max_cost: Some(1_000_000), ..UNLIMITED_PROFILE };
    let hasty = Profile { deadline_ms: Some(SHORT_DEADLINE), ..profile };
    let users = [("demo", profile), ("hasty", hasty), ("first", profile), ("second", profile)];
    create_users(&mut database.connect().await, &users).await;
    let client = database.connect().await;
    let orders = client.query("SELECT order_id, product_store_id FROM order_header", &[]).await.unwrap();
    let orders: Arc<Vec<(String, Option<String>)>> =
        Arc::new(orders.iter().map(|row| (row.get(0), row.get(1))).collect());
    let flags = ["--shared-connections", "2", "--pool-size", "2", "--admin-listen", "127.0.0.1:0"];
    let server = Arc::new(Server::start(&database, &flags));
    let callers = callers(&database, &server).await;

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
                        let index = usize::try_from(number).unwrap();
                        // Some neighbours ask for the same order.
                        let (order, of_store) = &orders[(index / 3 * 7919) % orders.len()];
                        let Caller { token, store } = &callers[index % callers.len()];
                        if number % RESET == 0 {
                            let mut stream = server.connect();
                            stream.write_all(graphql_request(token, GRAPHQL_JSON, &query(order)).as_bytes()).unwrap();
                            stream.shutdown(Shutdown::Both).unwrap();
                            continue;
                        }
                        let response = server.query(token, &query(order));
                        if ["SERVICE_UNAVAILABLE", "DEADLINE_EXCEEDED"].contains(&response.code().as_str()) {
                            away.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        let found = &response.json()["data"]["order"];
                        right.fetch_add(1, Ordering::Relaxed);
                        if store.is_some() && store != of_store {
                            assert_eq!(*found, Value::Null, "{}", response.body);
                            continue;
                        }
                        assert_eq!(found["orderId"], json!(order), "{}", response.body);
                        let items = found["orderItems"]["edges"].as_array().unwrap();
                        assert!(items.iter().all(|item| item["node"]["orderId"] == json!(order)), "{}", response.body);
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
    let metrics = server.metrics();
    let [batches, batched] =
        ["orderql_batches_total", "orderql_batched_requests_total"].map(|name| metrics.samples[name]);
    println!(
        "{right} responses were right, {away} requests were refused while PostgreSQL's processes were ended, or late; {batched} requests \
         ran in {batches} batches"
    );
    // Most requests that lose their connection are run once more. Those of one caller may all be late.
    assert!(right > requests * 6 / 10, "{right} right, {away} refused");
    assert!(batches > 10.0 && batched >= 2.0 * batches, "{batched} requests ran in {batches} batches");
    let shared = "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = 'orderql-queries' AND query LIKE 'SET statement_timeout%'
                     OR query LIKE '%AS step%'";
    let count: i64 = client.query_one(shared, &[]).await.unwrap().get(0);
    assert!(count > 0, "connections are open again");
}

/// Processes of PostgreSQL that do nothing until this is dropped, as if a network had lost their connections.
struct Stopped(Vec<i32>);

impl Stopped {
    fn new(processes: Vec<i32>) -> Self {
        for process in &processes {
            signal("-STOP", *process);
        }
        Self(processes)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for process in &self.0 {
            signal("-CONT", *process);
        }
    }
}

fn signal(signal: &str, process: i32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_do_not_answer_any_more_are_replaced() {
    let database = sampled_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile { deadline_ms: Some(500), ..UNLIMITED_PROFILE })])
        .await;
    let client = database.connect().await;
    let order: String = client.query_one("SELECT min(order_id) FROM order_header", &[]).await.unwrap().get(0);
    let server = Server::start(&database, &["--shared-connections", "1", "--pool-size", "1"]);
    let token = server.token("demo");
    let is_answered = || server.query_as(GRAPHQL_JSON, &token, &query(&order)).status == 200;
    let processes = "SELECT pid FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name = 'orderql-queries'";
    // The statement runs on a connection of its own until the shared one has prepared it. The former is there for some seconds, or not at
    // all if the latter was quick.
    for _ in 0..50 {
        assert!(is_answered());
    }
    let found: Vec<i32> = client.query(processes, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(!found.is_empty());
    let stopped = Stopped::new(found);
    wait_until(is_answered);
    for _ in 0..50 {
        assert!(is_answered());
    }
    drop(stopped);
}

/// The searches of daily work. Each has a statement of its own.
const SEARCHES: &str = include_str!("../../../benches/daily-searches.txt");

/// How often each query is sent by every client: its statement is prepared, and then the one for several requests.
const TIMES: usize = 5;

/// Single rows with what belongs to them. `$ORDER` is an order of each client.
const DETAILS: [&str; 3] = [
    "{ order(orderId: \"$ORDER\") { orderId grandTotal orderDate billToCustomer { partyId } } }",
    "{ order(orderId: \"$ORDER\") { orderName shipGroups(first: 3) { edges { node { shipGroupSeqId facilityId shipFromAddress { city }
       orderItems(first: 5) { edges { node { orderItemSeqId quantity unitPrice } cursor } pageInfo { hasNextPage } } } } } } }",
    "{ order(orderId: \"$ORDER\") { orderItems(last: 2) { edges { node { productId } cursor } } statuses(first: 3) { edges { cursor } } } }",
];

#[tokio::test(flavor = "multi_thread")]
async fn requests_have_the_same_responses_in_a_batch_as_alone() {
    let database = sampled_database().await;
    let profile = Profile { max_cost: Some(1_000_000), ..UNLIMITED_PROFILE };
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    let orders = database.connect().await.query("SELECT order_id FROM order_header LIMIT 8", &[]).await.unwrap();
    let orders: Vec<String> = orders.iter().map(|row| row.get(0)).collect();
    let alone = Server::start(&database, &["--shared-connections", "off"]);
    let shared = Server::start(&database, &["--shared-connections", "1", "--admin-listen", "127.0.0.1:0"]);
    let tokens = [alone.token("demo"), shared.token("demo")];
    let ask = |server: &Server, token: &str, query: &str| {
        let data = server.query(token, query).json()["data"].take();
        assert!(data.is_object(), "{query}");
        data
    };
    let ask_shared = |query: &str| ask(&shared, &tokens[1], query);
    // Clients differ in the sizes of their pages, in their cursors and in their orders.
    let searches = SEARCHES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let (root, search) = line.split_once(": ").unwrap();
        let page = |client: usize| format!("first: {}, query: {}", client + 1, json!(search));
        let first = ask(&alone, &tokens[0], &format!("{{ {root}({}) {{ edges {{ cursor }} }} }}", page(CLIENTS)));
        let cursors: Vec<_> =
            first[root]["edges"].as_array().unwrap().iter().map(|edge| edge["cursor"].clone()).collect();
        let queries = (0..CLIENTS).map(|client| {
            let after = cursors.get(client).map_or(String::new(), |cursor| format!(", after: {cursor}"));
            format!(
                "{{ {root}({}{after}) {{ edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage }} }} }}",
                page(client)
            )
        });
        queries.collect::<Vec<_>>()
    });
    let details = DETAILS.iter().map(|query| {
        (0..CLIENTS).map(|client| query.replace("$ORDER", &orders[client % orders.len()])).collect::<Vec<_>>()
    });
    let mut texts = 0;
    for queries in searches.chain(details) {
        texts += 1;
        let expected: Vec<_> = queries.iter().map(|query| ask(&alone, &tokens[0], query)).collect();
        thread::scope(|scope| {
            for (query, expected) in queries.iter().zip(&expected) {
                let ask_shared = &ask_shared;
                scope.spawn(move || (0..TIMES).for_each(|_| assert_eq!(ask_shared(query), *expected, "{query}")));
            }
        });
    }
    let metrics = shared.metrics();
    let [batches, batched] =
        ["orderql_batches_total", "orderql_batched_requests_total"].map(|name| metrics.samples[name]);
    println!("{texts} texts: {batched} requests ran in {batches} batches");
    assert!(batched > f64::from(texts), "{batched} requests ran in {batches} batches");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_whose_rows_had_many_bytes_leaves_the_shared_connections() {
    let database = sampled_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let client = database.connect().await;
    let notes = "INSERT INTO order_header (order_id) VALUES ('LONG');
                 INSERT INTO note_data (note_id, note_info) SELECT 'LONG' || n, 'short' FROM generate_series(1, 30) AS n;
                 INSERT INTO order_header_note (order_id, note_id) SELECT 'LONG', note_id FROM note_data WHERE note_id LIKE 'LONG%'";
    client.batch_execute(notes).await.unwrap();
    let server = Server::start(&database, &["--shared-connections", "1", "--pool-size", "1"]);
    let token = server.token("demo");
    let query = "{ order(orderId: \"LONG\") { notes(first: 50) { edges { node { noteInfo } } } } }";
    let notes = || {
        let response = server.query(&token, query);
        let edges = response.json()["data"]["order"]["notes"]["edges"].as_array().cloned();
        edges.unwrap_or_else(|| panic!("{}", response.body))
    };
    // The process of PostgreSQL that ran it last.
    let process = async || -> i32 {
        let last = "SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'orderql-queries' AND query LIKE '%note_info%'
                    ORDER BY query_start DESC LIMIT 1";
        client.query_one(last, &[]).await.unwrap().get(0)
    };
    // The only connection is shared when the statement has come three times, and prepared there. Others are opened if they are needed.
    for _ in 0..200 {
        assert_eq!(notes().len(), 30);
    }
    let shared = process().await;
    client
        .batch_execute("UPDATE note_data SET note_info = repeat('long ', 20000) WHERE note_id LIKE 'LONG%'")
        .await
        .unwrap();
    assert_eq!((notes().len(), process().await), (30, shared));
    for _ in 0..5 {
        assert_eq!(notes()[0]["node"]["noteInfo"].as_str().unwrap().len(), 100_000);
        assert_ne!(process().await, shared);
    }
}
