//! Prices and features of products, at all times and now.

use serde_json::json;

use crate::support::database::loaded_database;
use crate::support::query_runner::QueryRunner;

#[tokio::test]
async fn the_roots_have_what_is_over_and_a_product_has_what_is_current() {
    let database = loaded_database().await;
    let runner = QueryRunner::new(&database);
    let data = runner
        .data(
            r#"{
              productFeatureAppls(first: 10, query: "productId:SHIRT_S") {
                edges { node { productFeatureId thruDate feature { productFeatureId description } } }
              }
              productPrices(first: 10, query: "productId:SHIRT_S") { edges { node { price thruDate } } }
              product(productId: "SHIRT_S") {
                features(first: 10) { edges { node { description fromDate } } }
                prices(first: 10) { edges { node { productId price } } }
              }
            }"#,
        )
        .await;
    let over = json!("2026-01-01T00:00:00Z");
    let applied = |id: &str, description: &str, thru| {
        let feature = json!({ "productFeatureId": id, "description": description });
        json!({ "node": { "productFeatureId": id, "thruDate": thru, "feature": feature } })
    };
    assert_eq!(
        data["productFeatureAppls"]["edges"],
        json!([
            applied("FEAT_SIZE_S", "Small", json!(null)),
            applied("FEAT_BLUE", "Blue", json!(null)),
            applied("FEAT_GREEN", "Green", over.clone()),
        ])
    );
    assert_eq!(
        data["productPrices"]["edges"],
        json!([
            { "node": { "price": "17.990", "thruDate": over } },
            { "node": { "price": "19.990", "thruDate": null } },
            { "node": { "price": "24.990", "thruDate": "2999-01-01T00:00:00Z" } },
        ])
    );
    let now = json!("2026-01-01T00:00:00Z");
    assert_eq!(
        data["product"],
        json!({
            "features": { "edges": [
                { "node": { "description": "Blue", "fromDate": now } },
                { "node": { "description": "Small", "fromDate": now } },
            ] },
            "prices": { "edges": [
                { "node": { "productId": "SHIRT_S", "price": "19.990" } },
                { "node": { "productId": "SHIRT_S", "price": "24.990" } },
            ] },
        })
    );
}
