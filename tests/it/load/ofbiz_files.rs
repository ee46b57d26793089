//! The files of OFBiz and of `tests/data/orders`.

use orderql::load::finish::finish;
use orderql::load::report::RowCounts;
use tokio_postgres::Client;

use crate::load::loading::{checksums, count, load_folder, rows_as_text, tables};
use crate::support::database::migrated_database;

/// The number of rows of each table after loading all files of OFBiz, and no others.
const OFBIZ_ROWS: &str = "\
    carrier_shipment_box_type 11, carrier_shipment_method 61, communication_event 1, communication_event_type 9, contact_mech 26, contact_mech_purpose_type 35, \
    contact_mech_type 9, enumeration 295, enumeration_type 54, facility 5, facility_contact_mech 3, \
    facility_contact_mech_purpose 5, facility_group 1, facility_location 12, facility_type 8, geo 333, geo_point 3, \
    good_identification 1, good_identification_type 11, inventory_item 26, inventory_item_detail 28, item_issuance 4, \
    order_adjustment 17, order_adjustment_type 15, order_contact_mech 11, order_header 6, order_item 7, order_item_assoc_type 5, \
    order_item_ship_group 5, order_item_ship_group_assoc 6, order_item_ship_grp_inv_res 3, order_item_type 8, \
    order_payment_preference 3, order_role 27, order_status 29, order_type 2, party 108, party_contact_mech 27, \
    party_contact_mech_purpose 41, party_group 81, party_identification 2, party_role 198, party_status 60, \
    party_type 9, payment_method_type 17, person 25, postal_address 11, product 72, product_assoc 50, \
    product_category 41, product_facility 20, product_facility_location 17, product_store 1, \
    product_store_facility 5, product_type 18, return_header 1, return_header_type 2, return_item 1, return_reason 7, \
    return_type 9, role_type 103, shipment 5, shipment_box_type 11, shipment_item 4, shipment_method_type 52, \
    shipment_package 2, shipment_package_content 2, shipment_package_route_seg 2, shipment_route_segment 2, \
    shipment_status 6, shipment_type 8, status_item 174, status_type 41, status_valid_change 251, telecom_number 5, \
    uom 269, uom_type 12, user_login 22, communication_event_order 0, excluded_order_facility 0, facility_group_member 0, \
    facility_identification 0, inventory_item_variance 0, order_attribute 0, order_facility_change 0, \
    order_identification 0, order_item_assoc 0, order_item_attribute 0, order_item_change 0, order_item_group 0, order_shipment 0, picklist 0, \
    picklist_bin 0, picklist_item 0, return_adjustment 0, return_identification 0, return_status 0, \
    shipment_content 0";

#[tokio::test]
async fn loads_every_row_of_ofbizs_files() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    empty_every_table(&client).await;
    let reports = load_folder(&mut client, "ofbiz").await;
    assert_eq!(reports.len(), 19);
    let elements: u64 = reports.iter().map(|report| report.rows() + report.skipped_rows()).sum();
    assert_eq!(elements, 7094);
    for expected in OFBIZ_ROWS.split(", ") {
        let (table, rows) = expected.split_once(' ').unwrap();
        assert_eq!(count(&client, &format!("SELECT count(*) FROM {table}")).await.to_string(), rows, "{table}");
    }
    for report in &reports {
        for (entity, counts) in &report.entities {
            assert_eq!(counts.deleted, 0, "{entity}");
        }
    }
    let inserted: u64 = reports.iter().flat_map(|report| report.entities.values()).map(|counts| counts.inserted).sum();
    assert_eq!(i64::try_from(inserted).unwrap(), count(&client, &count_of_all(&client).await).await);
}

#[tokio::test]
async fn computes_what_ofbiz_computes_from_its_files() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_folder(&mut client, "ofbiz").await;
    let finished = finish(&mut client).await.unwrap();
    assert!(finished.inventory_totals > 0 && finished.ship_groups == 6, "{finished}");

    // Totals are the sums of the details.
    for (item, available, on_hand) in
        [("9000", "500", "500"), ("9001", "0", "5"), ("9005", "5", "5"), ("9025", "1", "2")]
    {
        let totals = format!(
            "SELECT trim_scale(available_to_promise_total), trim_scale(quantity_on_hand_total) \
             FROM inventory_item WHERE inventory_item_id = '{item}'"
        );
        assert_eq!(rows_as_text(&client, &totals).await, [format!("({available},{on_hand})")], "{item}");
    }
    let differing = "SELECT count(*) FROM product_facility p WHERE last_inventory_count IS DISTINCT FROM \
        (SELECT sum(available_to_promise_total) FROM inventory_item i \
         WHERE (i.product_id, i.facility_id) = (p.product_id, p.facility_id)) \
        AND EXISTS (SELECT FROM inventory_item i WHERE (i.product_id, i.facility_id) = (p.product_id, p.facility_id))";
    assert_eq!(count(&client, differing).await, 0);
    // Every item has its ship group, except in the one order without ship groups.
    assert_eq!(
        rows_as_text(&client, "SELECT order_id, ship_group_seq_id FROM order_item WHERE ship_group_seq_id IS NULL")
            .await,
        ["(TEST_DEMO10090,)"]
    );
    // Of two definitions of a row the last one wins, and a row with few fields leaves the others unchanged.
    assert_eq!(
        rows_as_text(&client, "SELECT facility_id FROM inventory_item WHERE inventory_item_id = 'GZ9003'").await,
        ["(StoreWarehouse2)"]
    );
    assert_eq!(
        rows_as_text(&client, "SELECT party_type_id, status_id FROM party WHERE party_id = 'DemoCustomer'").await,
        ["(PERSON,PARTY_ENABLED)"]
    );
    // Text in CDATA sections, and beyond ASCII.
    assert_eq!(count(&client, "SELECT count(*) FROM product WHERE long_description LIKE '%<%'").await, 1);
    assert!(count(&client, "SELECT count(*) FROM geo WHERE geo_name ~ '[^[:ascii:]]'").await > 0);
    // Passwords in the files are ignored.
    assert_eq!(count(&client, "SELECT count(*) FROM user_login").await, 22);
    assert_eq!(count(&client, "SELECT count(current_password) FROM user_login").await, 0);
    // The loader sets the stamps.
    assert_eq!(
        count(
            &client,
            "SELECT count(*) FROM order_header WHERE num_nulls(last_updated_stamp, last_updated_tx_stamp, \
            created_stamp, created_tx_stamp) > 0"
        )
        .await,
        0
    );
}

#[tokio::test]
async fn loading_twice_changes_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    for folder in ["ofbiz", "orders"] {
        load_folder(&mut client, folder).await;
    }
    finish(&mut client).await.unwrap();
    let before = checksums(&client).await;
    assert!(before.len() > 90);

    let mut again = database.connect().await;
    let mut counts = RowCounts::default();
    for folder in ["ofbiz", "orders"] {
        for report in load_folder(&mut again, folder).await {
            for rows in report.entities.values() {
                counts.inserted += rows.inserted;
                counts.updated += rows.updated;
            }
        }
    }
    // Some rows have two different definitions. They change twice and end as before, including their stamps.
    assert_eq!(counts.inserted, 0);
    assert!(counts.updated > 0);
    let finished = finish(&mut again).await.unwrap();
    assert!(finished.restored > 0);
    assert_eq!(checksums(&again).await, before);
    // Finishing again changes nothing.
    let finished = finish(&mut again).await.unwrap();
    assert_eq!((finished.inventory_totals, finished.last_counts, finished.restored), (0, 0, 0));
}

#[tokio::test]
async fn the_files_in_tests_data_orders_have_the_rows_that_tests_need() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    for folder in ["ofbiz", "orders"] {
        for report in load_folder(&mut client, folder).await {
            assert!(folder == "ofbiz" || report.skipped.is_empty(), "{report}");
        }
    }
    finish(&mut client).await.unwrap();
    let client = &client;
    for (what, sql, expected) in [
        (
            "a split line counts once",
            "SELECT count(*), count(DISTINCT external_id) FROM order_item WHERE order_id = 'ORDER_SPLIT'",
            "(3,2)",
        ),
        (
            "groups without items",
            "SELECT string_agg(ship_group_seq_id, ' ' ORDER BY ship_group_seq_id) FROM order_item_ship_group g \
             WHERE order_id = 'ORDER_EMPTY_GROUPS' AND NOT EXISTS (SELECT FROM order_item i \
             WHERE (i.order_id, i.ship_group_seq_id) = (g.order_id, g.ship_group_seq_id))",
            "(\"00001 00003\")",
        ),
        (
            "an item assigned to several groups is in the lowest",
            "SELECT string_agg(ship_group_seq_id, ' ' ORDER BY order_item_seq_id) FROM order_item \
             WHERE order_id = 'ORDER_ASSOC_ONLY'",
            "(\"00002 00001\")",
        ),
        (
            "microseconds",
            "SELECT count(DISTINCT order_date), count(DISTINCT date_trunc('milliseconds', order_date)) \
             FROM order_header WHERE order_id LIKE 'WALK%' AND order_date::text LIKE '2026-04-01 12:00:00.5%'",
            "(3,1)",
        ),
        (
            "a sold-out product has 0, and its inventory item is unchanged",
            "SELECT i.available_to_promise_total::int, p.inventory_item_id FROM product_facility p \
             JOIN inventory_item i USING (inventory_item_id) WHERE p.product_id = 'SHIRT_M'",
            "(0,INV_SHIRT_M)",
        ),
        (
            "a given inventory item is unchanged",
            "SELECT inventory_item_id FROM product_facility WHERE product_id = 'SHIRT_L'",
            "(INV_SHIRT_L_NEW)",
        ),
        (
            "totals without details are unchanged",
            "SELECT trim_scale(quantity_on_hand_total) FROM inventory_item WHERE inventory_item_id = 'INV_PROD_10'",
            "(12.5)",
        ),
        (
            "a pair that was never stocked has no item",
            "SELECT count(*) FROM product_facility WHERE product_id = 'MUG' AND inventory_item_id IS NULL",
            "(1)",
        ),
        (
            "control characters are loaded",
            r"SELECT last_name = E'Line\nfeed\rreturn\u007f\u0085\u2028end' FROM person WHERE party_id = 'CUST_CONTROL'",
            "(t)",
        ),
        (
            "CDATA is loaded with its line ends",
            r#"SELECT long_description LIKE E'<p>Holds "coffee" & tea;\n\tnot {%' FROM product WHERE product_id = 'MUG'"#,
            "(t)",
        ),
        ("enough orders for pagination", "SELECT count(*) >= 40 FROM order_header WHERE order_id LIKE 'WALK%'", "(t)"),
    ] {
        assert_eq!(rows_as_text(client, sql).await, [expected], "{what}");
    }
    // Every sort key has nulls and duplicates.
    for key in "order_header.order_name order_header.order_date order_header.grand_total product.product_name \
                facility.facility_name product_store.store_name return_header.return_date shipment.estimated_ship_date \
                person.last_name"
        .split_whitespace()
    {
        let (table, column) = key.split_once('.').unwrap();
        let sql = format!(
            "SELECT 'nulls', 'duplicates' FROM (SELECT count(*) - count({column}), \
             count({column}) - count(DISTINCT {column}) FROM {table}) n(nulls, duplicates) \
             WHERE nulls = 0 OR duplicates = 0"
        );
        assert!(rows_as_text(client, &sql).await.is_empty(), "{key}");
    }
    assert!(count(client, "SELECT count(*) FROM good_identification WHERE from_date = '1970-01-01'").await > 0);
}

async fn empty_every_table(client: &Client) {
    client.batch_execute(&format!("TRUNCATE {} CASCADE", tables(client).await.join(", "))).await.unwrap();
}

async fn count_of_all(client: &Client) -> String {
    let counts: Vec<_> =
        tables(client).await.iter().map(|table| format!("(SELECT count(*) FROM \"{table}\")")).collect();
    format!("SELECT {}", counts.join(" + "))
}
