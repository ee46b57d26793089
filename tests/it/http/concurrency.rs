//! Many at once, and the end of it: graceful shutdown under way, connections to the database that stay few, and answers
//! that find their way back whatever they share a connection with.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use h2::client::SendRequest;
use orderql::access::accounts::Profile;
use orderql::database::connect::connect;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::database::{Database, cluster, fresh_database, loaded_database};
use crate::support::server::{JSON, Server, graphql_head, make_users, read_answers, read_text};

const ORDER: &str = "query Held { order(orderId: \"NONE\") { orderName } }";

/// A bucket that nothing here empties, and all the time in the world.
const PATIENT: Profile = Profile { bucket_size: Some(1_000_000_000), deadline_ms: Some(3_600_000), ..Profile::DEFAULT };

async fn serve(database: &Database, flags: &[&str]) -> (Server, String) {
    make_users(&mut database.connect().await, &[("demo", PATIENT)]).await;
    let server = Server::start(database, flags);
    let token = server.token("demo");
    (server, token)
}

fn request(token: &str, query: &str) -> String {
    let body = json!({ "query": query }).to_string();
    format!("{}Content-Length: {}\r\n\r\n{body}", graphql_head(token, JSON), body.len())
}

/// Waits until so many statements wait for a lock.
async fn wait_for_waiting(database: &Database, count: i64) {
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    while admin.query_one(waiting, &[&database.name()]).await.unwrap().get::<_, i64>(0) != count {}
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_run_when_the_server_is_told_to_stop_are_finished() {
    let database = fresh_database().await;
    let (mut server, token) = serve(&database, &["--grace", "1h"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut running = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connect();
        // The second request on each comes too late.
        stream.write_all(request(&token, ORDER).repeat(2).as_bytes()).unwrap();
        running.push(stream);
    }
    wait_for_waiting(&database, 3).await;
    let idle = server.connect();
    server.tell_to_stop();
    // Its end shows that the server is stopping, while the queries still run.
    assert_eq!(read_text(idle), "");
    wait_for_waiting(&database, 3).await;
    lock.rollback().await.unwrap();
    for stream in running {
        let answers = read_answers(stream);
        assert_eq!(answers[0].json()["data"], json!({"order": null}));
        assert_eq!(answers[0].header("connection"), Some("close"));
        assert_eq!(answers.len(), 1);
    }
    let log = server.wait();
    assert!(log.contains("stopping") && !log.contains("cut off"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_outlast_the_grace_time_are_cancelled() {
    let database = fresh_database().await;
    let (mut server, token) = serve(&database, &["--grace", "300ms"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut stream = server.connect();
    stream.write_all(request(&token, ORDER).as_bytes()).unwrap();
    wait_for_waiting(&database, 1).await;
    server.tell_to_stop();
    assert_eq!(read_text(stream), "");
    assert!(server.wait().contains("cut off"));
    // The lock is still held, and nobody waits for it any more.
    wait_for_waiting(&database, 0).await;
    lock.rollback().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_while_a_query_runs_is_not_in_its_answer() {
    let database = fresh_database().await;
    make_users(&mut database.connect().await, &[("demo", PATIENT)]).await;
    // Whatever the operator's address says.
    let mut address = database.config();
    address.options(r"-c default_transaction_isolation=read\ committed");
    let server = Arc::new(Server::start_on(&address, &["--pool-size", "1"]));
    let token = server.token("demo");
    let mut client = database.connect().await;
    let order = "INSERT INTO order_header (order_id, status_id) VALUES ('O', 'ORDER_HELD')";
    client.batch_execute(order).await.unwrap();
    let query = "{ orders(first: 1) { edges { node { orderId orderItems(first: 1) { edges { cursor } } } } } }";
    let asking = || {
        let (server, token) = (Arc::clone(&server), token.clone());
        tokio::task::spawn_blocking(move || server.query(&token, query).json())
    };
    let count =
        |answer: &Value| answer["data"]["orders"]["edges"][0]["node"]["orderItems"]["edges"].as_array().unwrap().len();
    // From now on its statements are prepared, which would wait for a lock too.
    assert_eq!(count(&asking().await.unwrap()), 0);

    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_item").await.unwrap();
    let asked_before = asking();
    // The order is read, and its items are waited for.
    wait_for_waiting(&database, 1).await;
    let item = "INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('O', '00001')";
    lock.batch_execute(item).await.unwrap();
    lock.commit().await.unwrap();
    assert_eq!(count(&asked_before.await.unwrap()), 0);
    assert_eq!(count(&asking().await.unwrap()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn however_many_ask_the_database_sees_few() {
    let database = fresh_database().await;
    let (server, token) = serve(&database, &["--pool-size", "3", "--pool-wait", "1h"]).await;
    let server = Arc::new(server);
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut asking = JoinSet::new();
    for _ in 0..60 {
        let (server, token) = (Arc::clone(&server), token.clone());
        asking.spawn_blocking(move || server.query(&token, ORDER).json());
    }
    wait_for_waiting(&database, 3).await;
    // Of the sixty, three have a connection. One more hears of grants, one writes the trail of logins, and one is the test's.
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let connections = async || -> i64 {
        let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1";
        admin.query_one(count, &[&database.name()]).await.unwrap().get(0)
    };
    assert_eq!(connections().await, 3 + 3);
    lock.rollback().await.unwrap();
    while let Some(answer) = asking.join_next().await {
        assert_eq!(answer.unwrap()["data"], json!({"order": null}));
        assert!(connections().await <= 3 + 3);
    }
}

/// The ids of every order, and for each a query that tells about it and nobody else.
async fn orders(database: &Database) -> Vec<(String, String)> {
    let client = database.connect().await;
    let rows = client.query("SELECT order_id FROM order_header ORDER BY 1", &[]).await.unwrap();
    let query = |id: &String| {
        format!(
            "{{ order(orderId: \"{id}\") {{ orderId orderItems(first: 50) {{ edges {{ node {{ orderId }} }} }} }} }}"
        )
    };
    rows.iter().map(|row| row.get(0)).map(|id: String| (id.clone(), query(&id))).collect()
}

/// The order that an answer tells about, in all its places.
fn told(body: &Value) -> String {
    let order = &body["data"]["order"];
    let mut ids = BTreeSet::from([order["orderId"].as_str().unwrap()]);
    let items = order["orderItems"]["edges"].as_array().unwrap();
    ids.extend(items.iter().map(|item| item["node"]["orderId"].as_str().unwrap()));
    assert_eq!(ids.len(), 1, "{body}");
    ids.pop_first().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_on_one_connection_are_answered_in_their_order() {
    let database = loaded_database().await;
    let (server, token) = serve(&database, &[]).await;
    let orders = orders(&database).await;
    assert!(orders.len() > 50);
    // All at once, and one after the other.
    let mut stream = server.connect();
    let mut pipeline: String = orders.iter().map(|(_, query)| request(&token, query)).collect();
    pipeline.push_str("GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let mut sending = stream.try_clone().unwrap();
    // The server stops reading while its answers are not read.
    let sent = std::thread::spawn(move || sending.write_all(pipeline.as_bytes()).unwrap());
    let answers = read_answers(stream.try_clone().unwrap());
    sent.join().unwrap();
    let _ = stream.flush();
    assert_eq!(answers.len(), orders.len() + 1);
    for ((id, _), answer) in orders.iter().zip(&answers) {
        assert_eq!(told(&answer.json()), *id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_streams_on_one_connection_get_each_their_own_answer() {
    let database = loaded_database().await;
    let (mut server, token) = serve(&database, &["--pool-size", "4", "--pool-wait", "1h"]).await;
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let orders = orders(&database).await;
    for _ in 0..3 {
        let mut streams = JoinSet::new();
        for (id, query) in &orders[..50] {
            let (id, query) = (id.clone(), query.clone());
            let (client, token, address) = (client.clone(), token.clone(), server.address);
            streams.spawn(async move {
                let uri = format!("http://{address}/rest/s1/graphql");
                assert_eq!(told(&ask(client, &uri, &token, &query).await), id);
            });
        }
        assert_eq!(streams.join_all().await.len(), 50);
    }
    // A stream that is given up takes nothing else with it.
    let lost = client.clone().ready().await.unwrap();
    drop(lost);
    drop(client);
    server.tell_to_stop();
    connection.await.unwrap().unwrap();
    server.wait();
}

/// Asks a query on a stream of its own.
async fn ask(client: SendRequest<Bytes>, uri: &str, token: &str, query: &str) -> Value {
    let mut client = client.ready().await.unwrap();
    let request = hyper::Request::post(uri)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(())
        .unwrap();
    let (answer, mut sending) = client.send_request(request, false).unwrap();
    sending.send_data(json!({ "query": query }).to_string().into(), true).unwrap();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut body = answer.into_body();
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        bytes.extend_from_slice(&part);
    }
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_reset_has_its_statements_cancelled_and_the_others_go_on() {
    let database = fresh_database().await;
    let (server, token) = serve(&database, &[]).await;
    let mut locking = database.connect().await;
    let lock = locking.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let uri = format!("http://{}/rest/s1/graphql", server.address);
    let asking: Vec<_> = (0..3)
        .map(|_| {
            let (client, uri, token) = (client.clone(), uri.clone(), token.clone());
            tokio::spawn(async move { ask(client, &uri, &token, ORDER).await })
        })
        .collect();
    wait_for_waiting(&database, 3).await;
    asking[0].abort();
    wait_for_waiting(&database, 2).await;
    lock.rollback().await.unwrap();
    let mut answered = 0;
    for task in asking {
        match task.await {
            Ok(body) => {
                assert_eq!(body["data"], json!({"order": null}));
                answered += 1;
            }
            Err(error) => assert!(error.is_cancelled()),
        }
    }
    assert_eq!(answered, 2);
}
