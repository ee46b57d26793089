//! Limits of sizes, times and connections.

use std::io::Write as _;

use crate::support::http::{JSON, graphql_head, read_responses, read_to_end};
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn rejects_too_large_requests_without_reading_them() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &["--body-limit", "1KiB"]).await;
    // The body never arrives, so a response shows that the server did not wait for it.
    let declared = "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551613\r\n\r\n";
    let responses = server.exchange(declared);
    assert_eq!((responses[0].status, responses[0].code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    let expects = "POST /auth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1025\r\n\r\n";
    assert_eq!(server.exchange(expects)[0].status, 413);

    assert_eq!(server.get(&format!("/{}", "x".repeat(10_000))).status, 414);
    let header = format!("X: {}", "x".repeat(70_000));
    assert_eq!(server.request("GET /health/live", &[&header], "").status, 431);
    // 100 headers are allowed; Host and Connection are two of them.
    for (others, status) in [(98, 200), (99, 431)] {
        assert_eq!(server.request("GET /health/live", &vec!["X: y"; others], "").status, status, "{others}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_still_sending_can_read_the_error() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let mut body = b"POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n".to_vec();
    body.resize(body.len() + 10_000_000, b'x');
    let mut stream = server.connect();
    stream.write_all(&body).unwrap();
    assert_eq!(read_responses(stream)[0].status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_connections_of_clients_that_send_too_slowly() {
    let (server, _database, _token) =
        server_with_demo_user(UNLIMITED_PROFILE, &["--header-timeout", "200ms", "--idle-timeout", "300ms"]).await;
    // Each client sends a part of a head and waits. The end of its stream shows that the server did not wait.
    for beginning in ["", "P", "PRI * HTTP/2.0\r\n", "GET /health/live HTTP/1.1\r\nHost: a\r\n", "\r\n"] {
        let mut stream = server.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        assert!(read_responses(stream).is_empty(), "{beginning:?}");
    }
    // The server also closes a connection without a further request, and one with an incomplete second request.
    for more in ["", "GET /health/live HT"] {
        let mut stream = server.connect();
        stream.write_all(format!("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n{more}").as_bytes()).unwrap();
        assert_eq!(read_responses(stream).len(), 1, "{more:?}");
    }
    let mut stream = server.connect();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    let frames = read_to_end(stream);
    assert!(!frames.is_empty(), "an idle HTTP/2 connection is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_bodies_that_exceed_the_limit_or_never_end() {
    let (server, _database, token) =
        server_with_demo_user(UNLIMITED_PROFILE, &["--body-timeout", "200ms", "--body-limit", "1KiB"]).await;
    let begin = |framing: &str| format!("{}{framing}\r\n\r\n", graphql_head(&token, JSON));
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    for (request, status) in [
        (begin("Content-Length: 10") + "{", 408),
        (begin("Transfer-Encoding: chunked") + "1\r\n{\r\n", 408),
        (begin("Transfer-Encoding: chunked") + &chunk + &chunk, 413),
        (begin("Transfer-Encoding: chunked") + "zz\r\n", 400),
    ] {
        let responses = server.exchange(&request);
        assert_eq!(responses.len(), 1, "{request}");
        assert_eq!(responses[0].status, status, "{request}");
    }
}
