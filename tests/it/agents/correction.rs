//! `explain_error` corrects nearly all of the broken queries of the tests of mending, but for those that mean something else.

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use serde_json::json;

use crate::agents::client::Agent;
use crate::query::mending::mistakes::CHANGES_MEANING;
use crate::query::mending::{broken, queries, variables};
use crate::support::server::server_with_demo_user;

#[tokio::test(flavor = "multi_thread")]
async fn explain_error_corrects_nearly_all_broken_queries() {
    let broken = broken(&Catalog::built_in().unwrap());
    let profile = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &[]).await;
    let mut agent = Agent::start(&server, &token);
    let (mut mendable, mut failed) = (0, Vec::new());
    for (kind, query, _) in &broken {
        let explained = agent.call("explain_error", &json!({ "error": {}, "query": query, "variables": variables() }));
        assert!(!explained.is_error && explained.bytes < 16_000, "{query}: {explained:?}");
        assert!(explained.content["sdl"].as_str().unwrap().len() <= 1024, "{query}: {explained:?}");
        let corrected = &explained.content["corrected"];
        if CHANGES_MEANING.contains(kind) {
            assert!(corrected.is_null(), "{kind}: {query}\n{corrected}");
            continue;
        }
        mendable += 1;
        if corrected.is_null() {
            failed.push(format!("{kind}: {query}\n  {}", explained.content["notCorrected"][0]["message"]));
            continue;
        }
        // The server accepts what is offered, without another look.
        let run = json!({ "query": corrected["query"], "variables": corrected["variables"], "maxCost": 1000, "maxBytes": 1_000_000 });
        let run = agent.call("run_query", &run);
        assert!(!run.is_error, "{query}: {corrected}\n{run:?}");
    }
    println!("{mendable} broken queries, {} corrected", mendable - failed.len());
    assert!(mendable >= 280 && failed.len() * 20 <= mendable, "{} of {mendable}:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_query_asks_for_is_named_and_not_dropped() {
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    let mut agent = Agent::start(&server, &token);
    for query in queries("without_equivalent.graphql") {
        let explained = agent.call("explain_error", &json!({ "error": {}, "query": query })).content;
        assert!(explained["corrected"].is_null() && explained["notCorrected"][0].is_object(), "{query}: {explained:#}");
    }
    let mut dropped =
        |query: &str| agent.call("explain_error", &json!({ "error": {}, "query": query })).content["dropped"].clone();
    let shipments = dropped("{ shipments(first: 5, query: \"carrierPartyId:UPS\") { edges { node { shipmentId } } } }");
    assert_eq!(
        shipments,
        json!([{ "line": 1, "column": 3, "text": "carrierPartyId:UPS", "elsewhere": ["shipment.carrierPartyId", "order.shipGroups.carrierPartyId", "shipment.routeSegments.carrierPartyId"] }])
    );
    let orders = dropped("{ orders(first: 5, query: \"customerName:Moreau\") { edges { node { orderId } } } }");
    assert!(orders[0]["elsewhere"].as_array().unwrap().contains(&json!("parties(query: \"lastName:…\")")), "{orders}");
    let product = dropped("{ productByBarcode(code: \"1\") { productId } }");
    assert_eq!(product[0]["elsewhere"][0], "productByIdentification");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_says_what_it_changes_and_leaves_out() {
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    let mut agent = Agent::start(&server, &token);
    let query = "{ orders(limit: 5, status: \"ORDER_HELD\") { edges { node { ordrId loyaltyPoints } } } }";
    let explained = agent.call("explain_error", &json!({ "error": {}, "query": query })).content;
    assert_eq!(
        explained["corrected"]["query"],
        "{ orders(first: 5, query: \"statusId:ORDER_HELD\") { edges { node { orderId __typename } } } }"
    );
    assert_eq!(
        explained["corrected"]["changes"],
        json!([
            { "line": 1, "column": 10, "from": "limit", "to": "first" },
            { "line": 1, "column": 20, "from": "status", "to": "query" },
            { "line": 1, "column": 28, "from": "\"ORDER_HELD\"", "to": "\"statusId:ORDER_HELD\"" },
            { "line": 1, "column": 59, "from": "ordrId loyaltyPoints", "to": "orderId __typename" },
        ])
    );
    assert_eq!(explained["dropped"], json!([{ "line": 1, "column": 66, "text": "loyaltyPoints" }]));
    // Another name than the one that is meant is no correction: amounts are not their number.
    let payments = "{ order(orderId: \"X\") { orderId payments { amount } } }";
    let explained = agent.call("explain_error", &json!({ "error": {}, "query": payments })).content;
    let query = explained["corrected"]["query"].as_str().unwrap();
    assert!(!query.contains("count"), "{query}");
    assert_eq!(explained["dropped"][0]["text"], "amount", "{explained:#}");
}
