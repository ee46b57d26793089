//! The generated sample: it is reproducible and varied, and it leaves indexes and existing rows unchanged.

use std::collections::BTreeSet;
use std::error::Error;

use orderql::catalog::connection::Connection;
use orderql::sample::error::SampleError;
use orderql::sample::fill::{FillProgress, FillStep, Sample, fill};
use orderql::sample::size::SampleSize;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::sample::properties;
use crate::support::database::{
    Database, empty_database, loaded_database, migrated_database, sampled_database, table_digests,
};
use crate::support::query_runner::QueryRunner;

/// Fills the database with a sample.
async fn filled(database: &Database, orders: u32, seed: u64) -> Client {
    let mut client = database.connect().await;
    let rows = fill(&mut client, Sample { size: SampleSize::of(orders), seed }, &mut |_| {}).await.unwrap().rows;
    assert!(rows > u64::from(orders) * 20, "{rows}");
    client
}

#[tokio::test]
async fn the_same_size_and_seed_give_the_same_rows() {
    let [one, same, other] = [migrated_database().await, migrated_database().await, migrated_database().await];
    let one = table_digests(&filled(&one, 300, 7).await, &[]).await;
    let same = table_digests(&filled(&same, 300, 7).await, &[]).await;
    assert_eq!(one, same);
    let other = table_digests(&filled(&other, 300, 8).await, &[]).await;
    for table in ["order_header", "order_item", "person", "facility", "shipment", "inventory_item"] {
        assert_ne!(one[table], other[table], "{table}");
    }
}

#[tokio::test]
async fn has_the_variety_that_tests_need() {
    let database = sampled_database().await;
    let client = database.connect().await;
    let mut violated = Vec::new();
    for (property, sql) in properties::ALL {
        let holds: Option<bool> =
            client.query_one(*sql, &[]).await.unwrap_or_else(|error| panic!("{property}: {error}")).get(0);
        if holds != Some(true) {
            violated.push(property);
        }
    }
    assert!(violated.is_empty(), "{violated:#?}");
}

/// Every collection root has rows, and every nullable sort key has nulls and repeated values. Pagination returns each row once.
#[tokio::test]
async fn every_root_can_be_paged_through_by_every_sort_key() {
    let database = sampled_database().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let query = runner.catalog().object(runner.catalog().query()).unwrap();
    let mut roots = 0;
    for (field, binding) in runner.catalog().fields_of(query) {
        let Some(connection) = binding.connection() else { continue };
        roots += 1;
        for sort_key in &connection.sort_keys {
            let name = format!("{} by {}", field.name, sort_key.name);
            let (rows, values, nulls) = counts(&client, connection, &sort_key.columns[0].name).await;
            assert!(rows > 0, "{name}");
            // The reference data has few rejection reasons, each with its place among them. Every row has a stamp of its own.
            if sort_key.nullable && field.name != "rejectionReasons" && sort_key.name != "LAST_UPDATED_STAMP" {
                // Returns are entered at a moment each. Items move at one, and shipments leave at one.
                let is_moment = ["facilityChanges", "shippedShipments"].contains(&field.name.as_str());
                let repeats = values < rows - nulls || is_moment || name == "returns by RETURN_DATE";
                // Changes of stock and payment preferences always have their moment, too, and adjustments their order.
                let is_dated = [
                    "inventoryItemDetails by EFFECTIVE_DATE",
                    "paymentPreferences by CREATED_DATE",
                    "orderAdjustments by ORDER_ID",
                ];
                let has_nulls = nulls > 0 || is_moment || is_dated.contains(&name.as_str());
                assert!(has_nulls && repeats, "{name}: {rows} rows, {values} values, {nulls} nulls");
            }
            assert_eq!(page_through(&runner, &field.name, &sort_key.name).await, rows, "{name}");
        }
    }
    assert!(roots > 10);
}

/// The numbers of rows, of distinct values of a column, and of nulls in it.
async fn counts(client: &Client, connection: &Connection, column: &str) -> (i64, i64, i64) {
    let relation = &connection.relation;
    let sql = format!("SELECT count(*), count(DISTINCT {column}), count(*) - count({column}) FROM {relation}");
    let row = client.query_one(&sql, &[]).await.unwrap();
    (row.get(0), row.get(1), row.get(2))
}

/// Pages through all rows and returns their number. Panics if a row comes twice.
async fn page_through(runner: &QueryRunner, root: &str, sort_key: &str) -> i64 {
    let query = format!(
        "query Page($after: String) {{ {root}(first: 499, sortKey: {sort_key}, after: $after) \
         {{ edges {{ cursor }} pageInfo {{ hasNextPage endCursor }} }} }}"
    );
    let mut seen = BTreeSet::new();
    let mut count = 0;
    let mut after = Value::Null;
    loop {
        let Value::Object(variables) = json!({ "after": after }) else { panic!("variables are an object") };
        let page = runner.run(&query, variables).await.data()[root].take();
        for edge in page["edges"].as_array().unwrap() {
            count += 1;
            assert!(seen.insert(edge["cursor"].as_str().unwrap().to_owned()), "twice in {root} by {sort_key}");
        }
        if page["pageInfo"]["hasNextPage"] == false {
            return count;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

#[tokio::test]
async fn an_order_has_customer_items_and_ship_groups() {
    let database = sampled_database().await;
    let client = database.connect().await;
    let sql = "SELECT order_id FROM order_item_ship_group JOIN order_role USING (order_id) JOIN person USING (party_id)
               WHERE role_type_id = 'BILL_TO_CUSTOMER' AND first_name IS NOT NULL AND last_name IS NOT NULL
                 AND facility_id LIKE 'SF%' GROUP BY order_id HAVING count(*) = 2 ORDER BY order_id LIMIT 1";
    let order: String = client.query_one(sql, &[]).await.unwrap().get(0);
    let query = format!(
        r#"{{ order(orderId: "{order}") {{ orderItemCount billToCustomer {{ firstName lastName }}
            orderItems(first: 10) {{ edges {{ node {{ product {{ productId }} }} }} }}
            shipGroups(first: 5) {{ edges {{ node {{
                shipFromAddress {{ city latitude }} shippingMethod {{ description }}
                orderItems(first: 10) {{ edges {{ node {{ orderItemSeqId }} }} }} }} }} }} }} }}"#
    );
    let order = QueryRunner::new(&database).data(&query).await["order"].take();
    assert!(order["billToCustomer"]["lastName"].is_string(), "{order:#}");
    let groups = order["shipGroups"]["edges"].as_array().unwrap();
    let mut items = 0;
    for group in groups {
        let group = &group["node"];
        assert!(group["shipFromAddress"]["latitude"].is_string(), "{order:#}");
        assert!(group["shippingMethod"]["description"].is_string(), "{order:#}");
        items += group["orderItems"]["edges"].as_array().unwrap().len();
    }
    assert!(!groups.is_empty() && items == order["orderItems"]["edges"].as_array().unwrap().len(), "{order:#}");
}

/// The parts of the schema that filling drops and restores: indexes, constraints, triggers and comments.
async fn structure(client: &Client) -> BTreeSet<String> {
    let sql = "SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', 'orderql')
         UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || convalidated || ' ' || pg_get_constraintdef(oid)
            FROM pg_constraint WHERE conrelid <> 0
         UNION ALL SELECT tgrelid::regclass || ' ' || tgenabled::text || ' ' || pg_get_triggerdef(oid)
            FROM pg_trigger WHERE NOT tgisinternal
         UNION ALL SELECT tgrelid::regclass || ' ' || tgenabled::text || ' ' || tgfoid::regproc || ' ' || count(*)
            FROM pg_trigger WHERE tgisinternal GROUP BY tgrelid, tgenabled, tgfoid
         UNION ALL SELECT objoid::regclass || ' ' || description FROM pg_description WHERE classoid = 'pg_class'::regclass";
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn leaves_existing_rows_and_indexes_unchanged_and_rejects_a_second_sample() {
    let database = loaded_database().await;
    let mut client = database.connect().await;
    // Indexes of the operator, one of them with a comment.
    client
        .batch_execute(
            "CREATE INDEX mine ON order_header (lower(order_name) DESC NULLS LAST) INCLUDE (status_id) WITH (fillfactor = 70)
                WHERE order_name IS NOT NULL;
             CREATE UNIQUE INDEX mine_noted ON shipment (shipment_id, status_id); COMMENT ON INDEX mine_noted IS 'mine';
             CREATE UNIQUE INDEX mine_once ON product_store (product_store_id, store_name);
             ALTER TABLE person DISABLE TRIGGER orderql_keep_none",
        )
        .await
        .unwrap();
    let before = structure(&client).await;
    let orders = "SELECT count(*) FROM order_header";
    let existing: i64 = client.query_one(orders, &[]).await.unwrap().get(0);

    let sample = Sample { size: SampleSize::of(300), seed: 1 };
    let mut steps = Vec::new();
    let mut note = |progress: FillProgress| {
        assert!(progress.done <= progress.total, "{progress:?}");
        if steps.last() != Some(&progress.step) {
            steps.push(progress.step);
        }
    };
    fill(&mut client, sample, &mut note).await.unwrap();
    assert_eq!(steps, [FillStep::Rows, FillStep::Indexes, FillStep::Statistics]);
    assert_eq!(structure(&client).await, before);
    let now: i64 = client.query_one(orders, &[]).await.unwrap().get(0);
    assert_eq!(now, existing + 300);
    // The triggers are active again.
    client.batch_execute("UPDATE person SET last_name = 'Ünlü' WHERE party_id = 'SP00000000'").await.unwrap();
    client.batch_execute("INSERT INTO party (party_id) VALUES ('NEW')").await.unwrap();
    let sql = "SELECT count(*) FROM orderql.party WHERE party_id = 'NEW' OR last_name = 'Ünlü'";
    let followed: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(followed, 2);

    // A second sample is rejected with any seed.
    let all = table_digests(&client, &[]).await;
    let error = fill(&mut client, Sample { seed: 2, ..sample }, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, SampleError::Clash), "{error}");
    assert!(error.to_string().contains("make another database"), "{error}");
    assert_eq!((table_digests(&client, &[]).await, structure(&client).await), (all, before));
}

#[tokio::test]
async fn a_failed_sample_changes_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    // Conflicts with one of the last rows of the sample.
    let conflicting = "INSERT INTO inventory_item (inventory_item_id) VALUES ('SI00000000')";
    client.batch_execute(conflicting).await.unwrap();
    let (rows, before) = (table_digests(&client, &[]).await, structure(&client).await);
    let sample = Sample { size: SampleSize::of(100), seed: 1 };
    let error = fill(&mut client, sample, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, SampleError::Clash), "{error:?}");
    assert_eq!((table_digests(&client, &[]).await, structure(&client).await), (rows, before));

    client.batch_execute("DELETE FROM inventory_item").await.unwrap();
    for (change, expected) in [
        (
            "ALTER TABLE order_item DROP COLUMN shipment_id",
            r#"the database failed at order_item, and nothing was added: ERROR: column "shipment_id" does not exist"#,
        ),
        (
            "ALTER TABLE order_item ADD COLUMN shipment_id TIMESTAMPTZ",
            "the database failed at COPY order_item, line 1, column shipment_id: \"SM00000000-0\", and nothing was added: \
             ERROR: invalid input syntax for type timestamp with time zone: \"SM00000000-0\"",
        ),
    ] {
        client.batch_execute(change).await.unwrap();
        let (rows, before) = (table_digests(&client, &[]).await, structure(&client).await);
        let error = fill(&mut client, sample, &mut |_| {}).await.unwrap_err();
        let cause = error.source().and_then(Error::source).unwrap();
        assert_eq!(format!("{error}: {cause}"), expected);
        assert_eq!((table_digests(&client, &[]).await, structure(&client).await), (rows, before));
    }
    let empty = empty_database().await;
    let mut client = empty.connect().await;
    let error = fill(&mut client, sample, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, SampleError::NotMigrated), "{error:?}");
}

/// The functions that correct sums and links find nothing to correct.
#[tokio::test]
async fn sums_and_links_are_correct() {
    let database = sampled_database().await;
    let client = database.connect().await;
    for function in [
        "sum_inventory_details",
        "backfill_ship_groups",
        "backfill_current_inventory",
        "backfill_parties",
        "backfill_item_places",
    ] {
        let changed: i64 = client.query_one(&format!("SELECT orderql.{function}()"), &[]).await.unwrap().get(0);
        assert_eq!(changed, 0, "{function}");
    }
}
