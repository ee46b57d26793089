//! The feed of records of stock: which ones transactions changed, as SQL knows it, each once for a commit, and how they are now.

use std::collections::BTreeSet;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::{Database, sampled_database};
use crate::support::server::Server;
use crate::support::users::create_users;

struct Feed {
    server: Server,
    bearer: String,
}

impl Feed {
    async fn of(database: &Database) -> Self {
        let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
        create_users(&mut database.connect().await, &[("demo", profile)]).await;
        let server = Server::start(database, &[]);
        let bearer = server.token("demo");
        Self { server, bearer }
    }

    fn data(&self, query: &str) -> Value {
        let mut response = self.server.query(&self.bearer, query).json();
        assert!(response.get("errors").is_none(), "{response}");
        response["data"].take()
    }
}

/// The changes after a token, page by page, and the last token.
fn changes(feed: &Feed, token: &str) -> (Vec<Value>, String) {
    let (mut nodes, mut token) = (Vec::new(), token.to_owned());
    loop {
        let query = format!(
            "{{ inventoryItemChanges(first: 7, after: {}) {{
                edges {{ node {{ inventoryItemId inventoryItem {{ availableToPromiseTotal facilityId }} }} }}
                pageInfo {{ hasNextPage endCursor }} }} }}",
            json!(token)
        );
        let page = feed.data(&query)["inventoryItemChanges"].take();
        nodes.extend(page["edges"].as_array().unwrap().iter().map(|edge| edge["node"].clone()));
        page["pageInfo"]["endCursor"].as_str().unwrap().clone_into(&mut token);
        if page["pageInfo"]["hasNextPage"] == false {
            return (nodes, token);
        }
    }
}

fn first_token(feed: &Feed) -> String {
    let page = feed.data("{ inventoryItemChanges(first: 1) { edges { cursor } pageInfo { endCursor } } }");
    assert_eq!(page["inventoryItemChanges"]["edges"], json!([]));
    page["inventoryItemChanges"]["pageInfo"]["endCursor"].as_str().unwrap().to_owned()
}

async fn ids(database: &Database, sql: &str) -> BTreeSet<String> {
    let client = database.connect().await;
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_has_each_record_of_stock_that_changed_as_it_is_now() {
    let database = sampled_database().await;
    let feed = Feed::of(&database).await;
    let client = database.connect().await;
    let start = first_token(&feed);
    assert_eq!(changes(&feed, &start).0, Vec::<Value>::new());

    // As OFBiz writes: a detail, and the totals of its record. Then a correction, in one statement, and a record that goes.
    let fewer = "SELECT inventory_item_id FROM inventory_item WHERE product_id IN ('SK00010', 'SK00011')";
    let mut expected = ids(&database, fewer).await;
    assert!(expected.len() > 7, "{expected:?}");
    client
        .batch_execute(&format!(
            "BEGIN;
             INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, available_to_promise_diff, effective_date)
             SELECT inventory_item_id, 'NEW', -1, now() FROM inventory_item WHERE inventory_item_id IN ({fewer});
             UPDATE inventory_item SET available_to_promise_total = available_to_promise_total - 1 WHERE inventory_item_id IN ({fewer});
             COMMIT;"
        ))
        .await
        .unwrap();
    let (found, token) = changes(&feed, &start);
    let found_ids: BTreeSet<_> =
        found.iter().map(|node| node["inventoryItemId"].as_str().unwrap().to_owned()).collect();
    assert_eq!((found_ids, found.len()), (expected.clone(), expected.len()));
    for node in &found {
        let sql =
            "SELECT available_to_promise_total::text, facility_id FROM inventory_item WHERE inventory_item_id = $1";
        let row = client.query_one(sql, &[&node["inventoryItemId"].as_str().unwrap()]).await.unwrap();
        let (total, facility): (Option<String>, Option<String>) = (row.get(0), row.get(1));
        assert_eq!(node["inventoryItem"], json!({ "availableToPromiseTotal": total, "facilityId": facility }));
    }

    client
        .batch_execute(
            "INSERT INTO inventory_item (inventory_item_id, product_id) VALUES ('CAME', 'SK00012'), ('WENT', 'SK00012');
             DELETE FROM inventory_item WHERE inventory_item_id = 'WENT'",
        )
        .await
        .unwrap();
    let (found, token) = changes(&feed, &token);
    let none = json!({ "availableToPromiseTotal": null, "facilityId": null });
    assert_eq!(
        found,
        [
            json!({ "inventoryItemId": "CAME", "inventoryItem": none }),
            json!({ "inventoryItemId": "WENT", "inventoryItem": null })
        ]
    );
    // What changed only elsewhere changed no record.
    client.batch_execute("UPDATE product_facility SET minimum_stock = 7").await.unwrap();
    assert_eq!(changes(&feed, &token).0, Vec::<Value>::new());
    // From the first token, each record comes once.
    expected.extend(["CAME".to_owned(), "WENT".to_owned()]);
    let (found, _) = changes(&feed, &start);
    let found: BTreeSet<_> = found.iter().map(|node| node["inventoryItemId"].as_str().unwrap().to_owned()).collect();
    assert_eq!(found, expected);
}
