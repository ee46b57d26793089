//! The columns that triggers keep so that indexes serve searches: the facility of an item, and the store of a return.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::support::database::migrated_database;

/// The facility of each item and the store of each return, as the triggers keep them and as OFBiz's tables have them.
const KEPT: &str = "
    SELECT COALESCE(string_agg(line, ' ' ORDER BY line), '')
    FROM (
        SELECT concat(order_id, order_item_seq_id, '=', orderql_facility_id) FROM order_item
        UNION ALL SELECT concat(return_id, '=', orderql_product_store_id) FROM return_header
    ) AS kept (line)";
const STALE: &str = "SELECT (SELECT count(*) FROM orderql.stale_item) + (SELECT count(*) FROM orderql.stale_return)";

/// Runs a statement, and checks what is kept afterwards.
async fn check(client: &Client, sql: &str, kept: &str) {
    client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    let row = client.query_one(KEPT, &[]).await.unwrap();
    assert_eq!(row.get::<_, String>(0), kept, "{sql}");
    assert_eq!(client.query_one(STALE, &[]).await.unwrap().get::<_, i64>(0), 0, "{sql}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_has_the_facility_of_its_ship_group() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    for (sql, kept) in [
        ("INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '1', 'A')", ""),
        ("INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '01', '1')", "O01=A"),
        (
            "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '02', '2')",
            "O01=A O02=",
        ),
        (
            "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '2', 'B')",
            "O01=A O02=B",
        ),
        ("UPDATE order_item_ship_group SET facility_id = 'C' WHERE facility_id = 'A'", "O01=C O02=B"),
        ("UPDATE order_item SET ship_group_seq_id = '2' WHERE order_item_seq_id = '01'", "O01=B O02=B"),
        ("UPDATE order_item SET ship_group_seq_id = NULL WHERE order_item_seq_id = '01'", "O01= O02=B"),
        ("UPDATE order_item_ship_group SET ship_group_seq_id = '3' WHERE facility_id = 'B'", "O01= O02="),
        ("UPDATE order_item SET ship_group_seq_id = '3'", "O01=B O02=B"),
        ("DELETE FROM order_item_ship_group WHERE facility_id = 'B'", "O01= O02="),
        ("UPDATE order_item SET ship_group_seq_id = '1'", "O01=C O02=C"),
        // The items refer to it.
        ("TRUNCATE order_item_ship_group CASCADE", ""),
    ] {
        check(&client, sql, kept).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_has_the_store_of_the_order_of_its_first_item() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    for (sql, kept) in [
        ("INSERT INTO order_header (order_id, product_store_id) VALUES ('O', 'A'), ('P', 'B')", ""),
        ("INSERT INTO return_header (return_id) VALUES ('R')", "R="),
        ("INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '2', 'P')", "R=B"),
        ("INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'O')", "R=A"),
        ("UPDATE order_header SET product_store_id = 'C' WHERE order_id = 'O'", "R=C"),
        ("UPDATE return_item SET return_item_seq_id = '3' WHERE order_id = 'O'", "R=B"),
        ("DELETE FROM return_item WHERE order_id = 'P'", "R=C"),
        ("UPDATE return_item SET order_id = NULL", "R="),
        ("UPDATE return_item SET order_id = 'Q'", "R="),
        ("INSERT INTO order_header (order_id, product_store_id) VALUES ('Q', 'D')", "R=D"),
        ("UPDATE return_item SET return_id = 'S'", "R="),
        ("INSERT INTO return_header (return_id) VALUES ('S')", "R= S=D"),
        ("DELETE FROM order_header WHERE order_id = 'Q'", "R= S="),
    ] {
        check(&client, sql, kept).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_without_triggers_is_repaired() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client
        .batch_execute(
            "SET session_replication_role = replica;
             ALTER TABLE order_item DISABLE TRIGGER orderql_keep;
             ALTER TABLE return_item DISABLE TRIGGER orderql_keep;
             INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '1', 'A');
             INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '01', '1');
             INSERT INTO order_header (order_id, product_store_id) VALUES ('O', 'A');
             INSERT INTO return_header (return_id) VALUES ('R');
             INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'O')",
        )
        .await
        .unwrap();
    assert_eq!(client.query_one(STALE, &[]).await.unwrap().get::<_, i64>(0), 2);
    check(&client, "SELECT orderql.backfill_search_columns()", "O01=A R=A").await;
}

/// A change of a group's facility waits for an item that is being written, and sees it then.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_and_its_group_that_are_written_at_once_agree() {
    let database = migrated_database().await;
    let (mut writer, other) = (database.connect().await, database.connect().await);
    for client in [&writer, &other] {
        client.batch_execute("SET session_replication_role = replica").await.unwrap();
    }
    writer
        .batch_execute(
            "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '1', 'A')",
        )
        .await
        .unwrap();
    let item = writer.transaction().await.unwrap();
    item.batch_execute(
        "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '01', '1')",
    )
    .await
    .unwrap();
    // As an update of the facility would wait for it.
    let lock = "SELECT FROM order_item_ship_group FOR NO KEY UPDATE NOWAIT";
    let error = other.batch_execute(lock).await.unwrap_err();
    assert_eq!(error.code(), Some(&SqlState::LOCK_NOT_AVAILABLE));
    item.commit().await.unwrap();
    check(&other, "UPDATE order_item_ship_group SET facility_id = 'B'", "O01=B").await;
}
