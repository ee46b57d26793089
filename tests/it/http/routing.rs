//! Paths and methods.

use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn rejects_unknown_paths_and_methods() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let send = |line: &str| server.request(line, &[], "");
    for line in ["GET /", "GET /rest/s1/graphql//", "POST /%2e%2e/auth/token", "OPTIONS *", "GET /auth/token/x"] {
        let response = send(line);
        assert_eq!((response.status, response.code().as_str()), (404, "NOT_FOUND"), "{line}");
        assert_eq!(response.header("x-request-id").map(str::len), Some(16), "{line}");
    }
    for (line, allow) in [
        ("GET /auth/token", "POST, OPTIONS"),
        ("DELETE /api/auth/token", "POST, OPTIONS"),
        ("POST /rest/s1/graphql/sdl", "GET, HEAD, OPTIONS"),
        ("BREW /health/live", "GET, HEAD, OPTIONS"),
        ("BREW /health/live/", "GET, HEAD, OPTIONS"),
    ] {
        let response = send(line);
        assert_eq!((response.status, response.header("allow")), (405, Some(allow)), "{line}");
    }
    assert_eq!(send("GET /health/live/").status, 200, "a slash at the end changes nothing");
    let options = send("OPTIONS /rest/s1/auth/token");
    assert_eq!((options.status, options.header("allow")), (204, Some("POST, OPTIONS")));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_head_with_the_headers_and_no_body() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let response = server.request("HEAD /health/live", &[], "");
    assert_eq!((response.status, response.header("content-length"), response.body.as_str()), (200, Some("17"), ""));
}
