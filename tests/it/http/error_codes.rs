//! Every error code, provoked over HTTP: what the client is told on either media type, that PostgreSQL heard nothing of
//! it, and that nobody paid for it. And what queries cost, over HTTP too.

use orderql::access::accounts::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::{Database, StatementLog, loaded_database};
use crate::support::server::{Answer, JSON, NEWER, Server, make_users};

/// A server on the demo's data that gives no credits back, so that what is left tells exactly what was paid.
struct Service {
    server: Server,
    database: Database,
    statements: StatementLog,
    token: String,
}

/// A query of 4 credits.
const PROBE: &str = "{ order(orderId: \"ORDER_SPLIT\") { orderId statusId grandTotal } }";

/// The name that the service's pooled connections go by. The one on which it hears of grants has another.
const POOL: &str = "orderql";

impl Service {
    /// Serves `demo`, who has the profile, and `guest`.
    async fn start(profile: Profile, flags: &[&str]) -> Self {
        let database = loaded_database().await;
        make_users(&mut database.connect().await, &[("demo", profile), ("guest", Profile::DEFAULT)]).await;
        let statements = database.log_statements().await;
        let server = Server::start(&database, &[&["--restore-rate", "0"], flags].concat());
        let token = server.token("demo");
        Self { server, database, statements, token }
    }

    /// A connection of the test's own, by another name than the service's.
    async fn connect(&self) -> Client {
        let mut config = self.database.config();
        orderql::database::connect::connect(config.application_name("test")).await.unwrap()
    }

    fn ask(&self, accept: &str, body: &Value) -> Answer {
        self.server.post(&self.token, accept, body.to_string())
    }

    /// What is left in the bucket, and pays 4 credits to know it.
    fn left(&self) -> u64 {
        self.ask(JSON, &json!({ "query": PROBE })).available()
    }

    /// What PostgreSQL was sent by the service so far.
    fn sent(&self) -> Vec<String> {
        self.statements.lines(POOL)
    }

    /// Asks in either form, and returns the entries of `errors` once everything else about a refusal has been seen: its
    /// status, its data, no statement, no debit, nothing in `extensions` that only an executed query has.
    fn refused(&self, body: &Value) -> Vec<Value> {
        let before = self.sent().len();
        let (left, sent) = (self.left(), self.sent());
        assert!(sent.len() > before, "what is executed is seen");
        let older = self.ask(JSON, body);
        let newer = self.ask(NEWER, body);
        assert_eq!(self.sent(), sent, "{body}");
        assert_eq!(self.left(), left - 4, "{body}");

        assert_eq!((older.status, newer.status), (200, 400), "{body}: {older:?}");
        assert_eq!(older.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(newer.header("content-type"), Some("application/graphql-response+json; charset=utf-8"));
        let (older, newer) = (older.json(), newer.json());
        assert_eq!(older.get("data"), Some(&Value::Null), "{body}");
        assert_eq!(newer.get("data"), None, "{body}");
        assert_eq!(older["errors"], newer["errors"]);
        assert_eq!((older.get("extensions"), newer.get("extensions")), (None, None), "{older}");
        for entry in older["errors"].as_array().unwrap() {
            assert!(!entry["message"].as_str().unwrap().is_empty(), "{entry}");
        }
        older["errors"].as_array().unwrap().clone()
    }
}

/// Sees that there is a single entry, and that its `extensions` tell these facts. They may tell more.
fn assert_facts(errors: &[Value], facts: &Value, asked: &str) {
    assert_eq!(errors.len(), 1, "{asked}: {errors:?}");
    for (name, fact) in facts.as_object().unwrap() {
        assert_eq!(errors[0]["extensions"].get(name), Some(fact), "{asked}: {errors:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_text_alone_decides_is_refused_with_its_facts() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    for (query, expected) in [
        (
            "{ orders { edges { node { orderId } } } }",
            json!({"code": "FIRST_REQUIRED", "field": "orders", "maxFirst": 100}),
        ),
        (
            "{ order(orderId: \"ORDER_SPLIT\") { shipGroups { edges { node { orderId } } } } }",
            json!({"code": "FIRST_REQUIRED", "field": "shipGroups", "maxFirst": 100}),
        ),
        (
            "{ orders(first: 101) { edges { node { orderId } } } }",
            json!({"code": "FIRST_TOO_LARGE", "field": "orders", "requested": 101, "maxFirst": 100}),
        ),
        (
            "{ order(orderId: \"ORDER_SPLIT\") { orderItems(last: 2147483647) { edges { cursor } } } }",
            json!({"code": "FIRST_TOO_LARGE", "field": "orderItems", "requested": 2_147_483_647, "maxFirst": 100}),
        ),
        (
            "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } }",
            json!({"code": "COST_EXCEEDED", "estimatedCost": 20_100, "maxCost": 1000}),
        ),
        (
            // Seven levels: order, items, order, items, product, …
            "{ order(orderId: \"A\") { orderItems(first: 1) { edges { node { order { orderItems(first: 1) { edges { \
             node { order { orderItems(first: 1) { edges { node { order { orderId } } } } } } } } } } } } } }",
            json!({"code": "DEPTH_EXCEEDED", "depth": 7, "maxDepth": 6}),
        ),
        (
            "{ orders(first: 1, query: \"statusID:ORDER_HELD\") { edges { cursor } } }",
            json!({
                "code": "FIELD_NOT_FILTERABLE", "field": "orders", "key": "statusID", "offset": 0, "nearest": "statusId",
                "allowed": [
                    "orderId", "externalId", "orderName", "statusId", "orderDate", "productStoreId", "orderTypeId"
                ],
            }),
        ),
        (
            "{ orders(first: 1, query: \"orderId:A statusId:>ORDER_HELD\") { edges { cursor } } }",
            json!({
                "code": "OPERATOR_NOT_ALLOWED", "key": "statusId", "offset": 10, "comparator": ">",
                "allowed": ["equals", "in"],
            }),
        ),
        (
            "{ orders(first: 1, query: \"orderDate:2026-05-01\") { edges { cursor } } }",
            json!({
                "code": "OPERATOR_NOT_ALLOWED", "key": "orderDate", "offset": 0, "comparator": "equals",
                "allowed": [">", ">=", "<", "<="],
            }),
        ),
        (
            "{ orders(first: 1, query: \"orderId:A approved\") { edges { cursor } } }",
            json!({"code": "MALFORMED_QUERY", "term": "approved", "offset": 10}),
        ),
        (
            "{ orders(first: 1, query: \"orderDate:>yesterday\") { edges { cursor } } }",
            json!({"code": "MALFORMED_QUERY", "term": "orderDate:>yesterday", "offset": 0}),
        ),
    ] {
        assert_facts(&service.refused(&json!({ "query": query })), &expected, query);
    }
    // A connection without its page size is told where it stands.
    let errors = service.refused(&json!({ "query": "{\n  orders { edges { cursor } }\n}" }));
    assert_eq!(errors[0]["locations"], json!([{"line": 2, "column": 3}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_violation_is_told_once_in_the_order_of_the_document() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    let query = "{ a: orders { edges { cursor } } b: orders(first: 200, query: \"x x:y statusId:<A\") { edges { cursor } } \
                 c: order { orderId } }";
    let errors = service.refused(&json!({ "query": query }));
    let codes: Vec<_> = errors.iter().map(|entry| entry["extensions"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["FIRST_REQUIRED", "FIRST_TOO_LARGE", "MALFORMED_QUERY", "BAD_USER_INPUT"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_bucket_cannot_cover_is_not_paid_and_not_executed() {
    let profile = Profile { bucket_size: Some(10), restore_rate: Some(1), ..Profile::DEFAULT };
    let service = Service::start(profile, &[]).await;
    let eleven = json!({ "query": "{ orders(first: 1) { edges { node { orderId orderName externalId orderTypeId statusId \
        orderDate entryDate grandTotal remainingSubTotal currencyUomId } } } }" });
    let before = service.sent();
    for (accept, status) in [(JSON, 200), (NEWER, 429)] {
        let answer = service.ask(accept, &eleven);
        assert_eq!((answer.status, answer.code().as_str()), (status, "THROTTLED"));
        let body = answer.json();
        assert_eq!(body.get("data"), (accept == JSON).then_some(&Value::Null));
        // More than a full bucket holds: there is no use in waiting.
        assert_eq!(
            body["errors"][0]["extensions"],
            json!({"code": "THROTTLED", "requestedQueryCost": 11, "currentlyAvailable": 10, "retryAfterMs": null})
        );
        assert_eq!(answer.header("retry-after"), None);
        let throttle = json!({"maximumAvailable": 10, "currentlyAvailable": 10, "restoreRate": 1});
        assert_eq!(
            body["extensions"],
            json!({"cost": {"requestedQueryCost": 11, "actualQueryCost": 0, "throttleStatus": throttle}})
        );
    }
    assert_eq!(service.sent(), before);

    // Eight credits at once, of which one a second comes back: another eight have to wait.
    let eight = json!({ "query": "{ orders(first: 4) { edges { node { orderId } } } }" });
    assert!(service.ask(JSON, &eight).json()["data"]["orders"]["edges"].is_array());
    let before = service.sent();
    let throttled = service.ask(NEWER, &eight);
    assert_eq!((throttled.status, throttled.code().as_str()), (429, "THROTTLED"));
    let wait = throttled.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap();
    assert!((1..=6000).contains(&wait), "{wait}");
    assert_eq!(throttled.header("retry-after").unwrap(), wait.div_ceil(1000).to_string());
    assert_eq!(service.sent(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_past_its_deadline_is_paid() {
    let profile = Profile { deadline_ms: Some(300), ..Profile::DEFAULT };
    let service = Service::start(profile, &[]).await;
    let mut client = service.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    for (accept, status, left) in [(JSON, 200, 996), (NEWER, 504, 992)] {
        let answer = service.ask(accept, &json!({ "query": PROBE }));
        assert_eq!((answer.status, answer.code().as_str()), (status, "DEADLINE_EXCEEDED"));
        let body = answer.json();
        assert_eq!(body.get("data"), (accept == JSON).then_some(&Value::Null));
        assert_eq!(body["errors"][0]["extensions"], json!({"code": "DEADLINE_EXCEEDED", "deadlineMs": 300}));
        let throttle = json!({"maximumAvailable": 1000, "currentlyAvailable": left, "restoreRate": 0});
        assert_eq!(
            body["extensions"],
            json!({"cost": {"requestedQueryCost": 4, "actualQueryCost": 0, "throttleStatus": throttle}})
        );
    }
    // It was on its way, and was called back.
    while !service.sent().iter().any(|line| line.contains("canceling statement due to user request")) {}
    lock.rollback().await.unwrap();
    assert_eq!(service.left(), 988);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_cannot_be_used_are_refused_with_what_they_should_be() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    let page = "query Page($first: Int!, $after: String) { orders(first: $first, after: $after) { edges { cursor } } }";
    for (variables, expected) in [
        (json!({}), json!({"code": "BAD_USER_INPUT", "variable": "first", "type": "Int!"})),
        (json!({"first": null}), json!({"code": "BAD_USER_INPUT", "variable": "first", "type": "Int!"})),
        (json!({"first": "1"}), json!({"code": "BAD_USER_INPUT", "variable": "first", "type": "Int!"})),
        (json!({"first": 1.5}), json!({"code": "BAD_USER_INPUT", "variable": "first", "type": "Int!"})),
        (json!({"first": 2_147_483_648_u64}), json!({"code": "BAD_USER_INPUT", "variable": "first", "type": "Int!"})),
        (json!({"first": 1, "after": 7}), json!({"code": "BAD_USER_INPUT", "variable": "after", "type": "String"})),
        (json!({"first": 0}), json!({"code": "BAD_USER_INPUT", "field": "orders", "requested": 0})),
        (json!({"first": -5}), json!({"code": "BAD_USER_INPUT", "field": "orders", "requested": -5})),
    ] {
        let errors = service.refused(&json!({"query": page, "variables": variables}));
        assert_facts(&errors, &expected, &variables.to_string());
    }
    let alternatives = json!({"code": "BAD_USER_INPUT", "field": "order", "allowed": ["orderId", "externalId"]});
    for (query, expected) in [
        ("{ order { orderId } }", alternatives.clone()),
        ("{ order(orderId: null) { orderId } }", alternatives.clone()),
        ("{ order(orderId: \"A\", externalId: \"B\") { orderId } }", alternatives),
        ("{ orders(first: 1, last: 1) { edges { cursor } } }", json!({"code": "BAD_USER_INPUT", "field": "orders"})),
    ] {
        assert_facts(&service.refused(&json!({ "query": query })), &expected, query);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_are_good_where_they_were_made_and_nowhere_else() {
    let service = Service::start(Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT }, &[]).await;
    let query = "{ orders(first: 2, sortKey: ORDER_NAME) { edges { cursor } }
                   order(orderId: \"ORDER_SPLIT\") { orderItems(first: 1) { edges { cursor } } } }";
    let data = service.ask(JSON, &json!({ "query": query })).json();
    let cursor = data["data"]["orders"]["edges"][1]["cursor"].as_str().unwrap().to_owned();
    let of_item = data["data"]["order"]["orderItems"]["edges"][0]["cursor"].as_str().unwrap().to_owned();
    let good = format!("{{ orders(first: 2, sortKey: ORDER_NAME, after: \"{cursor}\") {{ edges {{ cursor }} }} }}");
    assert_eq!(service.ask(JSON, &json!({ "query": good })).json().get("errors"), None);

    let at = |field: &str, argument: &str, cursor: &str| {
        let field = field.replace('#', &format!("{argument}: \"{cursor}\""));
        (format!("{{ {field} {{ edges {{ cursor }} }} }}"), argument.to_owned())
    };
    let mut wrong = vec![
        at("orders(first: 2, sortKey: ORDER_ID, #)", "after", &cursor),
        at("orders(first: 2, #)", "after", &cursor),
        at("orders(first: 2, sortKey: ORDER_NAME, reverse: true, #)", "after", &cursor),
        at("orders(last: 2, sortKey: ORDER_NAME, reverse: true, #)", "before", &cursor),
        at("inventoryLevels(first: 2, #)", "after", &cursor),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &of_item),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "before", ""),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", "WALK_01"),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &format!("{cursor}=")),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &format!("{cursor}A")),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &cursor[1..]),
        at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &"A".repeat(100_000)),
    ];
    // Every single character counts.
    for place in 0..cursor.len() {
        let other = if &cursor[place..=place] == "A" { "B" } else { "A" };
        let tampered = format!("{}{other}{}", &cursor[..place], &cursor[place + 1..]);
        wrong.push(at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &tampered));
    }
    for (query, argument) in wrong {
        let expected = json!({"code": "BAD_USER_INPUT", "argument": argument});
        assert_facts(&service.refused(&json!({ "query": query })), &expected, &query);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_cannot_be_read_or_are_not_valid_are_refused() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    for (query, code) in [
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ order(", "GRAPHQL_PARSE_FAILED"),
        ("{ order(orderId: 'A') { orderId } }", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ order(orderId: \"A\") { orderID } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ order(orderId: \"A\") }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ orders(first: \"1\") { edges { cursor } } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ orders(first: 1, sortKey: PRICE) { edges { cursor } } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ orders(first: $first) { edges { cursor } } }", "GRAPHQL_VALIDATION_FAILED"),
        ("mutation { order(orderId: \"A\") { orderId } }", "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let errors = service.refused(&json!({ "query": query }));
        assert_eq!(errors[0]["extensions"]["code"], code, "{query}");
        assert!(errors[0]["locations"][0]["line"].is_u64(), "{query}: {errors:?}");
    }
    for body in [
        json!({"query": "query A { __typename } query B { __typename }"}),
        json!({"query": "query A { __typename } query B { __typename }", "operationName": "C"}),
    ] {
        let expected = json!({"code": "BAD_USER_INPUT", "operations": ["A", "B"]});
        assert_facts(&service.refused(&body), &expected, &body.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_guests_are_denied_before_anything_is_looked_at() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    service.left();
    let sent = service.sent();
    let guest = service.server.token("guest");
    for (token, status, code) in [("a.b.c", 401, "UNAUTHENTICATED"), (&guest, 403, "FORBIDDEN")] {
        for (accept, body) in [(JSON, json!({ "query": PROBE }).to_string()), (NEWER, "garbage".to_owned())] {
            let answer = service.server.post(token, accept, body);
            assert_eq!((answer.status, answer.code().as_str()), (status, code));
            assert_eq!(answer.json().get("data"), (accept == JSON).then_some(&Value::Null));
        }
    }
    assert_eq!(service.sent(), sent);
}

/// The specification's worked case: page sizes of ship groups and of their items, and what stands beside them.
fn worked_case(groups: u32, items: u32, beside: &str) -> String {
    format!(
        "query Screen($id: ID!) {{ order(orderId: $id) {{
           orderId orderName statusId orderDate grandTotal currencyUomId orderItemCount
           billToCustomer {{ partyId firstName lastName }} {beside}
           shipGroups(first: {groups}) {{ pageInfo {{ hasNextPage endCursor }} edges {{ cursor node {{
             orderId shipGroupSeqId facilityId carrierPartyId contactMechId shipmentMethodTypeId trackingNumber
             maySplit isGift giftMessage shipAfterDate shipByDate estimatedShipDate estimatedDeliveryDate
             orderItems(first: {items}) {{ edges {{ node {{ orderItemSeqId productId quantity unitPrice statusId }} }} }}
           }} }} }}
         }} }}"
    )
}

/// What the rows of an answer to the worked case come to, by the specification's rules.
fn worked_out(order: &Value) -> u64 {
    let rows = |parent: &Value, connection: &str| parent[connection]["edges"].as_array().map_or(Vec::new(), Vec::clone);
    let groups: u64 = rows(order, "shipGroups")
        .iter()
        .map(|group| 1 + 14 + 6 * rows(&group["node"], "orderItems").len() as u64)
        .sum();
    let payments = rows(order, "paymentPreferences").len() as u64;
    1 + 6 + 5 + (1 + 3) + groups + payments * (1 + 3)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worked_cases_cost_what_the_specification_says() {
    let service = Service::start(Profile::DEFAULT, &[]).await;
    let too_much = json!({"query": worked_case(10, 20, ""), "variables": {"id": "ORDER_SPLIT"}});
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 1366, "maxCost": 1000});
    assert_facts(&service.refused(&too_much), &expected, "the worked case");

    let payments = "paymentPreferences(first: 10) { edges { node { paymentMethodTypeId maxAmount statusId } } }";
    let mut left = service.left();
    for (beside, cost) in [("", 391), (payments, 431)] {
        let body = json!({"query": worked_case(5, 10, beside), "variables": {"id": "ORDER_SPLIT"}});
        let answer = service.ask(JSON, &body).json();
        assert_eq!(answer.get("errors"), None, "{answer}");
        let order = &answer["data"]["order"];
        assert!(order["billToCustomer"].is_object() && order["shipGroups"]["edges"].as_array().unwrap().len() > 1);
        left -= cost;
        let throttle = json!({"maximumAvailable": 1000, "currentlyAvailable": left, "restoreRate": 0});
        assert_eq!(
            answer["extensions"],
            json!({"cost": {
                "requestedQueryCost": cost, "actualQueryCost": worked_out(order), "throttleStatus": throttle
            }})
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_raised_bucket_raises_no_limit_and_a_raised_limit_does() {
    let bulk = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    let wide = Profile { max_cost: Some(20_100), max_depth: Some(7), max_page_size: Some(101), ..bulk };
    let service = Service::start(bulk, &[]).await;
    make_users(&mut service.connect().await, &[("wide", wide)]).await;
    // Until the service has heard of the new user, there is no token for it.
    while service.server.sign_in("/auth/token", "wide", "wide").status != 200 {}
    let token = service.server.token("wide");

    let costs = |query: &str| {
        let answer = service.server.query(&token, query).json();
        assert_eq!(answer.get("errors"), None, "{query}: {answer}");
        answer["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap()
    };
    let items = "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } }";
    assert_eq!(costs(items), 20_100);
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 20_100, "maxCost": 1000});
    assert_facts(&service.refused(&json!({ "query": items })), &expected, items);
    assert_eq!(costs("{ orders(first: 101) { edges { cursor } } }"), 101);
    let more = "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } \
                order(orderId: \"A\") { __typename } }";
    let answer = service.server.query(&token, more);
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 20_101, "maxCost": 20_100});
    assert_facts(answer.json()["errors"].as_array().unwrap(), &expected, more);
    let answer = service.server.query(&token, "{ orders(first: 102) { edges { cursor } } }");
    assert_eq!(answer.json()["errors"][0]["extensions"]["maxFirst"], 101);
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_are_the_specifications() {
    let service = Service::start(Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT }, &[]).await;
    let search =
        |terms: &str| format!("{{ orders(first: 1, query: \"{terms}\") {{ edges {{ node {{ orderId }} }} }} }}");
    for (query, cost) in [
        (PROBE.to_owned(), 4),
        (search(""), 2),
        (search("orderId:ORDER_SPLIT externalId:SC-1001 productStoreId:9000"), 2),
        (search("statusId:ORDER_APPROVED"), 52),
        (search("orderDate:>=2026-03-01"), 52),
        (search("statusId:ORDER_APPROVED,ORDER_HELD orderDate:>=2026-03-01"), 102),
        (search("orderDate:>=2026-03-01 orderDate:<2026-03-02"), 102),
        ("{ __typename }".to_owned(), 0),
        ("{ order(orderId: \"ORDER_SPLIT\") { orderItemCount } }".to_owned(), 6),
        (
            "{ orders(first: 7) { edges { cursor node { __typename } } pageInfo { hasNextPage hasPreviousPage } } }"
                .to_owned(),
            7,
        ),
        ("{ order(orderId: \"ORDER_SPLIT\") { a: orderId b: orderId orderId orderId } }".to_owned(), 4),
    ] {
        let left = service.left();
        let answer = service.ask(JSON, &json!({ "query": query })).json();
        let told = &answer["extensions"]["cost"];
        assert_eq!(told["requestedQueryCost"], cost, "{query}: {answer}");
        assert!(told["actualQueryCost"].as_u64().unwrap() <= cost, "{query}: {told}");
        assert_eq!(service.left(), left - cost - 4, "{query}");
    }
}
