//! Malicious requests to every endpoint: each gets an error or a result, the server keeps working, and no row changes.

#![allow(clippy::format_collect, reason = "a test may take its time")]

use std::collections::BTreeMap;
use std::io::Write;
use std::thread;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::{Database, loaded_database, table_digests};
use crate::support::http::{GRAPHQL_JSON, JSON, Response, graphql_head, read_responses, read_to_end};
use crate::support::server::{Server, server_with_users};
use crate::support::users::create_users;

/// A server on the demo orders, and digests of its tables before the first request.
struct Service {
    server: Server,
    database: Database,
    token: String,
    before: BTreeMap<String, String>,
}

/// SQL that would have an effect if it were executed, alone or after any quote.
const SQL: [&str; 8] = [
    "'; DROP TABLE order_item; --",
    "'; UPDATE order_header SET status_id = 'ORDER_HELD'; --",
    "\"; DELETE FROM order_header; --",
    "') OR 1=1; COMMIT; DELETE FROM order_header; --",
    "$1; SELECT pg_sleep(600)",
    "1; SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
    "\\'; DROP SCHEMA orderql CASCADE; --",
    "$$; DROP TABLE order_header; $$",
];

/// Texts that break some programs.
const ODD: [&str; 16] = [
    "",
    " ",
    "\u{0}",
    "a\u{0}b",
    "\u{1}\u{7f}\u{80}",
    "\u{feff}",
    "\u{202e}\u{2066}",
    "\u{fffd}\u{ffff}\u{10ffff}",
    "\u{d7ff}\u{e000}",
    "👩‍👩‍👧‍👦 ﷽ ﾊﾝ",
    "\r\nSet-Cookie: a=b",
    "%s%n%p{0}{}${jndi:ldap://localhost/a}",
    "../../../../etc/passwd",
    "<script>alert(1)</script>",
    "NaN",
    "-0.00000000000000000000000000000000000000001e-99999",
];

impl Service {
    /// Starts the server, with a profile whose limits no test reaches but those of costs and pages.
    async fn start() -> Self {
        let database = loaded_database().await;
        let profile = Profile { bucket_size: Some(1_000_000_000), deadline_ms: Some(3_600_000), ..Profile::DEFAULT };
        let mut client = database.connect().await;
        create_users(&mut client, &[("demo", profile)]).await;
        let before = table_digests(&client, &[]).await;
        // The tests send so many wrong passwords that the address would be locked.
        let server = Server::start(&database, &["--login-attempts", "1000000"]);
        let token = server.token("demo");
        Self { server, database, token, before }
    }

    /// Sends a body for either media type, and returns the response for `application/json`.
    fn post(&self, body: impl AsRef<[u8]>) -> Response {
        let shown: String = String::from_utf8_lossy(body.as_ref()).chars().take(500).collect();
        let newer = self.server.post(&self.token, GRAPHQL_JSON, body.as_ref());
        check(&newer, &shown);
        let older = self.server.post(&self.token, JSON, body.as_ref());
        check(&older, &shown);
        older
    }

    fn query(&self, query: &str, variables: &Value) -> Response {
        self.post(json!({ "query": query, "variables": variables }).to_string())
    }

    /// Stops the server, after checking that it still works, has logged no error, and has changed no row.
    async fn end(self) {
        let alive = self.server.query(&self.token, "{ order(orderId: \"ORDER_SPLIT\") { orderId } }");
        assert_eq!(alive.json()["data"], json!({"order": {"orderId": "ORDER_SPLIT"}}));
        let log = self.server.stop();
        for line in log.lines() {
            assert!(
                !line.contains("panicked") && !line.contains("\"ERROR\"") && !line.contains("internal error"),
                "{line}"
            );
            let event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not a log event: {line}"));
            assert!(event["status"].as_u64().is_none_or(|status| status < 500), "{line}");
        }
        assert_eq!(table_digests(&self.database.connect().await, &[]).await, self.before);
    }
}

/// Panics unless the response has data, or errors of the client with a code and a message.
fn check(response: &Response, sent: &str) {
    assert!((200..500).contains(&response.status), "{sent}: {response:?}");
    let body = response.json();
    if let Some(errors) = body["errors"].as_array() {
        assert!((1..=20).contains(&errors.len()), "{sent}: {response:?}");
        for entry in errors {
            let code = entry["extensions"]["code"].as_str().unwrap();
            assert!(
                !matches!(code, "INTERNAL_SERVER_ERROR" | "SERVICE_UNAVAILABLE" | "DEADLINE_EXCEEDED"),
                "{sent}: {body}"
            );
            let message = entry["message"].as_str().unwrap();
            assert!(!message.is_empty() && message.len() < 2000, "{sent}: {message}");
            for internal in ["SELECT t.", "relation \"", "db error", ".rs:", "tokio"] {
                assert!(!message.contains(internal), "{sent}: {message}");
            }
        }
    } else {
        assert!(response.status == 200 && body["data"].is_object(), "{sent}: {response:?}");
    }
    // An error response is short, whatever the request was.
    assert!(response.status == 200 || response.body.len() < 100_000, "{sent}: {} bytes", response.body.len());
}

/// A GraphQL string literal of the text.
fn quoted(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_bodies_that_are_no_requests() {
    let service = Service::start().await;
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let bodies = [
        b"".to_vec(),
        b"garbage".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"\xff\xfe{\0}\0".to_vec(),
        b"{\"query\": \"\xc3\x28\"}".to_vec(),
        b"{\"query\": \"\xed\xa0\x80\"}".to_vec(),
        b"{\"query\": \"{__typename}\", \"\xff\": 1}".to_vec(),
        br#"{"query": "\ud800"}"#.to_vec(),
        br#"{"query": "{__typename}", "variables": {"a": "\udc00\ud800"}}"#.to_vec(),
        br#"{"query": "{__typename}"} {"query": "{__typename}"}"#.to_vec(),
        br#"{"query": "{__typename}", "query": 7}"#.to_vec(),
        br#"{"query": 1e999999}"#.to_vec(),
        b"[{\"query\": \"{__typename}\"}]".to_vec(),
        vec![0; 1000],
        (0..=255).collect(),
        nested("[", "]", 100_000).into_bytes(),
        nested("{\"a\":", "}", 100_000).into_bytes(),
        format!("{{\"query\": \"{{__typename}}\", \"variables\": {{\"a\": {}}}}}", nested("[", "]", 100_000))
            .into_bytes(),
        format!("{{\"query\": \"{{__typename}}\", \"x\": {}}}", "9".repeat(500_000)).into_bytes(),
        vec![b'x'; 10_000_000],
        format!("{{\"query\": \"{}\"}}", "x".repeat(10_000_000)).into_bytes(),
    ];
    for body in bodies {
        assert!((400..500).contains(&service.post(&body).status), "{:?}", &body[..body.len().min(100)]);
    }
    // Every member with values of every JSON type.
    let values = json!([null, true, 0, -1, 1.5, 1e300, "x", "", [], ["x"], {}, {"a": 1}]);
    for value in values.as_array().unwrap() {
        for name in ["query", "variables", "operationName", "extensions", "unknown", "", "\0"] {
            let mut body = json!({"query": "{ __typename }"});
            body[name] = value.clone();
            service.post(body.to_string());
        }
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_huge_and_deeply_nested_documents() {
    let service = Service::start().await;
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let repeated = |part: &str, times: usize| part.repeat(times);
    let numbered = |times: usize, part: &dyn Fn(usize) -> String| (0..times).map(part).collect::<String>();
    let documents = [
        nested("{a", "", "}", 100_000),
        nested("{ order(orderId: \"A\") { orderItems(first: 1) { edges { node ", "{orderId}", "}}}}", 1000),
        nested("{... on Query", "{__typename}", "}", 40),
        nested("{... on Query", "{__typename}", "}", 10_000),
        format!("{{ order(orderId: {}) {{ orderId }} }}", nested("[", "1", "]", 50_000)),
        format!("{{ order(orderId: {}) {{ orderId }} }}", nested("{a:", "1", "}", 20)),
        format!("query ($a: {}) {{ __typename }}", nested("[", "ID", "]", 50_000)),
        format!("query ($a: {}) {{ order(orderId: $a) {{ orderId }} }}", nested("[", "ID", "]", 20)),
        format!("{{ {} }}", repeated("__typename ", 9_990)),
        format!("{{ {} }}", repeated("__typename ", 80_000)),
        format!("{{ {} }}", numbered(3_000, &|n| format!("a{n}: __typename "))),
        format!("{{ {} }}", numbered(1_000, &|n| format!("a{n}: order(orderId: \"A\") {{ orderId }} "))),
        format!("{{ {}: __typename }}", repeated("a", 900_000)),
        format!("{{ __typename {} }}", repeated("@include(if: true) ", 1_400)),
        format!("{{ __typename {} }}", repeated("@unknown ", 4_000)),
        format!("query {}{{ __typename }}", repeated("@a ", 4_000)),
        format!("query ({}) {{ __typename }}", numbered(2_000, &|n| format!("$v{n}: Int "))),
        format!("query Long{} {{ __typename }}", repeated("g", 900_000)),
        format!("{{ ...F }} {}", numbered(1_400, &|_| "fragment F on Query { ...F } ".to_owned())),
        format!(
            "{{ ...F0 }} {}",
            numbered(900, &|n| format!("fragment F{n} on Query {{ ...F{} ...F{} }} ", n + 1, n + 1))
        ),
        format!(
            "{{ ...F0 }} {} fragment F900 on Query {{ __typename }}",
            numbered(900, &|n| format!("fragment F{n} on Query {{ ...F{} ...F{} }} ", n + 1, n + 1))
        ),
        format!("{{ {} }}", numbered(600, &|n| format!("order(orderId: \"{n}\") {{ orderId }} "))),
        format!(
            "{{ order(orderId: \"A\") {{ {} }} }}",
            repeated("orders: orderItems(first: 1) { edges { cursor } } ", 600)
        ),
        format!("{{ order({}) {{ orderId }} }}", numbered(2_000, &|n| format!("a{n}: 1 "))),
        format!("# {}", repeated("x", 1_000_000 - 100)),
        repeated(",", 1_000_000),
        repeated("\u{feff}", 300_000),
        repeated("\"\"\"", 300_000),
        repeated("{", 9_999),
        repeated("...", 3_000),
        "{ order(orderId: 99999999999999999999999999999999999999) { orderId } }".to_owned(),
        format!("{{ order(orderId: {}) {{ orderId }} }}", repeated("9", 900_000)),
        format!("{{ orders(first: {}) {{ edges {{ cursor }} }} }}", repeated("9", 900_000)),
        "{ orders(first: -9223372036854775808) { edges { cursor } } }".to_owned(),
        "{ orders(first: 9223372036854775808) { edges { cursor } } }".to_owned(),
        "{ orders(first: 1e400) { edges { cursor } } }".to_owned(),
        "{ orders(first: 1.0) { edges { cursor } } }".to_owned(),
        "query ($a: Int = 99999999999) { orders(first: $a) { edges { cursor } } }".to_owned(),
        "subscription { orders(first: 1) { edges { cursor } } }".to_owned(),
        "type A { a: Int } schema { query: A }".to_owned(),
        "{ a\0b }".to_owned(),
        "{ __type(name: \"\\u{0}\") { name } }".to_owned(),
        "{ order(orderId: \"\\uD800\") { orderId } }".to_owned(),
        "{ order(orderId: \"\\u{110000}\") { orderId } }".to_owned(),
    ];
    for document in &documents {
        service.query(document, &json!({}));
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_malicious_texts_in_every_argument_and_variable() {
    let service = Service::start().await;
    let long = "x".repeat(200_000);
    let texts: Vec<&str> = SQL.into_iter().chain(ODD).chain([long.as_str()]).collect();
    for text in texts {
        let literal = quoted(text);
        for field in [
            format!("order(orderId: {literal}) {{ orderId }}"),
            format!("order(externalId: {literal}) {{ orderId }}"),
            format!("facility(facilityId: {literal}) {{ facilityId }}"),
            format!("facility(externalId: {literal}) {{ facilityId }}"),
            format!("product(productId: {literal}) {{ productId }}"),
            format!("orders(first: 1, query: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(first: 1, after: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(last: 1, before: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(first: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(first: 1, sortKey: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(first: 1, reverse: {literal}) {{ edges {{ cursor }} }}"),
            format!("orders(first: 1) @include(if: {literal}) {{ edges {{ cursor }} }}"),
        ] {
            let response = service.query(&format!("{{ {field} }}"), &json!({}));
            // A lookup of a text that no row has returns null.
            assert!(
                response.json()["data"].as_object().is_none_or(|data| data.values().all(|value| !value.is_string())),
                "{field}: {response:?}"
            );
        }
        for key in [
            "orderId:#",
            "orderId:a,#,b",
            "externalId:'#'",
            "orderName:\"#\"",
            "statusId:#",
            "orderDate:>#",
            "orderDate:<=#",
            "productStoreId:#",
            "#:a",
            "#",
            "statusId:# statusId:#",
        ] {
            let variables = json!({"search": key.replace('#', text)});
            service.query(
                "query ($search: String) { orders(first: 2, query: $search) { edges { node { orderId } } } }",
                &variables,
            );
        }
        service.query(
            "query ($search: String) { inventoryLevels(first: 2, query: $search) { edges { cursor } } }",
            &json!({"search": format!("productId:{text}")}),
        );
        let every = "query Every($id: ID, $text: String, $size: Int, $truth: Boolean, $key: OrderSortKey) {
            order(orderId: $id) { orderId }
            orders(first: $size, after: $text, query: $text, reverse: $truth, sortKey: $key) { edges { cursor } } }";
        for name in ["id", "text", "size", "truth", "key", text] {
            let mut variables = json!({"id": "A", "size": 1});
            variables[name] = json!(text);
            service.query(every, &variables);
        }
        service.post(json!({"query": "{ __typename }", "operationName": text}).to_string());
        service.post(json!({"query": text}).to_string());
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_huge_search_strings_and_variables() {
    let service = Service::start().await;
    let query = "query ($s: String) { orders(first: 2, query: $s) { edges { node { orderId } } } }";
    let times = |part: &str, times: usize| part.repeat(times);
    for search in [
        times("orderId:A ", 50),
        times("orderId:A ", 51),
        times("orderId:A ", 100_000),
        times("statusId:A ", 30),
        times(" ", 900_000),
        times(":", 900_000),
        times("x", 900_000),
        format!("orderId:{}a", times("a,", 999)),
        format!("orderId:{}a", times("a,", 400_000)),
        format!("orderId:{}", times("'", 800_000)),
        format!("orderId:'{}", times("a',", 200_000)),
        format!("orderDate:>{}", times("9", 100_000)),
        "orderDate:>9999-12-31T23:59:59.999999Z orderDate:<0000-01-01".to_owned(),
        "orderDate:>+999999-12-31".to_owned(),
        "orderDate:>2026-02-30".to_owned(),
        "orderDate:>2026-05-01T24:00:00Z".to_owned(),
        "orderDate:>2026-05-01T00:00:00+99:99".to_owned(),
        "orderDate:>infinity".to_owned(),
    ] {
        service.query(query, &json!({ "s": search }));
    }
    let sized = "query ($n: Int, $id: ID) { orders(first: $n) { edges { cursor } } order(orderId: $id) { orderId } }";
    for number in
        ["0", "-1", "1.0", "1.5", "1e2", "1e400", "-0", "2147483648", "9223372036854775808", "1e-400", "[1]", "{}"]
    {
        for name in ["n", "id"] {
            let other = if name == "n" { "\"id\": \"A\"" } else { "\"n\": 1" };
            let body = format!("{{\"query\": {}, \"variables\": {{\"{name}\": {number}, {other}}}}}", json!(sized));
            service.post(body);
        }
    }
    let many: serde_json::Map<_, _> = (0..50_000).map(|n| (format!("v{n}"), json!(n))).collect();
    service.query("{ __typename }", &many.into());
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_a_variable_in_hundreds_of_arguments() {
    let service = Service::start().await;
    let roots = |field: &str| (0..480).map(|number| format!("a{number}: {field} ")).collect::<String>();
    let searches =
        format!("query ($text: String) {{ {} }}", roots("orders(first: 1, query: $text) { edges { cursor } }"));
    let lookups = format!("query ($text: ID) {{ {} }}", roots("order(orderId: $text) { orderId }"));
    let cursors =
        format!("query ($text: String) {{ {} }}", roots("orders(first: 1, after: $text) { edges { cursor } }"));
    for text in [
        format!("orderId:{}", "x".repeat(900_000)),
        format!("{}:x", "x".repeat(900_000)),
        format!("{}:x", "x".repeat(60_000)),
        format!("orderId:{}x", format!("{},", "x".repeat(900)).repeat(999)),
        format!("orderId:{}x", format!("{},", "x".repeat(60)).repeat(999)),
        "x:y ".repeat(200_000),
    ] {
        for query in [&searches, &lookups, &cursors] {
            let body = json!({"query": query, "variables": {"text": text}}).to_string();
            let response = service.server.post(&service.token, JSON, body);
            check(&response, &format!("{text:.100} in {query:.200}"));
            assert!(response.body.len() < 100_000, "{} bytes: {:.1000}", response.body.len(), response.body);
        }
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_forged_cursors() {
    let service = Service::start().await;
    for sort_key in ["ORDER_DATE", "ORDER_ID", "ORDER_NAME", "GRAND_TOTAL"] {
        for nested in ["", "orderItems(first: 1, after: $c) { edges { cursor } }"] {
            let query = format!(
                "query ($c: String) {{ orders(first: 1, sortKey: {sort_key}, after: $c) {{ edges {{ cursor node {{ orderId {nested} }} }} }} }}"
            );
            let bytes: Vec<Vec<u8>> = vec![
                Vec::new(),
                vec![0],
                vec![1],
                vec![255; 64],
                vec![1, 0, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 0],
                (0..=255).collect(),
                vec![b'A'; 5000],
            ];
            for bytes in bytes {
                let url = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(&bytes);
                for cursor in [url, BASE64_STANDARD.encode(&bytes), String::from_utf8_lossy(&bytes).into_owned()] {
                    let response = service.query(&query, &json!({ "c": cursor }));
                    assert_eq!(response.code(), "BAD_USER_INPUT", "{bytes:?}");
                }
            }
        }
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_malicious_credentials() {
    let service = Service::start().await;
    let path = "/auth/token";
    let long = "x".repeat(10_000);
    for text in SQL.into_iter().chain(ODD).chain([long.as_str(), "demo", "demo:demo", "demo:"]) {
        for (user, password) in [(text, text), (text, "demo"), ("demo", text)] {
            let response = service.server.sign_in(path, user, password);
            let right = user == "demo" && password == "demo";
            assert_eq!(response.status, if right { 200 } else { 401 }, "{user:?} {password:?}");
            assert!(right || response.code() == "UNAUTHENTICATED");
        }
    }
    let wrong = BASE64_STANDARD.encode(b"demo\xff:\xc3\x28\0");
    for header in [
        "Basic",
        "Basic ",
        "Basic =",
        "Basic !!!",
        &format!("Basic {wrong}"),
        "basic ZGVtbzpkZW1v=",
        "Digest a",
        "Bearer a",
        &format!("Basic {}", "A".repeat(20_000)),
        &format!("{} ZGVtbzpkZW1v", "B".repeat(20_000)),
    ] {
        let response = service.server.request(&format!("POST {path}"), &[&format!("Authorization: {header}")], "");
        assert_eq!(
            (response.status, response.code().as_str()),
            (401, "UNAUTHENTICATED"),
            "{}",
            &header[..header.len().min(99)]
        );
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_forged_tokens() {
    let service = Service::start().await;
    let mut parts: Vec<&str> = service.token.split('.').collect();
    let signature = parts.pop().unwrap();
    let encode = |json: Value| base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(json.to_string());
    let claims = encode(json!({"iss": "orderql", "sub": "demo", "iat": 0, "exp": 9_999_999_999_u64, "jti": "a"}));
    for token in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "a".repeat(30_000),
        ".".repeat(30_000),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.{}", parts[0], claims, signature),
        format!("{}.{claims}.", encode(json!({"alg": "none", "typ": "JWT"}))),
        format!("{}.{claims}.{signature}", encode(json!({"alg": "HS256", "typ": "JWT"}))),
        format!("{}.{}.{}", parts[1], parts[0], signature),
        format!("{}x", service.token),
        service.token[1..].to_owned(),
        service.token.to_ascii_lowercase(),
        "'; DROP TABLE order_item; --".to_owned(),
    ] {
        let response = service.server.post(&token, JSON, "{\"query\": \"{ __typename }\"}");
        assert_eq!(
            (response.status, response.code().as_str()),
            (401, "UNAUTHENTICATED"),
            "{}",
            &token[..token.len().min(99)]
        );
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_arbitrary_bytes_on_every_endpoint() {
    let service = Service::start().await;
    let all: Vec<u8> = (0..=255).collect();
    for path in [
        "/auth/token",
        "/api/auth/token",
        "/rest/s1/graphql",
        "/rest/s1/graphql/sdl",
        "/health/live",
        "/health/ready",
        "/x",
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "X"] {
            for (head, body) in [
                ("", &b""[..]),
                ("Content-Type: \u{ff}\u{fe}\r\n", b"x"),
                ("Content-Type: application/json; charset=\"\r\nAccept: ;;;,,,q=\r\n", b"{"),
                ("Accept: */*;q=99999999999999999999\r\nContent-Encoding: gzip\r\n", &all),
                ("Authorization: \u{80}\r\nIf-None-Match: \"\u{80}\r\n", &all),
                ("Range: bytes=0-\r\nUpgrade: h2c\r\nHTTP2-Settings: \u{1}\r\nExpect: x\r\n", &all),
            ] {
                let mut request = format!("{method} {path}?a=%00%ff&'--=1 HTTP/1.1\r\nHost: a\r\n{head}").into_bytes();
                request.extend_from_slice(
                    format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()).as_bytes(),
                );
                request.extend_from_slice(body);
                let text = read_to_end(sent(&service.server, &request));
                let status: u16 =
                    text.split(' ').nth(1).unwrap_or_else(|| panic!("{method} {path} {head}: {text}")).parse().unwrap();
                assert!((200..500).contains(&status), "{method} {path} {head}: {text}");
            }
        }
    }
    // Invalid targets, and bytes that are not HTTP.
    for start in [
        "GET \0 HTTP/1.1",
        "GET /\u{ff} HTTP/1.1",
        "GET http://[::1 HTTP/1.1",
        "GET /%00 HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
        "GET  /  HTTP/1.1",
        "GET / HTTP/9.9",
        "GET / FTP/1.1",
        "\u{16}\u{3}\u{1}",
    ] {
        let request = format!("{start}\r\nHost: a\r\nConnection: close\r\n\r\n");
        for response in read_responses(sent(&service.server, request.as_bytes())) {
            assert!((400..500).contains(&response.status), "{start}: {response:?}");
        }
    }
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_bodies_of_ten_megabytes_on_every_endpoint() {
    let service = Service::start().await;
    let body = vec![b'['; 10_000_000];
    for path in ["/auth/token", "/rest/s1/graphql", "/rest/s1/graphql/sdl", "/health/live", "/x"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        let responses = read_responses(sent(&service.server, &[head.as_bytes(), &body].concat()));
        assert_eq!((responses[0].status, responses.len()), (413, 1), "{path}");
    }
    // In chunks, where the length is unknown.
    let head = format!("{}Transfer-Encoding: chunked\r\n\r\n", graphql_head(&service.token, JSON));
    let chunks = format!("{:x}\r\n", body.len()).into_bytes();
    let responses =
        read_responses(sent(&service.server, &[head.as_bytes(), &chunks, &body, b"\r\n0\r\n\r\n"].concat()));
    assert_eq!((responses[0].status, responses[0].code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    service.end().await;
}

/// A connection on which the bytes were sent, as far as the server reads them.
fn sent(server: &Server, request: &[u8]) -> std::net::TcpStream {
    let mut stream = server.connect();
    let _ = stream.write_all(request);
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn large_queries_that_are_not_valid_are_refused_when_a_caller_sends_many() {
    let users = [("demo", Profile::DEFAULT), ("other", Profile::DEFAULT)];
    let (server, _database) = server_with_users(&users, &[]).await;
    let (token, other) = (server.token("demo"), server.token("other"));
    let fields: String = (0..9_000).map(|number| format!(" wrong{number}")).collect();
    let query = format!("{{ orders(first: 1) {{ edges {{ node {{ {fields} }} }} }} }}");
    let responses: Vec<_> = thread::scope(|scope| {
        let send = || server.query_as(GRAPHQL_JSON, &token, &query);
        let senders: Vec<_> = (0..64).map(|_| scope.spawn(send)).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    let (checked, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 400);
    assert!(checked.iter().all(|response| response.code() == "GRAPHQL_VALIDATION_FAILED") && !checked.is_empty());
    assert!(refused.iter().all(|response| (response.status, response.code().as_str()) == (429, "THROTTLED")));
    assert!(refused.iter().all(|response| response.header("retry-after").is_some()) && !refused.is_empty());
    // Small ones are checked at once, and others have a pace of their own.
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, "{ wrong }").status, 400);
    assert_eq!(server.query_as(GRAPHQL_JSON, &other, &query).status, 400);
}
