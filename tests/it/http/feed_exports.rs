//! Exports of a change feed as lines of JSON, which go on until their clients leave.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::Database;
use crate::support::http::{JSON, graphql_head, read_responses, with_body};
use crate::support::server::{Server, server_with_demo_user, wait_until};

const LINES: &str = "application/x-ndjson";
const PARKED: &str = "orderql_parked_requests";

const CHANGES: &str = "query($after: String) { orderChanges(first: 2, after: $after) {
    edges { node { orderId order { orderName } } } } }";

/// The lines of an export as they arrive.
struct Export(BufReader<TcpStream>);

impl Export {
    fn begin(server: &Server, token: &str, after: Option<&str>) -> Self {
        let body = json!({ "query": CHANGES, "variables": { "after": after } }).to_string();
        let mut stream = server.connect();
        stream.write_all(with_body(&graphql_head(token, LINES), &body).as_bytes()).unwrap();
        let mut export = Self(BufReader::new(stream));
        let mut line = export.line();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        while !line.is_empty() {
            line = export.line();
        }
        export
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the export ended");
        line.trim_end().to_owned()
    }

    /// The next line. What is between the chunks of the body is passed over.
    fn next(&mut self) -> Value {
        loop {
            let line = self.line();
            if line.starts_with('{') {
                return serde_json::from_str(&line).unwrap();
            }
        }
    }

    /// The cursor of the next line, which has one.
    fn resume(&mut self) -> String {
        let line = self.next();
        line["@resume"]["cursor"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    }
}

async fn server(flags: &[&str]) -> (Server, Database, Client, String) {
    let flags = [&["--admin-listen", "127.0.0.1:0"], flags].concat();
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &flags).await;
    let client = database.connect().await;
    (server, database, client, token)
}

fn change(id: &str, name: &str) -> Value {
    json!({ "orderId": id, "order": { "orderName": name } })
}

async fn insert(client: &Client, ids: &[&str]) {
    let rows: Vec<_> = ids.iter().map(|id| format!("('{id}', 'a')")).collect();
    let sql = format!("INSERT INTO order_header (order_id, order_name) VALUES {}", rows.join(", "));
    client.batch_execute(&sql).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_each_change_when_it_comes_and_can_be_gone_on_with() {
    let (server, _database, client, token) = server(&[]).await;
    let mut export = Export::begin(&server, &token, None);
    let beginning = export.resume();
    insert(&client, &["X1", "X2", "X3"]).await;
    let first = [export.next(), export.next()];
    assert_eq!(first, [change("X1", "a"), change("X2", "a")]);
    let between = export.resume();
    assert_eq!(export.next(), change("X3", "a"));
    export.resume();
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 1);
    client.batch_execute("DELETE FROM order_header WHERE order_id = 'X2'").await.unwrap();
    assert_eq!(export.next(), json!({ "orderId": "X2", "order": null }));
    let last = export.resume();
    // Another one goes on after any of these lines, beside the first. What changed since the first page's snapshot follows the rest of that.
    let mut other = Export::begin(&server, &token, Some(&between));
    assert_eq!(other.next(), change("X3", "a"));
    other.resume();
    assert_eq!(other.next()["orderId"], "X2");
    drop(other);
    let mut again = Export::begin(&server, &token, Some(&beginning));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(again.next()["orderId"].as_str().map(str::to_owned));
    }
    assert_eq!(seen, ["X1", "X3", "X2"]);
    drop((again, export));
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
    let mut end = Export::begin(&server, &token, Some(&last));
    end.resume();
    server.terminate();
    let line = end.next();
    assert_eq!((&line["@end"]["complete"], &line["@end"]["nodes"]), (&json!(false), &json!(0)));
    assert_eq!(line["@end"]["errors"][0]["extensions"]["code"], "SERVICE_UNAVAILABLE");
    assert!(line["@end"]["cursor"].is_string(), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_changes_costs_what_it_finds_and_ends_with_its_time() {
    let (server, _database, client, token) = server(&["--export-time", "2s", "--restore-rate", "0"]).await;
    let available = || server.query(&token, "{ __typename }").available();
    let before = available();
    let mut export = Export::begin(&server, &token, None);
    export.resume();
    insert(&client, &["X1"]).await;
    assert_eq!(export.next(), change("X1", "a"));
    export.resume();
    let mut end = export.next();
    assert!(end["@end"]["cursor"].take().is_string(), "{end}");
    // Two changes cost 2 × (1 + 1 + (1 + 1)) credits.
    assert_eq!(end, json!({ "@end": { "complete": false, "nodes": 1, "requestedQueryCost": 8, "cursor": null } }));
    assert_eq!(available(), before - 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_of_changes_have_the_limit_of_parked_requests_and_leave_other_exports_alone() {
    let (server, _database, _client, token) = server(&["--parked-requests", "1"]).await;
    let mut export = Export::begin(&server, &token, None);
    export.resume();
    let refused = server.query_as(LINES, &token, "{ orderChanges(first: 1) { edges { node { orderId } } } }");
    assert_eq!((refused.status, refused.code().as_str()), (429, "THROTTLED"), "{}", refused.body);
    let other = server.query_as(LINES, &token, "{ orders(first: 1) { edges { node { orderId } } } }");
    assert_eq!(other.status, 200);
    drop(export);
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 0);
    let since = "{ orderChanges(first: 1, since: \"2100-01-01T00:00:00Z\") { edges { node { orderId } } } }";
    assert_eq!(server.query_as(LINES, &token, since).code(), "BAD_USER_INPUT");
    let wrong = "{ orderChanges(first: 1, after: \"x\") { edges { node { orderId } } } }";
    assert_eq!(server.query_as(LINES, &token, wrong).status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_begun_goes_on_when_its_token_expires() {
    let (server, _database, client, token) = server(&["--token-lifetime", "2s"]).await;
    let mut export = Export::begin(&server, &token, None);
    let after = export.resume();
    let body = json!({ "query": CHANGES, "variables": { "after": after } }).to_string();
    let mut parked = server.connect();
    let head = format!("{}Prefer: wait=30\r\n", graphql_head(&token, JSON));
    parked.write_all(with_body(&head, &body).as_bytes()).unwrap();
    server.wait_for_metrics(|metrics| metrics.get(PARKED) == 2);
    wait_until(|| server.query(&token, "{ __typename }").status == 401);
    insert(&client, &["X1"]).await;
    assert_eq!(export.next(), change("X1", "a"));
    let [response] = &read_responses(parked)[..] else { panic!() };
    assert_eq!(response.json()["data"]["orderChanges"]["edges"][0]["node"]["orderId"], "X1");
}
