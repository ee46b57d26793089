//! Several requests on one HTTP/1.1 connection.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::thread;

use serde_json::{Value, json};

use crate::support::database::{Database, loaded_database};
use crate::support::http::{JSON, graphql_head, read_responses};
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

#[tokio::test(flavor = "multi_thread")]
async fn answers_pipelined_requests_in_order() {
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    let orders = queries_of_all_orders(&database).await;
    assert!(orders.len() > 50);
    let stream = server.connect();
    let mut pipeline: String = orders.iter().map(|(_, query)| pipelined_request(&token, query)).collect();
    pipeline.push_str("GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let mut writer = stream.try_clone().unwrap();
    // On a thread of its own, because the server stops reading while nobody reads its responses.
    let written = thread::spawn(move || writer.write_all(pipeline.as_bytes()).unwrap());
    let responses = read_responses(stream.try_clone().unwrap());
    written.join().unwrap();
    assert_eq!(responses.len(), orders.len() + 1);
    for ((id, _), response) in orders.iter().zip(&responses) {
        assert_eq!(order_in(&response.json()), *id);
    }
}

/// A complete request that leaves the connection open.
pub fn pipelined_request(token: &str, query: &str) -> String {
    let body = json!({ "query": query }).to_string();
    format!("{}Content-Length: {}\r\n\r\n{body}", graphql_head(token, JSON), body.len())
}

/// The id of each order, and a query for it.
pub async fn queries_of_all_orders(database: &Database) -> Vec<(String, String)> {
    let client = database.connect().await;
    let rows = client.query("SELECT order_id FROM order_header ORDER BY 1", &[]).await.unwrap();
    let query = |id: &String| {
        format!(
            "{{ order(orderId: \"{id}\") {{ orderId orderItems(first: 50) {{ edges {{ node {{ orderId }} }} }} }} }}"
        )
    };
    rows.iter().map(|row| row.get(0)).map(|id: String| (id.clone(), query(&id))).collect()
}

/// The id of the order in a response. Panics if the response contains ids of other orders.
pub fn order_in(body: &Value) -> String {
    let order = &body["data"]["order"];
    let mut ids = BTreeSet::from([order["orderId"].as_str().unwrap()]);
    let items = order["orderItems"]["edges"].as_array().unwrap();
    ids.extend(items.iter().map(|item| item["node"]["orderId"].as_str().unwrap()));
    assert_eq!(ids.len(), 1, "{body}");
    ids.pop_first().unwrap().to_owned()
}
