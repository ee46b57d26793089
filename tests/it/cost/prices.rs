//! Costs of queries over HTTP.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::http::JSON;
use crate::support::metered_server::{MeteredServer, PROBE, assert_extensions};
use crate::support::users::create_users;

/// The specification's worked case, with page sizes of the ship groups and of their items, and more fields of the order.
fn worked_case(groups: u32, items: u32, more: &str) -> String {
    format!(
        "query Screen($id: ID!) {{ order(orderId: $id) {{
           orderId orderName statusId orderDate grandTotal currencyUomId orderItemCount
           billToCustomer {{ partyId firstName lastName }} {more}
           shipGroups(first: {groups}) {{ pageInfo {{ hasNextPage endCursor }} edges {{ cursor node {{
             orderId shipGroupSeqId facilityId carrierPartyId contactMechId shipmentMethodTypeId trackingNumber
             maySplit isGift giftMessage shipAfterDate shipByDate estimatedShipDate estimatedDeliveryDate
             orderItems(first: {items}) {{ edges {{ node {{ orderItemSeqId productId quantity unitPrice statusId }} }} }}
           }} }} }}
         }} }}"
    )
}

/// The cost of the rows of a response to the worked case, by the specification's rules.
fn actual_cost(order: &Value) -> u64 {
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
    let server = MeteredServer::start(Profile::DEFAULT, &[]).await;
    let too_expensive = json!({"query": worked_case(10, 20, ""), "variables": {"id": "ORDER_SPLIT"}});
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 1366, "maxCost": 1000});
    assert_extensions(&server.rejects(&too_expensive), &expected, "the worked case");

    let payments = "paymentPreferences(first: 10) { edges { node { paymentMethodTypeId maxAmount statusId } } }";
    let mut available = server.available();
    for (more, cost) in [("", 391), (payments, 431)] {
        let body = json!({"query": worked_case(5, 10, more), "variables": {"id": "ORDER_SPLIT"}});
        let response = server.query(JSON, &body).json();
        assert_eq!(response.get("errors"), None, "{response}");
        let order = &response["data"]["order"];
        assert!(order["billToCustomer"].is_object() && order["shipGroups"]["edges"].as_array().unwrap().len() > 1);
        available -= cost;
        let throttle = json!({"maximumAvailable": 1000, "currentlyAvailable": available, "restoreRate": 0});
        assert_eq!(
            response["extensions"],
            json!({"cost": {
                "requestedQueryCost": cost, "actualQueryCost": actual_cost(order), "throttleStatus": throttle
            }})
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_larger_bucket_raises_no_limit() {
    let bulk = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    let wide = Profile { max_cost: Some(20_100), max_depth: Some(7), max_page_size: Some(101), ..bulk };
    let server = MeteredServer::start(bulk, &[]).await;
    create_users(&mut server.connect().await, &[("wide", wide)]).await;
    // Signing in fails until the server knows the new user.
    while server.server.sign_in("/auth/token", "wide", "wide").status != 200 {}
    let token = server.server.token("wide");

    let cost = |query: &str| {
        let response = server.server.query(&token, query).json();
        assert_eq!(response.get("errors"), None, "{query}: {response}");
        response["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap()
    };
    let items = "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } }";
    assert_eq!(cost(items), 20_100);
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 20_100, "maxCost": 1000});
    assert_extensions(&server.rejects(&json!({ "query": items })), &expected, items);
    assert_eq!(cost("{ orders(first: 101) { edges { cursor } } }"), 101);
    let more = "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } \
                order(orderId: \"A\") { __typename } }";
    let response = server.server.query(&token, more);
    let expected = json!({"code": "COST_EXCEEDED", "estimatedCost": 20_101, "maxCost": 20_100});
    assert_extensions(response.json()["errors"].as_array().unwrap(), &expected, more);
    let response = server.server.query(&token, "{ orders(first: 102) { edges { cursor } } }");
    assert_eq!(response.json()["errors"][0]["extensions"]["maxFirst"], 101);
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_follow_the_specification() {
    let server = MeteredServer::start(Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT }, &[]).await;
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
        let available = server.available();
        let response = server.query(JSON, &json!({ "query": query })).json();
        let costs = &response["extensions"]["cost"];
        assert_eq!(costs["requestedQueryCost"], cost, "{query}: {response}");
        assert!(costs["actualQueryCost"].as_u64().unwrap() <= cost, "{query}: {costs}");
        assert_eq!(server.available(), available - cost - 4, "{query}");
    }
}
