//! What triggers keep so that indexes serve searches: the facility of an item in a ship group, and the stores of returns and shipments.

use tokio_postgres::Client;

use crate::support::database::migrated_database;

/// The facility of each item and the store of each return and shipment, as the triggers keep them and as OFBiz's tables have them.
const KEPT: &str = "
    SELECT COALESCE(string_agg(line, ' ' ORDER BY line), '')
    FROM (
        SELECT concat(order_id, order_item_seq_id, '=', facility_id) FROM orderql.item_place
        UNION ALL SELECT concat(return_id, '=', orderql_product_store_id) FROM return_header
        UNION ALL SELECT concat(shipment_id, '=', orderql_product_store_id) FROM shipment
    ) AS kept (line)";
const STALE: &str = "
    SELECT (SELECT count(*) FROM orderql.stale_item_place) + (SELECT count(*) FROM orderql.stale_return)
        + (SELECT count(*) FROM orderql.stale_shipment)";

/// As logical replication writes rows, and as OFBiz does.
const ROLES: [&str; 2] = ["replica", "origin"];

/// Drops the foreign keys, so that a row can be there before the one that it refers to.
const DROP_FOREIGN_KEYS: &str = "
    DO $$
    DECLARE
        key record;
    BEGIN
        FOR key IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint WHERE contype = 'f' LOOP
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.relation, key.conname);
        END LOOP;
    END;
    $$";

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
    client.batch_execute(DROP_FOREIGN_KEYS).await.unwrap();
    let statements = [
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
        ("UPDATE order_item SET order_id = 'P' WHERE order_item_seq_id = '02'", "O01=C P02="),
        ("TRUNCATE order_item_ship_group", "O01= P02="),
        ("TRUNCATE order_item", ""),
    ];
    for role in ROLES {
        client.batch_execute(&format!("SET session_replication_role = {role}")).await.unwrap();
        for (sql, kept) in statements {
            check(&client, sql, kept).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_has_the_store_of_the_order_of_its_first_item() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute(DROP_FOREIGN_KEYS).await.unwrap();
    let statements = [
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
        ("UPDATE return_item SET order_id = 'O'", "R= S=C"),
        ("TRUNCATE return_item", "R= S="),
        ("INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'P')", "R=B S="),
        ("TRUNCATE order_header", "R= S="),
        ("TRUNCATE return_header, return_item", ""),
    ];
    for role in ROLES {
        client.batch_execute(&format!("SET session_replication_role = {role}")).await.unwrap();
        for (sql, kept) in statements {
            check(&client, sql, kept).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shipment_has_the_store_of_its_order() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute(DROP_FOREIGN_KEYS).await.unwrap();
    let statements = [
        ("INSERT INTO order_header (order_id, product_store_id) VALUES ('O', 'A'), ('P', 'B')", ""),
        ("INSERT INTO shipment (shipment_id, primary_order_id) VALUES ('S', 'O'), ('T', NULL)", "S=A T="),
        ("UPDATE shipment SET primary_order_id = 'P'", "S=B T=B"),
        ("UPDATE order_header SET product_store_id = 'C' WHERE order_id = 'P'", "S=C T=C"),
        ("UPDATE order_header SET order_id = 'Q' WHERE order_id = 'P'", "S= T="),
        ("UPDATE shipment SET primary_order_id = 'R' WHERE shipment_id = 'T'", "S= T="),
        ("INSERT INTO order_header (order_id, product_store_id) VALUES ('R', 'D')", "S= T=D"),
        ("DELETE FROM order_header WHERE order_id = 'R'", "S= T="),
        ("UPDATE shipment SET primary_order_id = 'O'", "S=A T=A"),
        ("TRUNCATE order_header", "S= T="),
        ("TRUNCATE shipment", ""),
    ];
    for role in ROLES {
        client.batch_execute(&format!("SET session_replication_role = {role}")).await.unwrap();
        for (sql, kept) in statements {
            check(&client, sql, kept).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_without_triggers_is_repaired() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client
        .batch_execute(
            "SET session_replication_role = replica;
             ALTER TABLE order_item DISABLE TRIGGER orderql_item_replicated;
             ALTER TABLE order_item_ship_group DISABLE TRIGGER orderql_item_replicated;
             ALTER TABLE order_header DISABLE TRIGGER orderql_item_replicated;
             ALTER TABLE return_item DISABLE TRIGGER orderql_return_replicated;
             INSERT INTO order_header (order_id, product_store_id) VALUES ('O', 'A');
             INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '1', 'A');
             INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '01', '1');
             INSERT INTO return_header (return_id) VALUES ('R');
             INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'O')",
        )
        .await
        .unwrap();
    assert_eq!(client.query_one(STALE, &[]).await.unwrap().get::<_, i64>(0), 2);
    check(&client, "SELECT orderql.backfill_returns(), orderql.backfill_item_places()", "O01=A R=A").await;
}

/// What two transactions find before they begin.
const ROWS: &str = "
    TRUNCATE order_header, order_item_ship_group, order_item, return_header, return_item, shipment;
    INSERT INTO order_header (order_id, product_store_id) VALUES ('O', 'A'), ('P', 'B');
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '1', 'A'), ('O', '2', 'B');
    INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '01', '1');
    INSERT INTO return_header (return_id) VALUES ('R')";

/// Of two transactions that write an item and its group, or a return's items and their order, the second waits while the first commits,
/// whichever that is, and sees what it did.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_written_at_once_agree() {
    let database = migrated_database().await;
    let (client, [first, second]) = (database.connect().await, [database.connect().await, database.connect().await]);
    client.batch_execute(DROP_FOREIGN_KEYS).await.unwrap();
    let add_item = "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '02', '1')";
    let move_item = "UPDATE order_item SET ship_group_seq_id = '2'";
    let move_group = "UPDATE order_item_ship_group SET facility_id = 'C'";
    let add_group =
        "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('O', '3', 'C')";
    let add_item_of_it =
        "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '02', '3')";
    let add_return = "INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '2', 'O')";
    let add_earlier = "INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'P')";
    let add_shipment = "INSERT INTO shipment (shipment_id, primary_order_id) VALUES ('S', 'O')";
    let move_order = "UPDATE order_header SET product_store_id = 'C'";
    for (one, other, kept) in [
        (add_item, move_group, "O01=C O02=C R="),
        (move_item, move_group, "O01=C R="),
        (add_group, add_item_of_it, "O01=A O02=C R="),
        (add_return, move_order, "O01=A R=C"),
        (add_return, add_earlier, "O01=A R=B"),
        (add_shipment, move_order, "O01=A R= S=C"),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            client.batch_execute(ROWS).await.unwrap();
            first.batch_execute(&format!("BEGIN; {one}; SET CONSTRAINTS ALL IMMEDIATE")).await.unwrap();
            let waiting = async {
                database.wait_for_lock_waits(1).await;
                first.batch_execute("COMMIT").await.unwrap();
            };
            let (result, ()) = tokio::join!(second.batch_execute(other), waiting);
            result.unwrap_or_else(|error| panic!("{other}: {error:?}"));
            check(&client, "", kept).await;
        }
    }
}

/// A transaction that changes the order's header and then its groups, and one that inserts an item meanwhile, do not wait for one another.
#[tokio::test(flavor = "multi_thread")]
async fn an_inserted_item_locks_no_ship_group() {
    let database = migrated_database().await;
    let (client, [first, second]) = (database.connect().await, [database.connect().await, database.connect().await]);
    client.batch_execute(&format!("{DROP_FOREIGN_KEYS}; {ROWS}")).await.unwrap();
    first.batch_execute("BEGIN; UPDATE order_header SET order_name = 'N'").await.unwrap();
    let waiting = async {
        database.wait_for_lock_waits(1).await;
        first.batch_execute("UPDATE order_item_ship_group SET facility_id = 'C'; COMMIT").await
    };
    let add = "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) VALUES ('O', '02', '1')";
    let (added, changed) = tokio::join!(second.batch_execute(add), waiting);
    added.unwrap();
    changed.unwrap();
    check(&client, "", "O01=C O02=C R=").await;
}
