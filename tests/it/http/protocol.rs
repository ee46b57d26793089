//! What a running server says to clients of every kind, over raw sockets: queries in targets, web pages of other origins,
//! compressed answers, persisted queries, and heads that are no HTTP.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Read, Write};

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::database::{Database, fresh_database};
use crate::support::server::{Answer, Server};

/// A server on a fresh database, and a token of `demo`, who may do everything and pays for nothing dear.
async fn server(flags: &[&str]) -> (Server, Database, String) {
    let database = fresh_database().await;
    let profile = Profile { max_cost: Some(100_000), bucket_size: Some(1_000_000), ..Profile::default() };
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    let server = Server::start(&database, flags);
    let token = server.token("demo");
    (server, database, format!("Authorization: Bearer {token}"))
}

/// A request without a body, and its answer's bytes.
fn raw(server: &Server, line: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let fixed = ["Host: a", "Connection: close", length.as_str(), "", body];
    let line = format!("{line} HTTP/1.1");
    let request = [&[line.as_str()], headers, &fixed].concat().join("\r\n");
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

/// A request and its answer, whose body is text.
fn ask(server: &Server, line: &str, headers: &[&str], body: &str) -> Answer {
    let (mut answer, bytes) = ask_bytes(server, line, headers, body);
    answer.body = String::from_utf8(bytes).unwrap();
    answer
}

/// A request and its answer, whose body may be anything.
fn ask_bytes(server: &Server, line: &str, headers: &[&str], body: &str) -> (Answer, Vec<u8>) {
    let bytes = raw(server, line, headers, body);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let mut lines = str::from_utf8(&bytes[..end]).unwrap().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HashMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let twice = headers.insert(name.to_ascii_lowercase(), value.to_owned());
        assert_eq!(twice, None, "{name} comes twice");
    }
    let body = &bytes[end + 4..];
    let body = match headers.get("transfer-encoding") {
        Some(_) => dechunked(body),
        None => body.to_vec(),
    };
    (Answer { status, headers, body: String::new() }, body)
}

fn dechunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        let chunk = &bytes[end + 2..];
        body.extend_from_slice(&chunk[..size]);
        bytes = chunk[size..].strip_prefix(b"\r\n").unwrap();
        if size == 0 {
            return body;
        }
    }
}

fn post(server: &Server, headers: &[&str], body: &Value) -> Answer {
    let headers = [headers, &["Content-Type: application/json"]].concat();
    ask(server, "POST /rest/s1/graphql", &headers, &body.to_string())
}

/// A target with these parameters.
fn target(parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("/rest/s1/graphql?{}", query.finish())
}

const NEWER: &str = "Accept: application/graphql-response+json";
const BY_ID: &str = "query ById($id: ID!) { order(orderId: $id) { orderName } } query Other { __typename }";

#[tokio::test(flavor = "multi_thread")]
async fn a_query_in_the_target_is_answered_like_one_in_a_body() {
    let (server, database, token) = server(&[]).await;
    let fill = "INSERT INTO order_header (order_id, order_name) VALUES ('A+1', 'Zwölf & mehr')";
    database.connect().await.batch_execute(fill).await.unwrap();
    let parameters =
        [("query", BY_ID), ("operationName", "ById"), ("variables", r#"{"id": "A+1"}"#), ("extensions", "{}")];
    let target = target(&parameters);
    for (accept, content_type) in [
        ("Accept: */*", "application/json; charset=utf-8"),
        (NEWER, "application/graphql-response+json; charset=utf-8"),
        (
            "Accept: application/graphql-response+json, application/json;q=0.9",
            "application/graphql-response+json; charset=utf-8",
        ),
        ("Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json; charset=utf-8"),
    ] {
        let answer = ask(&server, &format!("GET {target}"), &[&token, accept], "");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)), "{accept}");
        assert_eq!(answer.json()["data"], json!({"order": {"orderName": "Zwölf & mehr"}}));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("vary"), Some("Accept, Accept-Encoding"));
    }
    let log = server.stop();
    assert!(log.contains("\"operation\":\"ById\"") && !log.contains("A+1") && !log.contains("orderName"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gates_before_a_query_in_the_target_are_the_same() {
    let (server, _database, token) = server(&[]).await;
    let get = |parameters: &[(&str, &str)], headers: &[&str]| {
        ask(&server, &format!("GET {}", target(parameters)), headers, "")
    };
    let typename = ("query", "{ __typename }");
    let nobody = get(&[typename], &["Accept: text/html"]);
    assert_eq!((nobody.status, nobody.code().as_str()), (401, "UNAUTHENTICATED"));
    assert_eq!(get(&[typename], &[&token, "Accept: text/html"]).status, 406);
    for (parameters, part) in [
        (&[][..], "lacks the key"),
        (&[("Query", "{ __typename }")], "lacks the key"),
        (&[typename, typename], "\"query\" is given twice"),
        (&[typename, ("variables", ""), ("variables", "")], "\"variables\" is given twice"),
        (&[typename, ("variables", "{")], "\"variables\" is not JSON"),
        (&[typename, ("variables", "[]")], "\"variables\" must be"),
        (&[typename, ("extensions", "1")], "\"extensions\" must be"),
    ] {
        for accept in ["Accept: */*", NEWER] {
            let answer = get(parameters, &[&token, accept]);
            assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_USER_INPUT"), "{parameters:?}");
            assert!(answer.json()["errors"][0]["message"].as_str().unwrap().contains(part), "{answer:?}");
        }
    }
    let empty = [("query", BY_ID), ("operationName", "Other"), ("variables", ""), ("extensions", "")];
    assert_eq!(get(&empty, &[&token]).json()["data"]["__typename"].as_str().map(str::is_empty), Some(false));
    for (query, code) in [("{", "GRAPHQL_PARSE_FAILED"), ("mutation { __typename }", "GRAPHQL_VALIDATION_FAILED")] {
        let refused = get(&[("query", query)], &[&token, NEWER]);
        assert_eq!((refused.status, refused.code().as_str()), (400, code));
        assert_eq!(get(&[("query", query)], &[&token]).status, 200);
    }
    let long = get(&[("query", &"a".repeat(9000))], &[&token]);
    assert_eq!((long.status, long.code().as_str()), (414, "URI_TOO_LONG"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_is_a_get_without_its_body_and_other_methods_are_not_there() {
    let (server, _database, token) = server(&[]).await;
    let target = target(&[("query", "{ __typename }")]);
    let get = ask(&server, &format!("GET {target}"), &[&token], "");
    let head = ask(&server, &format!("HEAD {target}"), &[&token], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for name in ["content-type", "content-length", "vary", "cache-control"] {
        assert!(head.header(name).is_some() && head.header(name) == get.header(name), "{name}: {head:?}");
    }
    assert_eq!(ask(&server, &format!("HEAD {target}"), &[], "").status, 401);
    for method in ["PUT", "DELETE", "PATCH", "BREW"] {
        let answer = ask(&server, &format!("{method} {target}"), &[&token], "");
        let allow = Some("GET, HEAD, POST, OPTIONS");
        assert_eq!((answer.status, answer.header("allow")), (405, allow), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_are_told_nothing_unless_they_are_set() {
    let (server, _database, token) = server(&[]).await;
    let preflight = ["Origin: https://app.example", "Access-Control-Request-Method: POST"];
    for line in ["OPTIONS /rest/s1/graphql", "POST /rest/s1/graphql", "GET /health/live"] {
        let answer = ask(&server, line, &[preflight[0], preflight[1], &token], "");
        assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "{answer:?}");
        assert!(!answer.header("vary").unwrap_or_default().contains("Origin"), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_the_origins_that_are_set_may_ask_and_read() {
    let flags = ["--cors-origins", "https://app.example, http://localhost:3000", "--cors-max-age", "10m"];
    let (server, _database, token) = server(&flags).await;
    let origin = "Origin: https://app.example";
    let wants = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"];
    let preflight = ask(&server, "OPTIONS /rest/s1/graphql", &[origin, wants[0], wants[1]], "");
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
    // What is allowed to read includes why a request is refused.
    for (line, headers, status) in [
        ("POST /rest/s1/graphql", &[][..], 401),
        ("POST /rest/s1/graphql", &[token.as_str()], 415),
        ("GET /rest/s1/graphql?query=%7B__typename%7D", &[token.as_str()], 200),
        ("GET /rest/s1/graphql/sdl", &[], 200),
        ("GET /nowhere", &[], 404),
        ("POST /auth/token", &[], 401),
    ] {
        let answer = ask(&server, line, &[headers, &[origin]].concat(), "");
        assert_eq!(answer.status, status, "{line}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"), "{line}");
        assert_eq!(answer.header("access-control-expose-headers"), Some("X-Request-Id, Retry-After, ETag"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert!(answer.header("vary").unwrap().ends_with("Origin"), "{answer:?}");
        for other in ["Origin: https://app.example.evil", "Origin: http://app.example", "Origin: null", "X: y"] {
            let answer = ask(&server, line, &[headers, &[other, wants[0]]].concat(), "");
            assert_eq!(answer.status, status, "{line} {other}");
            assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "{other}: {answer:?}");
            assert!(answer.header("vary").unwrap().ends_with("Origin"), "{other}: {answer:?}");
        }
    }
    let stranger = ask(&server, "OPTIONS /rest/s1/graphql", &["Origin: https://evil.example", wants[0], wants[1]], "");
    assert!(!stranger.headers.keys().any(|name| name.starts_with("access-control")), "{stranger:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_every_page_may_ask_credentials_are_still_its_own() {
    let (server, _database, _token) = server(&["--cors-origins", "*"]).await;
    let answer = ask(&server, "GET /health/live", &["Origin: https://any.example"], "");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!((answer.header("access-control-allow-credentials"), answer.header("vary")), (None, None));
    assert_eq!(ask(&server, "GET /health/live", &[], "").header("access-control-allow-origin"), None);
}

/// Stores a hundred orders, and asks for as much of them as makes the answer whole or come in parts.
async fn names(database: &Database, times: usize) -> String {
    let fill = "INSERT INTO order_header (order_id, order_name, order_date)
                SELECT 'L' || number, repeat(md5(number::text), 3), '2026-05-01' FROM generate_series(100, 199) AS number
                ON CONFLICT DO NOTHING";
    database.connect().await.batch_execute(fill).await.unwrap();
    let names: Vec<_> = (0..times).map(|number| format!("n{number}: orderName")).collect();
    format!("{{ orders(first: 100) {{ edges {{ node {{ {} }} }} }} }}", names.join(" "))
}

fn decompressed(coding: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut reader: Box<dyn Read> = match coding {
        "gzip" => Box::new(flate2::read::GzDecoder::new(bytes)),
        "br" => Box::new(brotli::Decompressor::new(bytes, 4096)),
        "zstd" => Box::new(zstd::Decoder::new(bytes).unwrap()),
        other => panic!("{other}"),
    };
    reader.read_to_string(&mut text).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_compressed_as_the_client_likes_best_whole_or_in_parts() {
    let (server, database, token) = server(&[]).await;
    for (times, in_parts) in [(1, false), (20, true)] {
        let query = names(&database, times).await;
        let line = format!("GET {}", target(&[("query", &query)]));
        let (plain, expected) = ask_bytes(&server, &line, &[&token], "");
        assert_eq!(plain.header("content-encoding"), None);
        let data = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["data"].clone();
        for (accept, coding) in [
            ("gzip", "gzip"),
            ("gzip, deflate, br", "br"),
            ("gzip, deflate, br, zstd", "zstd"),
            ("br;q=0.5, gzip;q=0.6, identity;q=0", "gzip"),
        ] {
            let accept = format!("Accept-Encoding: {accept}");
            let (answer, bytes) = ask_bytes(&server, &line, &[&token, &accept], "");
            assert_eq!((answer.status, answer.header("content-encoding")), (200, Some(coding)), "{accept}");
            assert_eq!(answer.header("transfer-encoding").is_some(), in_parts);
            assert_eq!(answer.header("vary"), Some("Accept, Accept-Encoding"));
            assert!(bytes.len() * 2 < expected.len(), "{accept}: {} of {}", bytes.len(), expected.len());
            assert_eq!(data(decompressed(coding, &bytes).as_bytes()), data(&expected), "{accept}");
        }
        for accept in ["Accept-Encoding:", "Accept-Encoding: identity, gzip;q=0.5", "Accept-Encoding: compress"] {
            let (answer, bytes) = ask_bytes(&server, &line, &[&token, accept], "");
            assert_eq!((answer.header("content-encoding"), data(&bytes)), (None, data(&expected)), "{accept}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_answer_is_not_worth_compressing_unless_nothing_else_is_taken() {
    let (server, _database, token) = server(&[]).await;
    let line = "GET /rest/s1/graphql?query=%7B__typename%7D";
    let (small, _) = ask_bytes(&server, line, &[&token, "Accept-Encoding: gzip"], "");
    assert_eq!((small.status, small.header("content-encoding")), (200, None));
    let (small, bytes) = ask_bytes(&server, line, &[&token, "Accept-Encoding: gzip, identity;q=0"], "");
    assert_eq!(small.header("content-encoding"), Some("gzip"));
    assert!(decompressed("gzip", &bytes).contains("__typename"));
    let none = ask(&server, line, &[&token, "Accept-Encoding: identity;q=0"], "");
    assert_eq!((none.status, none.code().as_str()), (406, "NOT_ACCEPTABLE"));
    assert_eq!(ask(&server, line, &["Accept-Encoding: identity;q=0"], "").status, 401, "the token goes first");

    // Twenty refusals are large enough.
    let wrong: Vec<_> = (0..20).map(|number| format!("wrong{number}")).collect();
    let line = format!("GET {}", target(&[("query", &format!("{{ {} }}", wrong.join(" ")))]));
    let (refused, bytes) = ask_bytes(&server, &line, &[&token, NEWER, "Accept-Encoding: zstd"], "");
    assert_eq!((refused.status, refused.header("content-encoding")), (400, Some("zstd")));
    assert!(decompressed("zstd", &bytes).contains("wrong19"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_compressed_under_a_weak_tag() {
    let (server, _database, _token) = server(&[]).await;
    let line = "GET /rest/s1/graphql/sdl";
    let (plain, text) = ask_bytes(&server, line, &[], "");
    let tag = plain.header("etag").unwrap();
    for coding in ["gzip", "br", "zstd"] {
        let accept = format!("Accept-Encoding: {coding}");
        let (answer, bytes) = ask_bytes(&server, line, &[&accept], "");
        assert_eq!(answer.header("content-encoding"), Some(coding));
        assert_eq!(answer.header("etag"), Some(format!("W/{tag}").as_str()));
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
        assert_eq!(decompressed(coding, &bytes).as_bytes(), text);
        let head = ask(&server, "HEAD /rest/s1/graphql/sdl", &[&accept], "");
        assert_eq!(head.header("content-length"), Some(bytes.len().to_string().as_str()));
        for known in [tag, answer.header("etag").unwrap()] {
            let again = ask(&server, line, &[&accept, &format!("If-None-Match: {known}")], "");
            assert_eq!((again.status, again.header("content-encoding")), (304, None));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_compression_is_off_nothing_is_compressed() {
    let (server, _database, _token) = server(&["--compression", "off"]).await;
    let answer = ask(&server, "GET /rest/s1/graphql/sdl", &["Accept-Encoding: gzip"], "");
    assert_eq!((answer.header("content-encoding"), answer.header("vary")), (None, None));
}

/// What a client sends in place of a query, or beside it.
fn naming(query: &str) -> Value {
    let mut hash = String::new();
    for byte in Sha256::digest(query) {
        write!(hash, "{byte:02x}").unwrap();
    }
    json!({"persistedQuery": {"version": 1, "sha256Hash": hash}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persisted_query_is_asked_for_once_and_then_known_by_its_hash() {
    let (server, _database, token) = server(&[]).await;
    let query = "query Named { __typename }";
    for accept in ["Accept: */*", NEWER] {
        let unknown = post(&server, &[&token, accept], &json!({"extensions": naming(query)}));
        assert_eq!((unknown.status, unknown.code().as_str()), (200, "PERSISTED_QUERY_NOT_FOUND"));
        let body = unknown.json();
        assert_eq!((&body["data"], &body["errors"][0]["message"]), (&Value::Null, &json!("PersistedQueryNotFound")));
    }
    let other = json!({"query": "{ __typename }", "extensions": naming(query)});
    let mismatch = post(&server, &[&token], &other);
    assert_eq!((mismatch.status, mismatch.code().as_str()), (400, "BAD_USER_INPUT"));
    assert_eq!(mismatch.json()["errors"][0]["message"], "provided sha does not match query");

    let first = post(&server, &[&token], &json!({"query": query, "extensions": naming(query)}));
    assert_eq!((first.status, &first.json()["errors"]), (200, &Value::Null));
    let second = post(&server, &[&token], &json!({"operationName": "Named", "extensions": naming(query)}));
    assert_eq!(second.json()["data"], first.json()["data"]);
    // A browser sends the hash in the target, so that a cache could have the answer.
    let line = format!("GET {}", target(&[("extensions", &naming(query).to_string())]));
    assert_eq!(ask(&server, &line, &[&token], "").json()["data"], first.json()["data"]);
    assert_eq!(ask(&server, &line, &[], "").status, 401, "a hash opens nothing");

    // A text that is not valid is not kept.
    let wrong = "{ wrong }";
    let refused = post(&server, &[&token], &json!({"query": wrong, "extensions": naming(wrong)}));
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
    let again = post(&server, &[&token], &json!({"extensions": naming(wrong)}));
    assert_eq!(again.code(), "PERSISTED_QUERY_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_persisted_queries_are_off_clients_are_told_to_send_their_text() {
    let (server, _database, token) = server(&["--persisted-queries", "off"]).await;
    let query = "{ __typename }";
    let answer = post(&server, &[&token], &json!({"extensions": naming(query)}));
    assert_eq!((answer.status, answer.code().as_str()), (200, "PERSISTED_QUERY_NOT_SUPPORTED"));
    assert_eq!(answer.json()["errors"][0]["message"], "PersistedQueryNotSupported");
    assert_eq!(post(&server, &[&token], &json!({"query": query})).json()["errors"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_told_so_like_everything_else() {
    let (server, _database, _token) = server(&[]).await;
    let honest = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    let no_body = "OPTIONS /auth/token HTTP/1.1\r\nHost: a\r\n\r\n";
    let large = format!("GET /health/live HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET /health/live HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(200));
    let mut ids = Vec::new();
    for (broken, status, code) in [
        ("GET /health/live\r\n\r\n", 400, "BAD_REQUEST"),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "BAD_REQUEST"),
        ("GET /\u{0} HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST"),
        ("POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "BAD_REQUEST"),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}", 400, "BAD_REQUEST"),
        (large.as_str(), 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
        (many.as_str(), 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
    ] {
        for before in ["", honest, no_body] {
            let answers = server.exchange(format!("{before}{before}{broken}"));
            assert_eq!(answers.len(), if before.is_empty() { 1 } else { 3 }, "{broken:.50}: {answers:?}");
            let answer = answers.last().unwrap();
            assert_eq!((answer.status, answer.code().as_str()), (status, code), "{broken:.50}");
            assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
            assert_eq!(answer.header("connection"), Some("close"));
            assert!(answer.header("date").is_some());
            ids.push(answer.header("x-request-id").unwrap().to_owned());
        }
    }
    let log = server.stop();
    for id in ids {
        let line = log.lines().find(|line| line.contains(&id)).unwrap();
        assert!(line.contains("\"route\":\"none\"") && line.contains("\"error_code\":\""), "{line}");
    }
}
