//! Large responses, and clients that do not read them.

use std::io::Write as _;
use std::net::Shutdown;

use serde_json::json;

use crate::support::database::Database;
use crate::support::http::{JSON, graphql_head, graphql_request, read_responses, read_to_end, read_until, with_body};
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

/// Inserts a hundred orders with names of a hundred characters, and returns a query that selects each name that many times.
async fn names_of_a_hundred_orders(database: &Database, times: usize) -> String {
    let fill = "INSERT INTO order_header (order_id, order_name, order_date)
                SELECT 'L' || number, repeat('n', 100), '2026-05-01' FROM generate_series(100, 199) AS number";
    database.connect().await.batch_execute(fill).await.unwrap();
    let names: Vec<_> = (0..times).map(|number| format!("n{number}: orderName")).collect();
    format!("{{ orders(first: 100) {{ edges {{ node {{ {} }} }} }} }}", names.join(" "))
}

const ORDER: &str = "query One { order(orderId: \"NONE\") { orderName } }";

#[tokio::test(flavor = "multi_thread")]
async fn sends_a_large_response_in_chunks() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let query = names_of_a_hundred_orders(&database, 20).await;
    let response = server.query(&token, &query);
    assert_eq!((response.status, response.header("transfer-encoding")), (200, Some("chunked")));
    let body = response.json();
    let edges = body["data"]["orders"]["edges"].as_array().unwrap();
    assert_eq!(edges.len(), 100);
    assert!(edges.iter().all(|edge| edge["node"]["n19"] == json!("n".repeat(100))));
    assert_eq!(body["extensions"]["cost"]["actualQueryCost"], 100 * 21);
    // HTTP/1.0 has no chunks: the end of the connection is the end of the response.
    let body = json!({ "query": query }).to_string();
    let head = format!(
        "POST /rest/s1/graphql HTTP/1.0\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = server.connect();
    stream.write_all((head + &body).as_bytes()).unwrap();
    let text = read_to_end(stream);
    assert!(text.split_once("\r\n\r\n").unwrap().1.ends_with("}}}}"), "{}", text.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_a_body_in_whatever_parts_it_arrives() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let (head, body) = (graphql_head(&token, JSON), json!({ "query": ORDER }).to_string());
    let bytes: Vec<_> = body.bytes().map(|byte| vec![byte]).collect();
    let sized = format!("{head}Content-Length: {}\r\n", body.len());
    let chunks = |sizes: &[usize]| {
        let mut rest = body.as_str();
        let mut chunks: Vec<_> = sizes
            .iter()
            .map(|size| {
                let (chunk, after) = rest.split_at(*size);
                rest = after;
                format!("{size:x}\r\n{chunk}\r\n").into_bytes()
            })
            .collect();
        chunks.push(format!("{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len()).into_bytes());
        chunks
    };
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n");
    for (head, parts) in [
        (&sized, vec![body.clone().into_bytes()]),
        (&sized, bytes),
        (&chunked, chunks(&[])),
        (&chunked, chunks(&[1, 2, 3])),
    ] {
        for expect in ["", "Expect: 100-continue\r\n"] {
            let mut stream = server.connect();
            stream.set_nodelay(true).unwrap();
            stream.write_all(format!("{head}{expect}\r\n").as_bytes()).unwrap();
            if !expect.is_empty() {
                // The server has begun to read the body, of which it has nothing.
                read_until(&stream, "HTTP/1.1 100 Continue\r\n\r\n");
            }
            for part in &parts {
                stream.write_all(part).unwrap();
            }
            // The connection goes on after it.
            stream.write_all(with_body(&graphql_head(&token, JSON), &body).as_bytes()).unwrap();
            let responses = read_responses(stream);
            assert_eq!(responses.len(), 2);
            assert!(responses.iter().all(|response| response.json()["data"] == json!({"order": null})));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cuts_off_a_client_that_does_not_read() {
    let (mut server, database, token) =
        server_with_demo_user(UNLIMITED_PROFILE, &["--write-timeout", "200ms", "--grace", "1h"]).await;
    // 20 MB, more than the system buffers for a client that does not read.
    let query = names_of_a_hundred_orders(&database, 2000).await;
    let mut stream = server.connect();
    stream.write_all(graphql_request(&token, JSON, &query).as_bytes()).unwrap();
    read_until(&stream, "HTTP/1.1 200 OK\r\n");
    server.terminate();
    let log = server.wait();
    assert!(!log.contains("cut off"), "the grace time did not end it: {log}");
    assert!(log.lines().any(|line| line.contains("\"graphql\"") && line.contains("\"broken_off\":true")), "{log}");
    assert!(!read_to_end(stream).ends_with("0\r\n\r\n"), "an incomplete response does not look complete");
}

/// A client that ends its side after the request, as `nc -N` does, waits for the response all the same.
#[tokio::test(flavor = "multi_thread")]
async fn responds_to_a_client_that_has_ended_its_side() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let client = &mut database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut stream = server.connect();
    let request = with_body(&graphql_head(&token, JSON), &json!({ "query": ORDER }).to_string());
    stream.write_all(request.replace("Connection: close\r\n", "").as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    database.wait_for_lock_waits(1).await;
    lock.rollback().await.unwrap();
    let responses = read_responses(stream);
    assert_eq!(responses.len(), 1);
    assert_eq!(responses[0].json()["data"], json!({"order": null}));
    // One that ends within a request hears of it.
    let mut stream = server.connect();
    stream.write_all(&request.as_bytes()[..request.len() - 1]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_responses(stream)[0].code(), "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancels_the_statements_of_a_client_that_disconnects() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut stream = server.connect();
    stream.write_all(graphql_request(&token, JSON, ORDER).as_bytes()).unwrap();
    database.wait_for_lock_waits(1).await;
    drop(stream);
    database.wait_for_lock_waits(0).await;
    let log = server.stop();
    let line = log.lines().find(|line| line.contains("\"operation\":\"One\"")).unwrap();
    assert!(!line.contains("\"status\""), "the request was not answered: {line}");
}
