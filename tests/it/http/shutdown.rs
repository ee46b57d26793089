//! Graceful shutdown.

use std::io::Write as _;
use std::net::TcpStream;

use bytes::Bytes;
use h2::client::SendRequest;
use serde_json::json;

use crate::http::pipelining::pipelined_request;
use crate::support::http::{JSON, graphql_head, graphql_request, read_responses, read_to_end, read_until};
use crate::support::http2;
use crate::support::server::{Server, server_with_demo_user, wait_until};
use crate::support::users::UNLIMITED_PROFILE;

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_closes_idle_connections_and_accepts_no_new_ones() {
    let (mut server, _database, _token) =
        server_with_demo_user(UNLIMITED_PROFILE, &["--grace", "1h", "--idle-timeout", "1h"]).await;
    let mut idle = server.connect();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    read_until(&idle, "\"live\"}");
    let silent = server.connect();
    server.get("/health/live");
    server.terminate();
    assert_eq!(read_to_end(idle), "");
    assert!(read_responses(silent).is_empty());
    let log = server.wait();
    assert!(log.contains("stopping") && !log.contains("cut off"), "{log}");
    assert!(TcpStream::connect(server.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_finishes_reading_a_request() {
    let (mut server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--grace", "1h"]).await;
    let mut sending = server.connect();
    // The server sends 100 Continue when it begins to read the body.
    let begin = format!("{}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", graphql_head(&token, JSON));
    sending.write_all(begin.as_bytes()).unwrap();
    read_until(&sending, "HTTP/1.1 100 Continue\r\n\r\n");
    let mut idle = server.connect();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    read_until(&idle, "\"live\"}");
    server.terminate();
    assert_eq!(read_to_end(idle), "", "an idle connection is closed");
    sending.write_all(b"{}").unwrap();
    let responses = read_responses(sending);
    assert_eq!(responses[0].status, 400);
    let log = server.wait();
    assert!(!log.contains("cut off"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_finishes_running_queries() {
    let (mut server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--grace", "1h"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut running = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connect();
        // The server must not answer the second request, because it is already stopping.
        stream.write_all(pipelined_request(&token, ORDER).repeat(2).as_bytes()).unwrap();
        running.push(stream);
    }
    database.wait_for_lock_waits(3).await;
    let idle = server.connect();
    server.terminate();
    // The end of the idle connection shows that the server is stopping while the queries still run.
    assert_eq!(read_to_end(idle), "");
    database.wait_for_lock_waits(3).await;
    lock.rollback().await.unwrap();
    for stream in running {
        let responses = read_responses(stream);
        assert_eq!(responses[0].json()["data"], json!({"order": null}));
        assert_eq!(responses[0].header("connection"), Some("close"));
        assert_eq!(responses.len(), 1);
    }
    let log = server.wait();
    assert!(log.contains("stopping") && !log.contains("cut off"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_cancels_queries_after_the_grace_time() {
    let (mut server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--grace", "300ms"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut stream = server.connect();
    stream.write_all(graphql_request(&token, JSON, ORDER).as_bytes()).unwrap();
    database.wait_for_lock_waits(1).await;
    server.terminate();
    assert_eq!(read_to_end(stream), "");
    assert!(server.wait().contains("cut off"));
    // The table is still locked, and no statement waits for it.
    database.wait_for_lock_waits(0).await;
    lock.rollback().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_server_has_clients_use_other_connections() {
    let (mut server, _database, _) = server_with_demo_user(UNLIMITED_PROFILE, &["--drain", "1h"]).await;
    let live = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut open = server.connect();
    open.write_all(live.as_bytes()).unwrap();
    read_until(&open, "\"live\"}");
    let newer = http2::connect(&server, 65_535).await;
    assert_eq!(is_live(&newer, &server).await, Ok(200));
    server.terminate();
    wait_until(|| server.get("/health/ready").status == 503);
    // A client whose connection is open gets its response, and is asked to send others elsewhere; and so is a new one.
    for mut stream in [open, server.connect()] {
        stream.write_all(live.as_bytes()).unwrap();
        let responses = read_responses(stream);
        assert_eq!((responses[0].status, responses[0].header("connection")), (200, Some("close")));
    }
    for client in [newer, http2::connect(&server, 65_535).await] {
        assert_eq!(is_live(&client, &server).await, Ok(200));
        let mut last = Ok(200);
        while last.is_ok() {
            last = is_live(&client, &server).await;
        }
        assert_eq!(last, Err(Some(h2::Reason::NO_ERROR)), "GOAWAY");
    }
    server.terminate();
    server.wait();
}

/// The status of a probe over HTTP/2, or why it was not sent.
async fn is_live(client: &SendRequest<Bytes>, server: &Server) -> Result<u16, Option<h2::Reason>> {
    let request = hyper::Request::get(format!("http://{}/health/live", server.address)).body(()).unwrap();
    let mut client = client.clone().ready().await.map_err(|error| error.reason())?;
    let (response, _) = client.send_request(request, true).map_err(|error| error.reason())?;
    Ok(response.await.map_err(|error| error.reason())?.status().as_u16())
}
