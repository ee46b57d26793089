//! Responses that are written while their rows are fetched.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::http::compression::decompress;
use crate::support::database::{Database, sampled_database};
use crate::support::http::{GRAPHQL_JSON, bearer, graphql_request, read_to_end, read_until};
use crate::support::http2;
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const PROFILE: Profile = Profile { max_page_size: Some(10_000), max_cost: Some(100_000_000), ..UNLIMITED_PROFILE };

/// Up to 260,000 rows: forward and backward pages, cursors before and after the rows, a page without rows, and one that is
/// written twice.
const LARGE: &str = "query Large {
    orders(first: 2000, sortKey: ORDER_ID) {
        edges { cursor node {
            orderId grandTotal billToCustomer { firstName }
            orderItems(first: 100) { edges { node { orderItemSeqId quantity product { productId } } } pageInfo { endCursor } }
            last: orderItems(last: 1) { pageInfo { startCursor } edges { node { orderItemSeqId } } }
            shipGroups(first: 9) {
                pageInfo { hasNextPage }
                edges { node { shipGroupSeqId orderItems(first: 2) { edges { node { orderItemSeqId } } } } }
            }
        } }
        pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
    }
    facilities(first: 5) { a: edges { node { facilityId } } b: edges { cursor } }
    order(orderId: \"NONE\") { orderId }
    products(first: 1000) { __typename }
}";

/// A server on 2,000 orders, with the user `demo`.
async fn server(profile: Profile, flags: &[&str]) -> (Server, Database, String) {
    let database = sampled_database().await;
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    let server = Server::start(&database, flags);
    let token = server.token("demo");
    (server, database, token)
}

/// The items of 2,000 orders, eight times: more rows than the system buffers for a server that does not read.
fn huge() -> String {
    let item = "orderId orderItemSeqId productId itemDescription statusId quantity unitPrice";
    let items: Vec<_> = (0..8)
        .map(|number| format!("items_{number}: orderItems(first: 100) {{ edges {{ cursor node {{ {item} }} }} }}"))
        .collect();
    format!("query Huge {{ orders(first: 2000) {{ edges {{ node {{ {} }} }} }} }}", items.join(" "))
}

/// The server's connections that run a query.
async fn transactions(client: &Client) -> Vec<i32> {
    let query = "SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
                 AND application_name = 'orderql-queries'";
    client.query(query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// Waits until the server has so many connections that run a query, and returns them.
async fn wait_for_transactions(client: &Client, count: usize) -> Vec<i32> {
    let begin = Instant::now();
    loop {
        let transactions = transactions(client).await;
        if transactions.len() == count {
            return transactions;
        }
        assert!(begin.elapsed() < Duration::from_mins(1), "{transactions:?}");
    }
}

/// Begins a response that is larger than what the system buffers, and returns the connection of PostgreSQL that it holds.
async fn begin(server: &Server, token: &str, client: &Client) -> (TcpStream, i32) {
    let mut stream = server.connect();
    stream.write_all(graphql_request(token, GRAPHQL_JSON, &huge()).as_bytes()).unwrap();
    read_until(&stream, "HTTP/1.1 200 OK\r\n");
    let process = wait_for_transactions(client, 1).await[0];
    (stream, process)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_response_is_the_gathered_one() {
    // Half of the connections are for responses that are not streamed: one connection streams none.
    let (gathering, database, token) = server(PROFILE, &["--pool-size", "1"]).await;
    let expected = gathering.query(&token, LARGE);
    let expected = expected.json();
    assert_eq!(expected["errors"], Value::Null);
    let orders = expected["data"]["orders"]["edges"].as_array().unwrap();
    assert_eq!(orders.len(), 2000);
    assert_eq!(expected["data"]["orders"]["pageInfo"]["startCursor"], orders[0]["cursor"]);

    let server = Server::start(&database, &["--admin-listen", "0", "--slow-query", "1ms"]);
    let token = server.token("demo");
    let same = |text: &str| {
        let response: Value = serde_json::from_str(text).unwrap();
        assert!(response["data"] == expected["data"]);
        for cost in ["requestedQueryCost", "actualQueryCost"] {
            assert_eq!(response["extensions"]["cost"][cost], expected["extensions"]["cost"][cost]);
        }
    };
    let response = server.query(&token, LARGE);
    assert_eq!(response.header("transfer-encoding"), Some("chunked"));
    same(&response.body);
    for coding in ["gzip", "br", "zstd"] {
        let headers =
            [bearer(&token), format!("Accept-Encoding: {coding}"), "Content-Type: application/json".to_owned()];
        let headers = headers.each_ref().map(String::as_str);
        let body = json!({ "query": LARGE }).to_string();
        let (response, bytes) = server.request_bytes("POST /rest/s1/graphql", &headers, body);
        assert_eq!(response.header("content-encoding"), Some(coding));
        same(&decompress(coding, &bytes));
    }
    let client = http2::connect(&server, 1 << 16).await;
    let length = http2::read(http2::ask(&client, &server, &token, LARGE).await).await;
    assert!(length.abs_diff(response.body.len()) < 10, "{length}");

    // One that turns out to be small has a length.
    let small = "{ orders(first: 2000, query: \"orderId:NONE\") { edges { node { orderId } } } }";
    assert!(server.query(&token, small).header("content-length").is_some());
    let actual = expected["extensions"]["cost"]["actualQueryCost"].as_u64().unwrap();
    server.wait_for_metrics(|metrics| metrics.get("orderql_cost_actual_sum") >= 5 * actual);
    let log = server.stop();
    let lines = log.lines().filter(|line| line.contains("\"operation\":\"Large\""));
    let (slow, lines): (Vec<_>, Vec<_>) = lines.partition(|line| line.contains("slow query"));
    assert_eq!((slow.len(), lines.len()), (5, 5));
    assert!(slow.iter().all(|line| line.contains("orders: 2000 rows;")), "{slow:?}");
    let cost = format!("\"cost\":{}", expected["extensions"]["cost"]["requestedQueryCost"]);
    assert!(lines.iter().all(|line| line.contains(&cost) && line.contains("\"status\":200")), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_loses_its_connection_and_its_transaction() {
    let (server, database, token) = server(PROFILE, &["--write-timeout", "300ms"]).await;
    let client = database.connect().await;
    let (stream, _) = begin(&server, &token, &client).await;
    wait_for_transactions(&client, 0).await;
    assert!(!read_to_end(stream).ends_with("0\r\n\r\n"), "an incomplete response does not look complete");

    // One that reads, but slowly, ends as well.
    let (mut stream, _) = begin(&server, &token, &client).await;
    let mut part = vec![0; 64 << 10];
    let (mut read, mut last) = (0, Vec::new());
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => {
                read += count;
                last = part[..count].to_vec();
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                break;
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(read > 1 << 20 && !last.ends_with(b"0\r\n\r\n"), "{read}");

    // And one that is gone.
    let (stream, _) = begin(&server, &token, &client).await;
    drop(stream);
    wait_for_transactions(&client, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_whose_rows_stop_coming_breaks_off() {
    let profile = Profile { deadline_ms: Some(2000), ..PROFILE };
    let (server, database, token) = server(profile, &["--write-timeout", "1h"]).await;
    let client = database.connect().await;
    let (stream, process) = begin(&server, &token, &client).await;
    client.execute("SELECT pg_terminate_backend($1)", &[&process]).await.unwrap();
    assert!(!read_to_end(stream).ends_with("0\r\n\r\n"));
    let available = || server.query(&token, "{ __typename }").available();
    assert_eq!(available(), 1_000_000_000, "it is refunded");

    let (stream, process) = begin(&server, &token, &client).await;
    let signal = |signal: &str| {
        assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    let text = read_to_end(stream);
    signal("-CONT");
    assert!(!text.ends_with("0\r\n\r\n"));
    assert!(available() < 1_000_000_000, "it is not");
    assert_eq!(server.query(&token, "{ orders(first: 1) { edges { node { orderId } } } }").status, 200);
    let log = server.stop();
    let is_request = |line: &&str| line.contains("\"operation\":\"Huge\"") && !line.contains("slow query");
    let codes: Vec<_> = log.lines().filter(is_request).collect();
    assert!(codes[0].contains("SERVICE_UNAVAILABLE") && codes[1].contains("DEADLINE_EXCEEDED"), "{codes:?}");
    assert!(codes.iter().all(|line| line.contains("\"broken_off\":true")), "{codes:?}");
}

/// The end of the connection would be that of the response.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_over_http_1_0_that_breaks_off_does_not_end_in_good_order() {
    let (server, database, token) = server(PROFILE, &["--write-timeout", "1h"]).await;
    let client = database.connect().await;
    let mut stream = server.connect();
    let request = graphql_request(&token, GRAPHQL_JSON, &huge()).replace("HTTP/1.1", "HTTP/1.0");
    stream.write_all(request.as_bytes()).unwrap();
    read_until(&stream, "200 OK\r\n");
    let process = wait_for_transactions(&client, 1).await[0];
    client.execute("SELECT pg_terminate_backend($1)", &[&process]).await.unwrap();
    let end = stream.read_to_end(&mut Vec::new());
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_breaks_off_when_its_callers_account_is_closed() {
    let (server, database, token) = server(PROFILE, &["--write-timeout", "1h"]).await;
    let client = database.connect().await;
    let (stream, _) = begin(&server, &token, &client).await;
    let disable = "UPDATE orderql.user_account SET disabled = true WHERE user_id = 'demo'";
    client.batch_execute(disable).await.unwrap();
    while server.query(&token, "{ __typename }").status == 200 {}
    assert!(!read_to_end(stream).ends_with("0\r\n\r\n"));
    let log = server.stop();
    let line =
        log.lines().find(|line| line.contains("\"operation\":\"Huge\"") && !line.contains("slow query")).unwrap();
    assert!(line.contains("UNAUTHENTICATED"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn half_of_the_connections_are_for_others() {
    let (server, database, token) = server(PROFILE, &["--pool-size", "4", "--memory-budget", "1GiB"]).await;
    let client = database.connect().await;
    let streams: Vec<_> = (0..6)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(graphql_request(&token, GRAPHQL_JSON, &huge()).as_bytes()).unwrap();
            read_until(&stream, "HTTP/1.1 200 OK\r\n");
            stream
        })
        .collect();
    wait_for_transactions(&client, 2).await;
    let bodies = streams.into_iter().map(|stream| read_to_end(stream).len());
    let lengths: Vec<_> = bodies.collect();
    assert!(lengths.iter().all(|length| *length > 10 << 20), "{lengths:?}");
}

/// A page is held as a whole, with the pages below it, where its flags come before its edges.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_held_takes_no_more_memory_than_its_connection_may() {
    // A connection may hold one mebibyte beside the one that every stream has.
    let flags = ["--memory-budget", "8MiB", "--body-limit", "256KiB", "--restore-rate", "0"];
    let (server, _database, token) = server(PROFILE, &flags).await;
    let edges = "edges { node { orderId orderItems(first: 100) {
        edges { node { orderItemSeqId productId itemDescription statusId quantity unitPrice } } } } }";
    let ask =
        |page: String| server.query(&token, &format!("{{ orders(first: 2000, sortKey: ORDER_ID) {{ {page} }} }}"));
    let streamed = ask(format!("{edges} pageInfo {{ hasNextPage }}"));
    assert_eq!(streamed.json()["data"]["orders"]["edges"].as_array().unwrap().len(), 2000);
    let before = streamed.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"].clone();
    let held = ask(format!("pageInfo {{ hasNextPage }} {edges}"));
    assert_eq!((held.status, held.code().as_str()), (200, "RESPONSE_TOO_LARGE"));
    // It has run, and is paid for, and its memory is free again.
    let one =
        server.query(&token, "{ orders(first: 1) { pageInfo { hasNextPage } edges { node { orderId } } } }").json();
    let cost = one["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
    let after = one["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"].as_u64().unwrap();
    let held = held.json()["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
    assert_eq!(before.as_u64().unwrap() - held - cost, after);
}
