//! Requests from web pages of other origins.

use crate::support::http::bearer;
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn sends_no_cors_headers_without_configured_origins() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let preflight = ["Origin: https://app.example", "Access-Control-Request-Method: POST"];
    for line in ["OPTIONS /rest/s1/graphql", "POST /rest/s1/graphql", "GET /health/live"] {
        let response = server.request(line, &[preflight[0], preflight[1], &token], "");
        assert!(!response.headers.keys().any(|name| name.starts_with("access-control")), "{response:?}");
        assert!(!response.header("vary").unwrap_or_default().contains("Origin"), "{response:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_origins_may_send_requests_and_read_responses() {
    let flags = ["--cors-origins", "https://app.example, http://localhost:3000", "--cors-max-age", "10m"];
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &flags).await;
    let token = bearer(&token);
    let origin = "Origin: https://app.example";
    let requested =
        ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"];
    let preflight = server.request("OPTIONS /rest/s1/graphql", &[origin, requested[0], requested[1]], "");
    assert_eq!(preflight.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", "https://app.example"),
        ("access-control-allow-methods", "GET, HEAD, POST, OPTIONS"),
        ("access-control-allow-headers", "authorization,content-type"),
        ("access-control-max-age", "600"),
        ("allow", "GET, HEAD, POST, OPTIONS"),
    ] {
        assert_eq!(preflight.header(name), Some(value), "{name}");
    }
    // Pages of these origins can read errors as well.
    for (line, headers, status) in [
        ("POST /rest/s1/graphql", &[][..], 401),
        ("POST /rest/s1/graphql", &[token.as_str()], 415),
        ("GET /rest/s1/graphql?query=%7B__typename%7D", &[token.as_str()], 200),
        ("GET /rest/s1/graphql/sdl", &[], 200),
        ("GET /nowhere", &[], 404),
        ("POST /auth/token", &[], 401),
    ] {
        let response = server.request(line, &[headers, &[origin]].concat(), "");
        assert_eq!(response.status, status, "{line}");
        assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example"), "{line}");
        assert_eq!(
            response.header("access-control-expose-headers"),
            Some("X-Request-Id, Retry-After, ETag, Preference-Applied, Orderql-Position")
        );
        assert_eq!(response.header("access-control-allow-credentials"), None);
        assert!(response.header("vary").unwrap().ends_with("Origin"), "{response:?}");
        for other in ["Origin: https://app.example.evil", "Origin: http://app.example", "Origin: null", "X: y"] {
            let response = server.request(line, &[headers, &[other, requested[0]]].concat(), "");
            assert_eq!(response.status, status, "{line} {other}");
            assert!(!response.headers.keys().any(|name| name.starts_with("access-control")), "{other}: {response:?}");
            assert!(response.header("vary").unwrap().ends_with("Origin"), "{other}: {response:?}");
        }
    }
    let unknown =
        server.request("OPTIONS /rest/s1/graphql", &["Origin: https://evil.example", requested[0], requested[1]], "");
    assert!(!unknown.headers.keys().any(|name| name.starts_with("access-control")), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wildcard_origin_never_allows_credentials() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &["--cors-origins", "*"]).await;
    let response = server.request("GET /health/live", &["Origin: https://any.example"], "");
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!((response.header("access-control-allow-credentials"), response.header("vary")), (None, None));
    assert_eq!(server.request("GET /health/live", &[], "").header("access-control-allow-origin"), None);
}
