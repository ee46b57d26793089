//! The published schema.

use orderql::catalog::Catalog;
use orderql::outline::Outline;

use crate::http::compression::decompress;
use crate::support::http::bearer;
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn publishes_the_schema_with_an_etag() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let response = server.get("/rest/s1/graphql/sdl");
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    let whole = server.request("GET /rest/s1/graphql/sdl", &[&bearer(&token)], "").body;
    assert_eq!(whole, Catalog::built_in().unwrap().sdl());
    assert_eq!(response.body, whole, "without a token it is the whole schema, unless a setting says otherwise");
    let tag = response.header("etag").unwrap();
    // The same under the path of tools that decide by the ending of a URL.
    let named = server.get("/rest/s1/graphql/schema.graphql");
    assert_eq!((named.status, &named.body), (200, &response.body));
    for name in ["content-type", "etag", "cache-control", "vary"] {
        assert_eq!(named.header(name), response.header(name));
    }
    for path in ["/rest/s1/graphql/sdl", "/rest/s1/graphql/schema.graphql"] {
        let unchanged = server.request(&format!("GET {path}"), &[&format!("If-None-Match: {tag}")], "");
        assert_eq!((unchanged.status, unchanged.body.as_str(), unchanged.header("etag")), (304, "", Some(tag)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compresses_the_schema_with_a_weak_etag() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let line = "GET /rest/s1/graphql/sdl";
    let (plain, text) = server.request_bytes(line, &[], "");
    let tag = plain.header("etag").unwrap();
    for coding in ["gzip", "br", "zstd"] {
        let accept = format!("Accept-Encoding: {coding}");
        let (response, bytes) = server.request_bytes(line, &[&accept], "");
        assert_eq!(response.header("content-encoding"), Some(coding));
        assert_eq!(response.header("etag"), Some(format!("W/{tag}").as_str()));
        assert_eq!(response.header("vary"), Some("Accept-Encoding, Authorization"));
        assert_eq!(decompress(coding, &bytes).as_bytes(), text);
        let head = server.request("HEAD /rest/s1/graphql/sdl", &[&accept], "");
        assert_eq!(head.header("content-length"), Some(bytes.len().to_string().as_str()));
        for cached in [tag, response.header("etag").unwrap()] {
            let again = server.request(line, &[&accept, &format!("If-None-Match: {cached}")], "");
            assert_eq!((again.status, again.header("content-encoding")), (304, None));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn publishes_a_short_form_with_a_tag_of_its_own() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let whole = Catalog::built_in().unwrap().sdl().to_owned();
    let short = Outline::parse(&whole).unwrap().short_sdl();
    let line = "GET /rest/s1/graphql/sdl?descriptions=short";
    for authorization in [None, Some(bearer(&token))] {
        let headers: Vec<_> = authorization.iter().map(String::as_str).collect();
        let response = server.request(line, &headers, "");
        assert_eq!((response.status, &response.body), (200, &short));
        let tag = response.header("etag").unwrap().to_owned();
        assert_ne!(server.get("/rest/s1/graphql/sdl").header("etag"), Some(tag.as_str()));
        let known = format!("If-None-Match: {tag}");
        assert_eq!(server.request(line, &[headers, vec![&known]].concat(), "").status, 304);
    }
    assert_eq!(server.get("/rest/s1/graphql/schema.graphql?descriptions=short&x=1").body, short);
    assert_eq!(server.get("/rest/s1/graphql/sdl?descriptions=full").body, whole);
    let rejected = server.get("/rest/s1/graphql/sdl?descriptions=none");
    assert_eq!((rejected.status, &rejected.json()["errors"][0]["extensions"]["code"]), (400, &"BAD_REQUEST".into()));
}
