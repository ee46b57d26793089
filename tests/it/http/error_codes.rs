//! Error codes over HTTP: the response for either media type, no statement for PostgreSQL, and no debit.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::built_in::search_keys;
use crate::support::http::{GRAPHQL_JSON, JSON};
use crate::support::metered_server::{MeteredServer, PROBE, assert_extensions};

#[tokio::test(flavor = "multi_thread")]
async fn rejects_invalid_fields_searches_and_costs_with_a_code_and_the_facts() {
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
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
                "allowed": search_keys("orders"),
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
        (
            "{ orders(first: 1, query: \"statusId:!=ORDER_HELD\") { edges { cursor } } }",
            json!({
                "code": "OPERATOR_NOT_ALLOWED", "key": "statusId", "offset": 0, "comparator": "!=",
                "allowed": ["equals", "in"],
            }),
        ),
        (
            "{ orders(first: 1, query: \"-statusId:ORDER_HELD\") { edges { cursor } } }",
            json!({"code": "FIELD_NOT_FILTERABLE", "key": "-statusId", "offset": 0, "nearest": "statusId"}),
        ),
        (
            "{ orders(first: 1, query: \"orderName:#10*\") { edges { cursor } } }",
            json!({"code": "MALFORMED_QUERY", "term": "orderName:#10*", "offset": 0}),
        ),
    ] {
        assert_extensions(&server.rejects(&json!({ "query": query })), &expected, query);
    }
    // A list and a request have limits of their own, whatever they cost.
    let list = |count: usize| (0..count).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    let levels = |search: &str| format!("inventoryLevels(first: 1, query: \"{search}\") {{ edges {{ cursor }} }}");
    let repeated = format!("{{ {} }}", levels(&format!("productId:{0},{0}", list(100))));
    assert_eq!(server.query(JSON, &json!({ "query": repeated })).json().get("errors"), None);
    let roots = |count: usize, search: &str| {
        let root = |number| format!("r{number}: {} ", levels(search));
        format!("{{ {} }}", (0..count).map(root).collect::<Vec<_>>().concat())
    };
    for (query, expected) in [
        (
            roots(1, &format!("productId:{}", list(101))),
            json!({"code": "BAD_USER_INPUT", "key": "productId", "offset": 0, "values": 101, "maxValues": 100}),
        ),
        (roots(11, &format!("productId:{}", list(100))), json!({"code": "BAD_USER_INPUT", "maxValues": 1000})),
        (roots(41, &["productId:1"; 5].join(" ")), json!({"code": "BAD_USER_INPUT", "maxTerms": 200})),
    ] {
        assert_extensions(&server.rejects(&json!({ "query": query })), &expected, &query);
    }
    // The error has the location of the connection without a page size.
    let errors = server.rejects(&json!({ "query": "{\n  orders { edges { cursor } }\n}" }));
    assert_eq!(errors[0]["locations"], json!([{"line": 2, "column": 3}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_every_error_once_in_document_order() {
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
    let query = "{ a: orders { edges { cursor } } b: orders(first: 200, query: \"x x:y statusId:<A\") { edges { cursor } } \
                 c: order { orderId } }";
    let errors = server.rejects(&json!({ "query": query }));
    let codes: Vec<_> = errors.iter().map(|entry| entry["extensions"]["code"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        [
            "FIRST_REQUIRED",
            "FIRST_TOO_LARGE",
            "MALFORMED_QUERY",
            "FIELD_NOT_FILTERABLE",
            "OPERATOR_NOT_ALLOWED",
            "BAD_USER_INPUT"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_debits_nor_executes_a_throttled_query() {
    let profile = Profile { bucket_size: Some(10), restore_rate: Some(1), ..Profile::DEFAULT };
    let server = MeteredServer::start(profile, &[]).await;
    // The first query takes eight of ten credits, and one credit is restored each second. The second query has to wait.
    let eight = json!({ "query": "{ orders(first: 4) { edges { node { orderId } } } }" });
    assert!(server.query(JSON, &eight).json()["data"]["orders"]["edges"].is_array());
    let before = server.statements();
    for (accept, status) in [(JSON, 200), (GRAPHQL_JSON, 429)] {
        let throttled = server.query(accept, &eight);
        assert_eq!((throttled.status, throttled.code().as_str()), (status, "THROTTLED"));
        let body = throttled.json();
        assert_eq!(body.get("data"), (accept == JSON).then_some(&Value::Null));
        let (extensions, cost) = (&body["errors"][0]["extensions"], &body["extensions"]["cost"]);
        let available = &cost["throttleStatus"]["currentlyAvailable"];
        assert_eq!((&extensions["requestedQueryCost"], &extensions["currentlyAvailable"]), (&json!(8), available));
        assert_eq!((&cost["requestedQueryCost"], &cost["actualQueryCost"]), (&json!(8), &json!(0)));
        let wait = extensions["retryAfterMs"].as_u64().unwrap();
        assert!((1..=6000).contains(&wait), "{wait}");
        assert_eq!(throttled.header("retry-after").unwrap(), wait.div_ceil(1000).to_string());
    }
    assert_eq!(server.statements(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn debits_a_query_past_its_deadline() {
    let profile = Profile { deadline_ms: Some(300), ..Profile::DEFAULT };
    let server = MeteredServer::start(profile, &[]).await;
    let mut client = server.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    for (accept, status, left) in [(JSON, 200, 996), (GRAPHQL_JSON, 504, 992)] {
        let response = server.query(accept, &json!({ "query": PROBE }));
        assert_eq!((response.status, response.code().as_str()), (status, "DEADLINE_EXCEEDED"));
        let body = response.json();
        assert_eq!(body.get("data"), (accept == JSON).then_some(&Value::Null));
        assert_eq!(body["errors"][0]["extensions"], json!({"code": "DEADLINE_EXCEEDED", "deadlineMs": 300}));
        let throttle = json!({"maximumAvailable": 1000, "currentlyAvailable": left, "restoreRate": 0});
        assert_eq!(
            body["extensions"],
            json!({"cost": {"requestedQueryCost": 4, "actualQueryCost": 0, "throttleStatus": throttle}})
        );
    }
    // PostgreSQL received the statement and cancelled it.
    while !server.statements().iter().any(|line| line.contains("canceling statement due to user request")) {}
    lock.rollback().await.unwrap();
    assert_eq!(server.available(), 988);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_invalid_values_and_names_what_is_expected() {
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
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
        let errors = server.rejects(&json!({"query": page, "variables": variables}));
        assert_extensions(&errors, &expected, &variables.to_string());
    }
    let alternatives = json!({"code": "BAD_USER_INPUT", "field": "order", "allowed": ["orderId", "externalId"]});
    for (query, expected) in [
        ("{ order { orderId } }", alternatives.clone()),
        ("{ order(orderId: null) { orderId } }", alternatives.clone()),
        ("{ order(orderId: \"A\", externalId: \"B\") { orderId } }", alternatives),
        ("{ orders(first: 1, last: 1) { edges { cursor } } }", json!({"code": "BAD_USER_INPUT", "field": "orders"})),
    ] {
        assert_extensions(&server.rejects(&json!({ "query": query })), &expected, query);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_a_cursor_of_another_connection_sort_key_or_direction() {
    let server = MeteredServer::start(Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT }, &[]).await;
    let query = "{ orders(first: 2, sortKey: ORDER_NAME) { edges { cursor } }
                   order(orderId: \"ORDER_SPLIT\") { orderItems(first: 1) { edges { cursor } } } }";
    let data = server.query(JSON, &json!({ "query": query })).json();
    let cursor = data["data"]["orders"]["edges"][1]["cursor"].as_str().unwrap().to_owned();
    let of_item = data["data"]["order"]["orderItems"]["edges"][0]["cursor"].as_str().unwrap().to_owned();
    let good = format!("{{ orders(first: 2, sortKey: ORDER_NAME, after: \"{cursor}\") {{ edges {{ cursor }} }} }}");
    assert_eq!(server.query(JSON, &json!({ "query": good })).json().get("errors"), None);

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
    // A change of any single character is noticed.
    for index in 0..cursor.len() {
        let other = if &cursor[index..=index] == "A" { "B" } else { "A" };
        let tampered = format!("{}{other}{}", &cursor[..index], &cursor[index + 1..]);
        wrong.push(at("orders(first: 2, sortKey: ORDER_NAME, #)", "after", &tampered));
    }
    for (query, argument) in wrong {
        let expected = json!({"code": "BAD_USER_INPUT", "argument": argument});
        assert_extensions(&server.rejects(&json!({ "query": query })), &expected, &query);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_documents_that_do_not_parse_or_validate() {
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
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
        let errors = server.rejects(&json!({ "query": query }));
        assert_eq!(errors[0]["extensions"]["code"], code, "{query}");
        assert!(errors[0]["locations"][0]["line"].is_u64(), "{query}: {errors:?}");
    }
    for body in [
        json!({"query": "query A { __typename } query B { __typename }"}),
        json!({"query": "query A { __typename } query B { __typename }", "operationName": "C"}),
    ] {
        let expected = json!({"code": "BAD_USER_INPUT", "operations": ["A", "B"]});
        assert_extensions(&server.rejects(&body), &expected, &body.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_callers_without_a_token_or_grant_before_reading_the_body() {
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
    server.available();
    let statements = server.statements();
    let guest = server.server.token("guest");
    for (token, status, code) in [("a.b.c", 401, "UNAUTHENTICATED"), (&guest, 403, "FORBIDDEN")] {
        for (accept, body) in [(JSON, json!({ "query": PROBE }).to_string()), (GRAPHQL_JSON, "garbage".to_owned())] {
            let response = server.server.post(token, accept, body);
            assert_eq!((response.status, response.code().as_str()), (status, code));
            assert_eq!(response.json().get("data"), (accept == JSON).then_some(&Value::Null));
        }
    }
    assert_eq!(server.statements(), statements);
}
