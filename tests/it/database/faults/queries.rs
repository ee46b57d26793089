//! Queries through faults.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use orderql::catalog::Catalog;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::values::Invented;
use serde_json::json;

use crate::database::faults::{Exchange, Line, profile, requests_and_seed};
use crate::support::database::{Database, loaded_database};
use crate::support::fault_proxy::fault::{Fault, FaultKind};
use crate::support::http::{GRAPHQL_JSON, Response};
use crate::support::random::Random;
use crate::support::users::create_users;

/// Servers that are used at the same time.
const LINES: usize = 4;

/// Random queries beside those below.
const RANDOM_QUERIES: u64 = 40;

/// The most messages with which a connection begins.
const FIRST_MESSAGES: usize = 24;

/// The most memory that a server may gain, in MiB. A connection and its statements take a fraction of one.
const MOST_GAINED: u64 = 24;

/// One lookup; several statements that wait for each other; a search; a large response; an error of the database.
const QUERIES: [&str; 5] = [
    r#"{ order(orderId: "ORDER_SPLIT") { orderId statusId grandTotal orderDate orderItemCount billToCustomer { lastName } } }"#,
    "{ orders(first: 20) { pageInfo { hasNextPage endCursor } edges { cursor node { orderId orderItems(first: 5) {
        edges { node { quantity unitPrice product { productName } reservations(first: 3) { edges { node { quantity } } } } } }
        shipGroups(first: 3) { edges { node { shipGroupSeqId facility { facilityName } } } } } } } }",
    r#"{ shipments(last: 5, query: "statusId:SHIPMENT_INPUT,SHIPMENT_APPROVED") { edges { node { shipmentId
        packages(first: 2) { edges { node { shipmentPackageSeqId } } } } } } }"#,
    "{ a: products(first: 100) { edges { node { productId productName internalName description } } }
       b: orderItems(first: 100) { edges { cursor node { orderId itemDescription order { orderName } } } }
       c: parties(first: 100) { edges { cursor node { partyId firstName lastName } } } }",
    "{ shipmentBoxTypes(first: 3) { edges { node { shipmentBoxTypeId } } } }",
];

/// Makes the last query fail.
const REFUSAL: &str = "
    CREATE FUNCTION refuse() RETURNS bool LANGUAGE plpgsql STABLE AS $$
        BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '53100'; END $$;
    ALTER TABLE shipment_box_type RENAME TO real_shipment_box_type;
    CREATE VIEW shipment_box_type AS SELECT * FROM real_shipment_box_type WHERE refuse()";

/// A request and the response that it has without faults.
pub struct Expected {
    body: String,
    status: u16,
    text: String,
    messages: [usize; 2],
}

/// The database of the queries, with the user `demo`.
pub async fn database() -> Database {
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("demo", profile(250))]).await;
    database
}

impl Expected {
    /// Runs a request until it is not held up by the machine.
    pub async fn read(line: &Line, body: String) -> Self {
        loop {
            let exchange = send(line, None, &body).await;
            let Exchange { response, messages, .. } = &exchange;
            if response.status != 504 {
                return Self { body, status: response.status, text: without_cost(response), messages: *messages };
            }
        }
    }

    /// Sends the request through a fault, and checks the response.
    pub async fn send(&self, line: &Line, fault: Option<Fault>) -> Result<Exchange, String> {
        let is_value = fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Value);
        let text = format!("{fault:?}");
        let exchange = send(line, fault, &self.body).await;
        // At the deadline the server may not have noticed anything.
        if exchange.response.status == 503 {
            line.proxy.assert_closed().await;
        }
        // Nobody can tell that a value was changed, so any response is right.
        let is_undetectable =
            is_value && exchange.damage.as_ref().is_some_and(|text| text.ends_with("is_visible: false }"));
        if is_undetectable || self.is_right(&exchange.response) || is_honest(&exchange.response) {
            return Ok(exchange);
        }
        Err(format!("{text}\n{:?}\n{}\n{:?}\nnot {}", exchange.damage, self.body, exchange.response, self.text))
    }

    pub fn is_right(&self, response: &Response) -> bool {
        response.status == self.status && without_cost(response) == self.text
    }
}

async fn send(line: &Line, fault: Option<Fault>, body: &str) -> Exchange {
    let body = body.to_owned();
    line.send(fault, move |server, token| server.post(token, GRAPHQL_JSON, body)).await
}

/// The body up to the bucket of the caller, which is another after each request.
fn without_cost(response: &Response) -> String {
    response.body.split(r#","extensions":{"cost""#).next().unwrap().to_owned()
}

/// Whether a response says that the service cannot serve the request.
fn is_honest(response: &Response) -> bool {
    match response.status {
        503 => response.code() == "SERVICE_UNAVAILABLE" && response.header("retry-after") == Some("1"),
        504 => response.code() == "DEADLINE_EXCEEDED",
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_get_the_right_response_or_an_honest_error() {
    let (requests, seed) = requests_and_seed(1);
    let database = database().await;
    let lines = join_all((0..LINES).map(|_| async { Line::open(&database.config()).await })).await;
    database.connect().await.batch_execute(REFUSAL).await.unwrap();

    let catalog = Catalog::built_in().unwrap();
    let mut bodies: Vec<String> = QUERIES.map(|query| json!({ "query": query }).to_string()).into();
    for seed in 0..RANDOM_QUERIES {
        let (bytes, settings) = (bytes_of_seed(seed, 600), Settings { max_page: 20, ..Settings::default() });
        let request = generate(&catalog, &Invented, settings, &mut Choices::new(&bytes)).request();
        let (query, name, variables) = (request.query, request.operation_name, request.variables);
        bodies.push(json!({ "query": query, "operationName": name, "variables": variables }).to_string());
    }
    let mut expected = Vec::new();
    for body in bodies {
        expected.push(Expected::read(&lines[0], body).await);
    }
    let errors: Vec<_> =
        expected.iter().filter(|expected| expected.status != 200).map(|expected| &expected.body).collect();
    assert!(errors.len() < expected.len() / 4, "{errors:?}");

    let (expected, next) = (Arc::new(expected), AtomicUsize::new(0));
    let work = lines.iter().map(|line| async {
        let mut outcomes: BTreeMap<(&str, u16), usize> = BTreeMap::new();
        let mut warm = None;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= requests {
                break (outcomes, warm);
            }
            let mut random = Random(seed << 32 | number as u64);
            let query = random.pick(&expected);
            // The server connects anew after most faults.
            let first = if random.chance(50) { FIRST_MESSAGES } else { 0 };
            let fault = Fault::random(&mut random, query.messages.map(|messages| messages + first));
            let exchange =
                query.send(line, Some(fault)).await.unwrap_or_else(|error| panic!("request {number}: {error}"));
            let kind = if exchange.damage.is_some() { "damaged" } else { "untouched" };
            *outcomes.entry((kind, exchange.response.status)).or_default() += 1;
            if number >= requests / 4 {
                warm = warm.or_else(|| line.memory());
            }
        }
    });
    let mut outcomes: BTreeMap<(&str, u16), usize> = BTreeMap::new();
    for (line, (counts, warm)) in lines.iter().zip(join_all(work).await) {
        for (outcome, count) in counts {
            *outcomes.entry(outcome).or_default() += count;
        }
        let memory = line.memory();
        println!("memory: {warm:?} MiB, {memory:?} MiB at the end");
        assert!(memory.unwrap_or(0) <= warm.unwrap_or(u64::MAX - MOST_GAINED) + MOST_GAINED, "{memory:?} of {warm:?}");
    }
    println!("{outcomes:?}");
    let damaged: usize = outcomes.iter().filter(|((kind, _), _)| *kind == "damaged").map(|(_, count)| count).sum();
    assert!(damaged * 2 > requests && outcomes.contains_key(&("damaged", 503)), "{outcomes:?}");
    for line in lines {
        line.stop(true);
    }
}
