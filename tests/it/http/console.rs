//! The console as the server sends it, and the reports that it asks for.

use std::thread;

use serde_json::{Value, json};

use crate::http::compression::decompress;
use crate::support::http::{GRAPHQL_JSON, JSON, Response, bearer};
use crate::support::server::{Server, server_with_demo_user, server_with_users};
use crate::support::users::UNLIMITED_PROFILE;
use orderql::access::profile::Profile;

const PAGE: &str = "GET /rest/s1/graphql";
/// What a browser accepts when somebody opens an address.
const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The paths of the files that the page loads.
fn files(page: &str) -> Vec<String> {
    let names = page.split("\"graphql/console/").skip(1).map(|rest| rest.split('"').next().unwrap());
    names.map(|name| format!("/rest/s1/graphql/console/{name}")).collect()
}

fn assert_is_locked_down(response: &Response) {
    let policy = response.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe-eval") && !policy.contains("http"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_get_the_console_and_clients_the_data() {
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &["--console", "on"]).await;
    let page = server.request(PAGE, &[BROWSER], "");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    assert_eq!(page.header("vary"), Some("Accept"));
    assert_is_locked_down(&page);
    // A link to a query opens the console with it.
    let linked = server.request("GET /rest/s1/graphql?query=%7B__typename%7D", &[BROWSER], "");
    assert_eq!((linked.status, &linked.body), (200, &page.body));
    let slash = server.request("GET /rest/s1/graphql/", &[BROWSER], "");
    assert_eq!((slash.status, slash.header("location")), (302, Some("../graphql")));
    let tag = page.header("etag").unwrap();
    let unchanged = server.request(PAGE, &[BROWSER, &format!("If-None-Match: {tag}")], "");
    assert_eq!((unchanged.status, unchanged.body.as_str()), (304, ""));
    assert_is_locked_down(&unchanged);
    let head = server.request("HEAD /rest/s1/graphql", &[BROWSER], "");
    assert_eq!((head.status, head.header("content-length")), (200, Some(page.body.len().to_string().as_str())));

    // Whoever names JSON gets JSON, with and without a token.
    let line = "GET /rest/s1/graphql?query=%7B__typename%7D";
    for accept in [JSON, "*/*", "application/json, text/html", "text/html;q=0.5, application/json"] {
        let accept = format!("Accept: {accept}");
        assert_eq!(server.request(line, &[&accept], "").status, 401, "{accept}");
        let data = server.request(line, &[&accept, &bearer(&token)], "");
        assert_eq!(data.json()["data"], json!({"__typename": "Query"}), "{accept}");
    }
    // A query that is sent as a POST is never answered with a page.
    let posted =
        server.request("POST /rest/s1/graphql", &[BROWSER, &bearer(&token), "Content-Type: application/json"], "{}");
    assert_eq!(posted.code(), "BAD_USER_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_console_are_cached_for_ever_and_sent_in_every_coding() {
    // The setting saves the server work, and these files are compressed already.
    let (server, _database, _token) =
        server_with_demo_user(Profile::DEFAULT, &["--console", "on", "--compression", "off"]).await;
    let page = server.request(PAGE, &[BROWSER], "").body;
    let files = files(&page);
    assert_eq!(files.len(), 3, "{page}");
    let media = ["text/plain; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"];
    for (path, media) in files.iter().zip(media) {
        let line = format!("GET {path}");
        let (plain, text) = server.request_bytes(&line, &[], "");
        assert_eq!((plain.status, plain.header("content-type")), (200, Some(media)));
        assert_eq!(plain.header("content-encoding"), None);
        assert_is_locked_down(&plain);
        for (accept, coding) in
            [("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip"), ("br;q=0.1, *;q=0", "br")]
        {
            let (response, bytes) = server.request_bytes(&line, &[&format!("Accept-Encoding: {accept}")], "");
            assert_eq!(response.header("content-encoding"), Some(coding), "{accept}");
            assert_eq!(response.header("vary"), Some("Accept-Encoding"));
            assert_eq!(response.header("cache-control"), Some("public, max-age=31536000, immutable"));
            assert!(bytes.len() < text.len(), "{path}");
            assert_eq!(decompress(coding, &bytes).as_bytes(), text);
            let tag = format!("If-None-Match: {}", response.header("etag").unwrap());
            let again = server.request(&line, &[&tag, &format!("Accept-Encoding: {accept}")], "");
            assert_eq!((again.status, again.body.as_str()), (304, ""));
        }
    }
    for unknown in ["/rest/s1/graphql/console/", "/rest/s1/graphql/console/app.js", "/rest/s1/graphql/console/../sdl"] {
        assert_eq!(server.get(unknown).status, 404, "{unknown}");
    }
    assert_eq!(server.request(&format!("POST {}", files[0]), &[], "").status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_setting_says_which_listener_has_the_console() {
    let operators = ["--admin-listen", "127.0.0.1:0"];
    for (mode, is_public, is_admin) in
        [(&[][..], false, true), (&["--console", "on"], true, false), (&["--console", "off"], false, false)]
    {
        let flags = [&operators[..], mode].concat();
        let (server, _database) = server_with_users(&[("demo", Profile::DEFAULT)], &flags).await;
        let page = server.request(PAGE, &[BROWSER], "");
        assert_eq!(page.body.starts_with("<!doctype html>"), is_public, "{mode:?}");
        // The root leads to it, where it is.
        for (root, is_there) in [(server.get("/"), is_public), (server.get_as_operator("/"), is_admin)] {
            let location = is_there.then_some("rest/s1/graphql");
            assert_eq!(
                (root.status, root.header("location")),
                (if is_there { 302 } else { 404 }, location),
                "{mode:?}"
            );
        }
        assert_eq!(page.status == 401, !is_public, "{mode:?}: {page:?}");
        let page = server.as_operator(PAGE, &[BROWSER], "");
        assert_eq!(page.body.starts_with("<!doctype html>"), is_admin, "{mode:?}");
        if !is_admin {
            assert_eq!(page.status, 404, "{mode:?}");
            continue;
        }
        // What the console calls is where it came from, and nothing else of what callers use.
        assert_eq!(server.as_operator(&format!("GET {}", files(&page.body)[2]), &[], "").status, 200);
        assert_eq!(server.as_operator("GET /rest/s1/graphql/sdl", &[], "").status, 200);
        let credentials = "Authorization: Basic ZGVtbzpkZW1v";
        let token = server.as_operator("POST /rest/s1/auth/token", &[credentials], "").json();
        let token = bearer(token["access_token"].as_str().unwrap());
        let body = json!({"query": "{ __typename }"}).to_string();
        let data = server.as_operator("POST /rest/s1/graphql", &[&token, "Content-Type: application/json"], &body);
        assert_eq!(data.json()["data"], json!({"__typename": "Query"}));
        for path in ["/api/updateOrder", "/.well-known/jwks.json"] {
            assert_eq!(server.get_as_operator(path).status, 404, "{path}");
        }
    }
}

const INTROSPECTION: &str = "query IntrospectionQuery {
  __schema { description queryType { name } mutationType { name } subscriptionType { name }
    types { ...FullType } directives { name description locations args { ...InputValue } } } }
fragment FullType on __Type { kind name description
  fields(includeDeprecated: true) { name description args { ...InputValue } type { ...TypeRef } }
  inputFields { ...InputValue } interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description } possibleTypes { ...TypeRef } }
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

/// Sends a query with a header.
fn send(server: &Server, token: &str, header: &str, query: &str) -> Response {
    let body = json!({ "query": query }).to_string();
    server.request("POST /rest/s1/graphql", &[&bearer(token), "Content-Type: application/json", header], body)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_console_asks_by_itself_costs_its_user_nothing() {
    let flags = ["--restore-rate", "0", "--console", "on"];
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &flags).await;
    database.connect().await.execute("INSERT INTO orderql.artifact_grant VALUES ('API', 'PLAN')", &[]).await.unwrap();
    let query = "{ orders(first: 10, query: \"statusId:ORDER_HELD\") { edges { node { orderId orderItemCount } } } }";
    for path in ["/rest/s1/graphql/sdl", "/rest/s1/graphql/schema.graphql"] {
        assert_eq!(server.get(path).status, 200);
    }
    // GraphiQL's own introspection, its shorter form, and prices of good and bad queries while they are written.
    for query in [INTROSPECTION, "query IntrospectionQuery { __schema { types { name } } }"] {
        assert!(server.query(&token, query).json()["data"]["__schema"].is_object());
    }
    for end in 0..=query.len() {
        let priced = send(&server, &token, "GraphQL-Cost: validate", &query[..end]);
        assert_eq!(priced.status, 200, "{}", &query[..end]);
    }
    crate::support::server::wait_until(|| send(&server, &token, "GraphQL-Cost: plan", query).status == 200);
    let cost = &server.query(&token, query).json()["extensions"]["cost"];
    assert_eq!(cost["requestedQueryCost"], 120);
    assert_eq!(cost["throttleStatus"]["currentlyAvailable"], 880);
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_shown_to_those_who_have_the_grant() {
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &["--restore-rate", "0"]).await;
    let query = "{ orders(first: 2, query: \"statusId:ORDER_HELD\") { edges { node { orderId shipGroups(first: 3) { edges { node { \
                 facilityId } } } } } } }";
    let refused = send(&server, &token, "GraphQL-Cost: plan", query);
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    assert!(!refused.body.contains("SELECT"), "{}", refused.body);
    let refused = send(&server, &token, "X-GraphQL-Include-Plan: true", query);
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    let priced = send(&server, &token, "GraphQL-Cost: validate", query).json();
    assert_eq!(priced["extensions"]["plan"], Value::Null);

    let client = database.connect().await;
    client.execute("INSERT INTO orderql.artifact_grant VALUES ('API', 'PLAN')", &[]).await.unwrap();
    crate::support::server::wait_until(|| send(&server, &token, "GraphQL-Cost: plan", query).status == 200);
    let report = send(&server, &token, "GraphQL-Cost: plan", query).json();
    assert_eq!(report["data"], Value::Null);
    assert_eq!(report["extensions"]["cost"], priced["extensions"]["cost"]);
    let plan = &report["extensions"]["plan"];
    let branches = plan["branches"].as_array().unwrap();
    assert_eq!(branches.len(), 2);
    assert_eq!([&branches[0]["field"], &branches[1]["field"]], ["orders", "orders.shipGroups"]);
    assert_eq!([&branches[0]["parent"], &branches[1]["parent"]], [&Value::Null, &json!(0)]);
    assert!(branches[0]["rowsExamined"].is_u64() && branches[0]["access"]["index"].is_array());
    assert_eq!(branches[0]["expectedPages"], json!({"fewest": 1, "oneRowOf": null, "checked": []}));
    assert_eq!(branches[1].get("expectedPages"), None);
    assert!(plan["statement"]["sql"].as_str().unwrap().contains("\"order_header\""));
    assert_eq!(plan["statement"]["parameters"][0], json!(["ORDER_HELD"]));
    // Beside the data is what became of it.
    let executed = send(&server, &token, "X-GraphQL-Include-Plan: true", query).json();
    assert!(executed["data"]["orders"].is_object());
    let plan = &executed["extensions"]["plan"];
    assert_eq!((&plan["branches"][0]["field"], &plan["branches"][0]["rows"]), (&json!("orders"), &json!(0)));
    assert_eq!((&plan["branches"][1]["field"], &plan["branches"][1]["rows"]), (&json!("orders.shipGroups"), &json!(0)));
    assert!(plan["milliseconds"].is_f64());
    // A query that is not admitted has a plan too, and one that is not valid has none.
    let expensive = send(&server, &token, "GraphQL-Cost: plan", &query.replace("first: 2", "first: 100")).json();
    assert_eq!(expensive["extensions"]["plan"]["branches"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        send(&server, &token, "GraphQL-Cost: plan", "{ orders { pageInfo { endCursor } } }").code(),
        "FIRST_REQUIRED"
    );
    let misspelt = send(&server, &token, "GraphQL-Cost: plans", query);
    assert_eq!(misspelt.code(), "BAD_USER_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_reports_of_large_texts_is_refused() {
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    // A report of nine thousand fields has more than a megabyte. What it takes is the time until the next one; the caller's other
    // queries are not affected.
    let fields: Vec<_> = (0..3000).map(|number| format!("a{number}: orderId")).collect();
    let lists = "a: edges { node { ...F } } b: edges { node { ...F } } c: edges { node { ...F } }";
    let large = format!("{{ orders(first: 1) {{ {lists} }} }} fragment F on Order {{ {} }}", fields.join(" "));
    thread::scope(|scope| {
        for _ in 0..30 {
            scope.spawn(|| send(&server, &token, "GraphQL-Cost: validate", &large));
        }
    });
    let refused = send(&server, &token, "GraphQL-Cost: validate", "{ __typename }");
    assert_eq!((refused.code().as_str(), refused.status), ("THROTTLED", 200));
    assert!(refused.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap() > 0);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(server.query(&token, "{ __typename }").json()["data"], json!({"__typename": "Query"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_introspection_is_refused_and_a_console_does_not_notice_the_bound() {
    let profile = Profile { response_size: Some(1 << 40), max_page_size: Some(10_000), ..UNLIMITED_PROFILE };
    let users = ["demo", "other"].map(|user| (user, profile));
    let (server, _database) = server_with_users(&users, &[]).await;
    let token = server.token("demo");
    // More than a console or a code generator sends.
    for _ in 0..30 {
        assert!(server.query(&token, INTROSPECTION).json()["data"]["__schema"].is_object());
    }
    // What may be written beyond what is paid for is the time until the next one, minutes here. There are no orders.
    let cursors: Vec<_> = (0..1600).map(|number| format!("a{number}: cursor")).collect();
    let lists: Vec<_> = (0..6).map(|number| format!("e{number}: edges {{ ...C }}")).collect();
    let large = format!(
        "{{ orders(first: 10000) {{ {} }} }} fragment C on OrderEdge {{ {} }}",
        lists.join(" "),
        cursors.join(" ")
    );
    assert!(server.query(&token, &large).json()["data"]["orders"].is_object());
    for free in [INTROSPECTION, "{ __typename }", "{ order(orderId: \"1\") @skip(if: true) { orderId } }"] {
        let refused = server.query(&token, free);
        assert_eq!((refused.code().as_str(), refused.status), ("THROTTLED", 200), "{free}");
        assert!(refused.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap() > 0);
        assert!(refused.header("retry-after").is_some());
        assert_eq!(server.query_as(GRAPHQL_JSON, &token, free).status, 429, "{free}");
    }
    // Queries that are paid, reports and other callers are not affected.
    assert_eq!(server.query(&token, "{ order(orderId: \"1\") { orderId } }").json()["data"], json!({"order": null}));
    assert_eq!(send(&server, &token, "GraphQL-Cost: validate", INTROSPECTION).status, 200);
    assert!(server.query(&server.token("other"), INTROSPECTION).json()["data"]["__schema"].is_object());
}
