//! The log of a server whose standard error nobody reads.

use std::io::{Read as _, Write as _};
use std::thread;

use crate::support::database::migrated_database;
use crate::support::http::read_to_end;
use crate::support::server::Server;

/// More than standard error and the server itself hold while nobody reads.
const REQUESTS: usize = 16_000;

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_when_the_reader_of_the_log_is_gone() {
    let database = migrated_database().await;
    let (server, log) = Server::start_with_unread_log(&database, &[]);
    drop(log);
    assert_eq!(server.get("/health/live").status, 200);
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_while_nobody_reads_the_log_and_dropped_lines_are_counted() {
    let database = migrated_database().await;
    let (mut server, mut log) = Server::start_with_unread_log(&database, &[]);
    let stream = server.connect();
    let mut sending = stream.try_clone().unwrap();
    let sender = thread::spawn(move || {
        let request = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n".repeat(REQUESTS - 1);
        sending.write_all(request.as_bytes()).unwrap();
        sending.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    });
    let responses = read_to_end(stream);
    sender.join().unwrap();
    assert_eq!(responses.matches("HTTP/1.1 200 OK\r\n").count(), REQUESTS);

    server.terminate();
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    server.wait();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let logged = events.iter().filter(|event| event["message"] == "request").count();
    let reports = events.iter().filter(|event| event["message"] == "lines of the log were dropped");
    let dropped: u64 = reports.map(|event| event["count"].as_u64().unwrap()).sum();
    assert!(dropped > 0);
    // Other events were logged, or dropped, too: that the server stops, and the reports themselves.
    let all = logged + usize::try_from(dropped).unwrap();
    assert!((REQUESTS..REQUESTS + 5).contains(&all), "{logged} + {dropped}");
}
