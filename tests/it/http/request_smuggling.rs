//! Heads that a proxy could read differently, and bytes that are not HTTP.

use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn rejects_ambiguous_heads_and_closes_the_connection() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let smuggled = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    for head in [
        "GET /health/live HTTP/1.1\r\n",
        "GET /health/live HTTP/1.1\r\nHost: a\r\nHost: a\r\n",
        "GET /health/live HTTP/1.1\r\nHost: a b\r\n",
        "GET /health/live HTTP/1.1\r\nHost : a\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n",
        "POST /auth/token HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
        "GET /health/live\r\n",
        "\0\0\0\0\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\r\n",
    ] {
        let responses = server.exchange(format!("{head}\r\n0\r\n\r\n{smuggled}"));
        assert_eq!(responses.len(), 1, "{head}: {responses:?}");
        assert_eq!(responses[0].status, 400, "{head}");
    }
    assert_eq!(server.get("/health/live").status, 200, "the server still answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_nothing_after_a_request_with_both_a_length_and_an_encoding() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let valid = "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let sized = "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let smuggled = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    for both in ["Content-Length: 4\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 46"]
    {
        let conflict = format!("POST /auth/token HTTP/1.1\r\nHost: a\r\n{both}\r\n\r\n0\r\n\r\n{smuggled}");
        for before in [vec![], vec![sized, valid, sized]] {
            let responses = server.exchange(format!("{}{conflict}{valid}", before.concat()));
            let statuses: Vec<_> = responses.iter().map(|response| response.status).collect();
            assert_eq!(statuses, vec![401; before.len() + 1], "{both}");
            assert_eq!(responses[before.len()].header("connection"), Some("close"));
        }
    }
    assert_eq!(server.get("/health/live").status, 200, "the server still answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_invalid_http_with_a_json_error_and_logs_it() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let valid = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    let no_body = "OPTIONS /auth/token HTTP/1.1\r\nHost: a\r\n\r\n";
    let large = format!("GET /health/live HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET /health/live HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(200));
    let mut ids = Vec::new();
    for (invalid, status, code) in [
        ("GET /health/live\r\n\r\n", 400, "BAD_REQUEST"),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "BAD_REQUEST"),
        ("GET /\u{0} HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST"),
        ("POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "BAD_REQUEST"),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}", 400, "BAD_REQUEST"),
        (large.as_str(), 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
        (many.as_str(), 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
    ] {
        for before in ["", valid, no_body] {
            let responses = server.exchange(format!("{before}{before}{invalid}"));
            assert_eq!(responses.len(), if before.is_empty() { 1 } else { 3 }, "{invalid:.50}: {responses:?}");
            let response = responses.last().unwrap();
            assert_eq!((response.status, response.code().as_str()), (status, code), "{invalid:.50}");
            assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"));
            assert_eq!(response.header("connection"), Some("close"));
            assert!(response.header("date").is_some());
            ids.push(response.header("x-request-id").unwrap().to_owned());
        }
    }
    let log = server.stop();
    for id in ids {
        let line = log.lines().find(|line| line.contains(&id)).unwrap();
        assert!(line.contains("\"route\":\"none\"") && line.contains("\"error_code\":\""), "{line}");
    }
}
