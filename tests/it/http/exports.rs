//! Exports of whole collections as lines of JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::{Database, sampled_database};
use crate::support::http::{GRAPHQL_JSON, Response, graphql_head, read_last_response, read_until, with_body};
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const LINES: &str = "application/x-ndjson";

/// An order costs 7 credits.
const ORDERS: &str =
    "query All($after: String) { orders(first: 90, after: $after, sortKey: GRAND_TOTAL) { edges { node {
    orderId orderName grandTotal orderDate billToCustomer { firstName } } } } }";

/// A page costs 200 credits.
const CHEAP: &str = "{ orders(first: 100) { edges { node { orderId } } } }";

/// A server on 2,000 orders, with the users `demo` and `other`.
async fn server(profile: Profile, flags: &[&str]) -> (Server, Database, String) {
    let database = sampled_database().await;
    create_users(&mut database.connect().await, &[("demo", profile), ("other", profile)]).await;
    let server = Server::start(&database, flags);
    let token = server.token("demo");
    (server, database, token)
}

fn request(token: &str, query: &str, variables: &Value) -> String {
    with_body(&graphql_head(token, LINES), &json!({ "query": query, "variables": variables }).to_string())
}

/// The response to an export, as a client reads it to its end.
fn export(server: &Server, token: &str, query: &str, variables: &Value) -> (Response, Lines) {
    let mut stream = server.connect();
    stream.write_all(request(token, query, variables).as_bytes()).unwrap();
    read(stream)
}

fn read(stream: TcpStream) -> (Response, Lines) {
    let (response, body) = read_last_response(stream);
    let body = String::from_utf8(body).unwrap();
    assert!(body.ends_with('\n'), "{body}");
    let lines = body.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    (response, Lines::of(lines))
}

/// The lines of an export by their kind.
#[derive(Debug, Default)]
struct Lines {
    nodes: Vec<Value>,
    resume: Vec<Value>,
    end: Value,
}

impl Lines {
    fn of(lines: impl Iterator<Item = Value>) -> Self {
        let mut all = Self::default();
        for line in lines {
            assert_eq!(all.end, Value::Null, "a line follows the end: {line}");
            if let Some(resume) = line.get("@resume") {
                assert_eq!(resume["nodes"], all.nodes.len());
                all.resume.push(resume.clone());
            } else if let Some(end) = line.get("@end") {
                all.end = end.clone();
            } else {
                assert!(line["orderId"].is_string(), "{line}");
                all.nodes.push(line);
            }
        }
        assert_eq!(all.end["nodes"], all.nodes.len(), "{:?}", all.end);
        all
    }
}

/// Opens an export and returns when its first line has arrived.
fn begin(server: &Server, token: &str, query: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.write_all(request(token, query, &json!({})).as_bytes()).unwrap();
    read_until(&stream, "\r\n\r\n");
    stream
}

/// All orders, page by page.
fn pages(server: &Server, token: &str) -> Vec<Value> {
    let query = ORDERS.replace("edges", "pageInfo { hasNextPage endCursor } edges");
    let (mut nodes, mut after) = (Vec::new(), Value::Null);
    loop {
        let body = json!({ "query": query, "variables": { "after": after } }).to_string();
        let page = server.post(token, GRAPHQL_JSON, body).json()["data"]["orders"].take();
        nodes.extend(page["edges"].as_array().unwrap().iter().map(|edge| edge["node"].clone()));
        if page["pageInfo"]["hasNextPage"] == false {
            return nodes;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_all_nodes_of_one_snapshot_in_their_order() {
    let (server, database, token) = server(UNLIMITED_PROFILE, &["--restore-rate", "0"]).await;
    let expected = pages(&server, &token);
    assert_eq!(expected.len(), 2000);
    let available = || server.query(&token, "{ __typename }").available();
    let before = available();
    let (response, lines) = export(&server, &token, ORDERS, &json!({}));
    assert_eq!((response.status, response.header("content-type")), (200, Some(LINES)));
    assert_eq!(lines.nodes, expected);
    let cost = 23 * 90 * 7;
    assert_eq!(lines.end, json!({ "complete": true, "nodes": 2000, "requestedQueryCost": cost }));
    assert_eq!(before - available(), cost);

    // Another one goes on from a line with a cursor.
    assert_eq!(lines.resume.iter().map(|resume| resume["nodes"].clone()).collect::<Vec<_>>(), [1080]);
    let (_, rest) = export(&server, &token, ORDERS, &json!({ "after": lines.resume[0]["cursor"] }));
    assert_eq!(rest.nodes, expected[1080..]);
    // curl can do it, with a query in the target.
    let headers = [format!("Accept: {LINES}"), format!("Authorization: Bearer {token}")];
    let headers = headers.each_ref().map(String::as_str);
    let target = "/rest/s1/graphql?query={orders(first:100){edges{node{orderId}}}}";
    let all = server.request(&format!("GET {target}"), &headers, "");
    assert_eq!((all.status, all.header("cache-control"), all.body.lines().count()), (200, Some("no-store"), 2002));

    // Changes during an export do not show in it. The client reads them only after the change.
    let running = begin(&server, &token, ORDERS);
    let client = database.connect().await;
    client.batch_execute("UPDATE order_header SET order_name = 'changed', grand_total = -1").await.unwrap();
    let mut body = String::new();
    BufReader::new(running).read_to_string(&mut body).unwrap();
    let nodes = body.lines().filter(|line| line.starts_with("{\"orderId\""));
    assert!(nodes.map(|line| serde_json::from_str::<Value>(line).unwrap()).eq(expected.iter().cloned()));
    let log = server.stop();
    let costs: Vec<_> = log.lines().filter(|line| line.contains("\"operation\":\"All\"")).collect();
    assert!(costs.iter().any(|line| line.contains(&format!("\"cost\":{cost}"))), "{costs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_waits_for_its_credits_and_for_no_client() {
    let profile = Profile { bucket_size: Some(200), max_cost: Some(200), restore_rate: Some(2000), ..Profile::DEFAULT };
    // The credits of a page take longer than a client may take to read.
    let (server, _database, token) = server(profile, &["--write-timeout", "50ms", "--idle-timeout", "50ms"]).await;
    let (_, lines) = export(&server, &token, CHEAP, &json!({}));
    assert_eq!(lines.end, json!({ "complete": true, "nodes": 2000, "requestedQueryCost": 4000 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_ends_with_its_time_and_another_goes_on() {
    let (server, _database, token) = server(UNLIMITED_PROFILE, &["--export-time", "1ms"]).await;
    let (mut nodes, mut after, mut exports) = (Vec::new(), Value::Null, 0);
    loop {
        let (response, lines) = export(&server, &token, ORDERS, &json!({ "after": after }));
        assert_eq!(response.status, 200);
        nodes.extend(lines.nodes);
        exports += 1;
        if lines.end["complete"] == true {
            break;
        }
        assert_eq!(lines.end["errors"], Value::Null);
        after = lines.end["cursor"].clone();
    }
    assert!(exports > 1);
    assert_eq!(nodes, pages(&server, &token));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_runs_one_export_which_ends_with_its_client_or_the_server() {
    let profile = Profile { bucket_size: Some(200), max_cost: Some(200), restore_rate: Some(1), ..Profile::DEFAULT };
    let (mut server, _database, token) =
        server(profile, &["--grace", "1h", "--exports", "1", "--write-timeout", "1h"]).await;
    let query = CHEAP;
    // It waits for minutes for the credits of its second page.
    let running = begin(&server, &token, query);
    let refused = server.send(request(&token, query, &json!({})));
    assert_eq!((refused.status, refused.code().as_str()), (429, "THROTTLED"));
    assert!(refused.body.contains("an export of yours is running"), "{refused:?}");
    let impatient = format!("{}Prefer: wait=0\r\n", graphql_head(&server.token("other"), LINES));
    let busy = server.send(with_body(&impatient, &json!({ "query": query }).to_string()));
    assert_eq!((busy.status, busy.code().as_str()), (503, "SERVICE_UNAVAILABLE"), "all places are taken");
    drop(running);
    let short = loop {
        let refused = server.send(request(&token, query, &json!({})));
        if !refused.body.contains("an export of yours is running") {
            break refused;
        }
    };
    assert_eq!((short.status, short.code().as_str()), (429, "THROTTLED"));
    assert_eq!(short.json()["errors"][0]["extensions"]["requestedQueryCost"], 200);

    let cheap = "{ orders(first: 1) { edges { node { orderId } } } }";
    let mut stream = server.connect();
    let wait = format!("{}Prefer: wait=10\r\n", graphql_head(&token, LINES));
    stream.write_all(with_body(&wait, &json!({ "query": cheap }).to_string()).as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "HTTP/1.1 200 OK");
    assert!(lines.by_ref().take_while(|line| !line.is_empty()).any(|line| line == "preference-applied: wait"));
    assert!(lines.by_ref().any(|line| line.contains("orderId")));
    server.terminate();
    let end = lines.find_map(|line| serde_json::from_str::<Value>(&line).ok()?.get("@end").cloned()).unwrap();
    assert_eq!(
        (&end["complete"], &end["errors"][0]["extensions"]["code"]),
        (&json!(false), &json!("SERVICE_UNAVAILABLE"))
    );
    assert!(end["cursor"].is_string(), "{end}");
    drop(lines);
    assert!(!server.wait().contains("cut off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_waits_gives_its_place_to_another_and_can_be_gone_on_with() {
    let profile = Profile { bucket_size: Some(200), max_cost: Some(200), restore_rate: Some(1), ..Profile::DEFAULT };
    let (server, database, token) = server(profile, &["--exports", "1", "--write-timeout", "100ms"]).await;
    // It waits for minutes for the credits of its second page, with its transaction.
    let waiting = begin(&server, &token, CHEAP);
    let few = CHEAP.replace("first: 100", "first: 100, query: \"orderId:NONE\"");
    let (response, lines) = export(&server, &server.token("other"), &few, &json!({}));
    assert_eq!((response.status, &lines.end["complete"]), (200, &json!(true)));
    let mut body = String::new();
    BufReader::new(waiting).read_to_string(&mut body).unwrap();
    let end = body.lines().rev().find(|line| line.starts_with("{\"@end\"")).unwrap();
    let end = &serde_json::from_str::<Value>(end).unwrap()["@end"];
    assert_eq!((&end["complete"], &end["nodes"], &end["errors"]), (&json!(false), &json!(100), &Value::Null));
    assert!(end["cursor"].is_string(), "{end}");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    let client = database.connect().await;
    while client.query_one(open, &[]).await.unwrap().get::<_, i64>(0) > 0 {}
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_wait_for_a_place_until_the_server_stops() {
    let profile = Profile { bucket_size: Some(200), max_cost: Some(200), restore_rate: Some(1), ..Profile::DEFAULT };
    let flags = ["--exports", "1", "--write-timeout", "1h", "--max-wait", "1h", "--grace", "1h"];
    let flags = [&flags[..], &["--admin-listen", "127.0.0.1:0"]].concat();
    let (mut server, _database, token) = server(profile, &flags).await;
    let running = begin(&server, &token, CHEAP);
    let mut waiting = server.connect();
    waiting.write_all(request(&server.token("other"), CHEAP, &json!({})).as_bytes()).unwrap();
    let pending = r#"db_client_connection_pending_requests{db_client_connection_pool_name="exports"}"#;
    server.wait_for_metrics(|metrics| metrics.get(pending) == 1);
    server.terminate();
    let (refused, body) = read_last_response(waiting);
    assert_eq!(refused.status, 503);
    assert!(String::from_utf8(body).unwrap().contains("the server is stopping"));
    drop(running);
    assert!(!server.wait().contains("cut off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_has_to_fit_into_the_memory_that_a_connection_may_hold() {
    let flags = ["--memory-budget", "2MiB", "--body-limit", "256KiB", "--restore-rate", "0"];
    let (server, database, token) = server(UNLIMITED_PROFILE, &flags).await;
    // The later half of the orders has long names.
    let lengthen = "UPDATE order_header SET order_name = repeat('x', 100) WHERE order_id > (
        SELECT order_id FROM order_header ORDER BY order_id OFFSET 1000 LIMIT 1)";
    database.connect().await.batch_execute(lengthen).await.unwrap();
    let names = (0..20).map(|number| format!("n{number}: orderName")).collect::<Vec<_>>().join(" ");
    let query = |reverse: bool, after: &Value| {
        let after = after.as_str().map(|after| format!(", after: \"{after}\"")).unwrap_or_default();
        format!(
            "{{ orders(first: 100, sortKey: ORDER_ID, reverse: {reverse}{after}) {{ edges {{ node {{ orderId {names} }} }} }} }}"
        )
    };
    let available = || server.query(&token, "{ __typename }").available();
    let (response, lines) = export(&server, &token, &query(false, &Value::Null), &json!({}));
    assert_eq!(
        (response.status, lines.end["errors"][0]["extensions"]["code"].as_str()),
        (200, Some("RESPONSE_TOO_LARGE"))
    );
    assert_eq!(lines.end["nodes"], 1000, "{}", lines.end);
    assert!(lines.end["cursor"].is_string());
    // A first page that never fits is not to be tried again. It has run, and is paid for.
    let before = available();
    let mut paid = 0;
    for (reverse, after) in [(true, &Value::Null), (false, &lines.end["cursor"])] {
        let refused = server.send(request(&token, &query(reverse, after), &json!({})));
        assert_eq!((refused.status, refused.code().as_str()), (400, "RESPONSE_TOO_LARGE"), "{refused:?}");
        let facts = refused.json()["errors"][0]["extensions"].clone();
        paid += refused.json()["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
        assert!(facts["responseBytes"].as_u64() > facts["maxResponseBytes"].as_u64(), "{facts}");
    }
    assert_eq!(available(), before - paid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_account_gets_no_further_page() {
    let profile = Profile { bucket_size: Some(200), max_cost: Some(200), restore_rate: Some(200), ..Profile::DEFAULT };
    let (server, database, token) = server(profile, &[]).await;
    let running = begin(&server, &token, CHEAP);
    // Each further page waits for a second.
    let client = database.connect().await;
    let disable = "UPDATE orderql.user_account SET disabled = true WHERE user_id = 'demo'";
    client.batch_execute(disable).await.unwrap();
    let mut body = String::new();
    BufReader::new(running).read_to_string(&mut body).unwrap();
    let end = body.lines().rev().find(|line| line.starts_with("{\"@end\"")).unwrap();
    let end: Value = serde_json::from_str(end).unwrap();
    assert_eq!(end["@end"]["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert!(end["@end"]["nodes"].as_u64().unwrap() < 2000, "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_cannot_begin_gets_an_error_with_its_status() {
    let (server, _database, token) = server(Profile::DEFAULT, &[]).await;
    for (query, status, code) in [
        ("{ order(orderId: 1) { orderId } }", 400, "BAD_USER_INPUT"),
        ("{ orders(first: 1000) { edges { node { orderId } } } }", 400, "FIRST_TOO_LARGE"),
        ("{ orders(first: 100, after: \"x\") { edges { node { orderId } } } }", 400, "BAD_USER_INPUT"),
        ("{ orders(first: 1) { edges { node { name } } } }", 400, "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let response = server.send(request(&token, query, &json!({})));
        assert_eq!((response.status, response.code().as_str()), (status, code), "{query}");
        assert_eq!(response.header("content-type"), Some("application/graphql-response+json; charset=utf-8"));
    }
    assert_eq!(server.send(request("x", ORDERS, &json!({}))).status, 401);
}
