//! The tables that triggers keep: all parties with their names, and the items in their ship groups, which make the fulfilment
//! queue.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use orderql::migration::migrate::migrate;
use orderql::migration::report::MigrationReport;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::support::command;
use crate::support::database::{Database, loaded_database, migrated_database, sampled_database};
use crate::support::random::Random;
use crate::support::server::connection_string;

/// A kept table: its rows, and the rows that it must have, which are found out in another way than by the program.
struct Kept {
    rows: &'static str,
    expected: &'static str,
}

const PARTIES: Kept = Kept {
    rows: "SELECT concat_ws('|', party_id, coalesce(party_type_id, '-'), coalesce(external_id, '-'),
               coalesce(status_id, '-'), coalesce(created_date::text, '-'), coalesce(first_name, '-'),
               coalesce(last_name, '-'), coalesce(group_name, '-'))
           FROM orderql.party",
    expected: "SELECT concat_ws('|', party.party_id, coalesce(party_type_id, '-'), coalesce(external_id, '-'),
                   coalesce(status_id, '-'), coalesce(created_date::text, '-'), coalesce(first_name, '-'),
                   coalesce(last_name, '-'), coalesce(group_name, '-'))
               FROM party LEFT JOIN person USING (party_id) LEFT JOIN party_group USING (party_id)",
};

const OPEN_GROUPS: Kept = Kept {
    rows: "SELECT concat_ws('|', order_id, ship_group_seq_id, coalesce(facility_id, '-'),
               coalesce(shipment_method_type_id, '-'), item_status_id, coalesce(order_status_id, '-'),
               coalesce(product_store_id, '-'), coalesce(order_date::text, '-'), coalesce(promised_date::text, '-'))
           FROM orderql.fulfillment_queue",
    expected: "SELECT DISTINCT ON (order_id, ship_group_seq_id) concat_ws('|', order_id, ship_group_seq_id,
                   coalesce(facility_id, '-'), coalesce(ship_group.shipment_method_type_id, '-'), item.status_id,
                   coalesce(header.status_id, '-'), coalesce(product_store_id, '-'), coalesce(order_date::text, '-'),
                   coalesce(promise::text, '-'))
               FROM order_header AS header
               JOIN order_item AS item USING (order_id)
               JOIN order_item_ship_group AS ship_group USING (order_id, ship_group_seq_id)
               LEFT JOIN (
                   SELECT order_id, ship_group_seq_id, order_item_seq_id, min(promised_datetime) AS promise
                   FROM order_item_ship_grp_inv_res GROUP BY order_id, ship_group_seq_id, order_item_seq_id
               ) AS reserved USING (order_id, ship_group_seq_id, order_item_seq_id)
               WHERE coalesce(order_type_id, '') <> 'PURCHASE_ORDER'
                 AND NOT coalesce(header.status_id IN ('ORDER_SENT', 'ORDER_COMPLETED', 'ORDER_CANCELLED', 'ORDER_REJECTED',
                     'ORDER_EXPIRED'), false)
                 AND item.status_id IN ('ITEM_APPROVED', 'ITEM_CREATED', 'ITEM_HOLD', 'ITEM_REQ_CANCELATN')
               ORDER BY order_id, ship_group_seq_id, array_position(
                   ARRAY['ITEM_APPROVED', 'ITEM_CREATED', 'ITEM_HOLD', 'ITEM_REQ_CANCELATN'], item.status_id::text),
                   promise, order_item_seq_id",
};

impl Kept {
    /// Asserts that the table has the rows that it must have, and returns them.
    async fn check(&self, client: &Client, why: &str) -> BTreeSet<String> {
        let rows = strings(client, self.rows).await;
        assert_eq!(rows, strings(client, self.expected).await, "{why}");
        rows
    }
}

async fn strings(client: &Client, sql: &str) -> BTreeSet<String> {
    let rows = client.query(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    rows.iter().map(|row| row.get(0)).collect()
}

async fn backfill(client: &Client, function: &str) -> i64 {
    client.query_one(&format!("SELECT orderql.{function}()"), &[]).await.unwrap().get(0)
}

/// Runs `orderql tables`: whether it succeeds, and what it prints.
fn tables(database: &Database, flags: &[&str]) -> (bool, String, String) {
    let address = connection_string(&database.config());
    let output = command::orderql().args([&["tables", "--database-url", &address], flags].concat()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Executes the statements as a role that may write `tables` alone, and compares the table after each.
async fn follow(database: &Database, client: &Client, kept: &Kept, tables: &str, statements: &[&str]) {
    let role = format!("writer_of_{}", database.name());
    client.batch_execute(&format!("CREATE ROLE {role}; GRANT ALL ON {tables} TO {role}")).await.unwrap();
    for statement in statements {
        let as_role = format!("SET ROLE {role}; {statement}");
        client.batch_execute(&as_role).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
        client.batch_execute("RESET ROLE").await.unwrap();
        kept.check(client, statement).await;
    }
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test]
async fn the_party_table_follows_every_change_by_every_role() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client
        .batch_execute(
            "ALTER TABLE person DROP CONSTRAINT person_party; ALTER TABLE party_group DROP CONSTRAINT party_grp_party;
             ALTER TABLE party_role DROP CONSTRAINT party_rle_party",
        )
        .await
        .unwrap();
    let statements = [
        "INSERT INTO party (party_id, created_date) VALUES ('A', '2026-01-02 03:04:05.678901Z'), ('B', NULL), ('C', NULL)",
        "INSERT INTO person (party_id, first_name, last_name) VALUES ('A', 'Ada', 'Byron'), ('B', 'Bo', NULL)",
        "INSERT INTO party_group (party_id, group_name) VALUES ('C', 'Crew'), ('A', 'Both')",
        "INSERT INTO person (party_id, last_name) VALUES ('D', 'Early')",
        "INSERT INTO party (party_id, external_id) VALUES ('D', 'X-D')",
        "UPDATE person SET last_name = 'Lovelace' WHERE party_id = 'A'",
        "UPDATE person SET gender = 'F' WHERE party_id = 'A'",
        "UPDATE party SET external_id = 'X-' || party_id, created_date = now()",
        "UPDATE party SET party_id = 'E' WHERE party_id = 'D'",
        "UPDATE person SET party_id = 'E' WHERE party_id = 'D'",
        "UPDATE party_group SET party_id = 'B' WHERE party_id = 'A'",
        "DELETE FROM person WHERE party_id = 'B'",
        "DELETE FROM party_group WHERE party_id = 'B'",
        "DELETE FROM party WHERE party_id = 'A'",
        "INSERT INTO party (party_id) VALUES ('A') ON CONFLICT DO NOTHING",
    ];
    follow(&database, &client, &PARTIES, "party, person, party_group", &statements).await;
    let parties = strings(&client, PARTIES.rows).await;
    assert!(parties.iter().any(|party| party.starts_with("A|-|-|-|-|Ada|Lovelace|-")), "{parties:?}");
    for table in ["party_group", "person"] {
        client.batch_execute(&format!("BEGIN; TRUNCATE {table}")).await.unwrap();
        PARTIES.check(&client, table).await;
        client.batch_execute("ROLLBACK").await.unwrap();
    }
    client.batch_execute("BEGIN; TRUNCATE party CASCADE").await.unwrap();
    assert_eq!(strings(&client, PARTIES.rows).await, BTreeSet::new());
    client.batch_execute("ROLLBACK").await.unwrap();
    // As logical replication applies rows.
    let import = "INSERT INTO party (party_id) VALUES ('F');
                  UPDATE person SET first_name = 'Augusta Ada' WHERE party_id = 'A';
                  DELETE FROM party WHERE party_id = 'C'";
    client.batch_execute(&format!("BEGIN; SET LOCAL session_replication_role = replica; {import}")).await.unwrap();
    PARTIES.check(&client, "replication").await;
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn the_open_ship_groups_follow_every_change_by_every_role() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let loaded = OPEN_GROUPS.check(&client, "the demo's orders, which were loaded").await;
    assert!(loaded.len() > 5, "{loaded:?}");
    let statements = [
        "INSERT INTO order_header (order_id, order_type_id, status_id, order_date, product_store_id)
         VALUES ('N1', 'SALES_ORDER', 'ORDER_APPROVED', '2026-05-01 10:00Z', '9000'), ('N2', NULL, NULL, NULL, NULL),
             ('N3', 'PURCHASE_ORDER', 'ORDER_APPROVED', '2026-05-01 10:00Z', NULL)",
        "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id, shipment_method_type_id)
         VALUES ('N1', '00001', 'WebStoreWarehouse', 'STANDARD'), ('N1', '00002', NULL, NULL), ('N2', '00001', NULL, NULL),
             ('N3', '00001', NULL, NULL)",
        "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id)
         VALUES ('N1', '00001', '00001', 'ITEM_CREATED'), ('N1', '00002', '00001', 'ITEM_HOLD'),
             ('N1', '00003', NULL, 'ITEM_APPROVED'), ('N2', '00001', '00001', 'ITEM_APPROVED'),
             ('N3', '00001', '00001', 'ITEM_APPROVED')",
        "INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime)
         SELECT 'N1', '00001', '0000' || row_number() OVER (), inventory_item_id, '2026-05-05Z' FROM inventory_item LIMIT 2",
        "UPDATE order_item SET status_id = 'ITEM_APPROVED' WHERE order_id = 'N1' AND order_item_seq_id = '00001'",
        "UPDATE order_item SET quantity = 5 WHERE order_id = 'N1'",
        "UPDATE order_item SET ship_group_seq_id = '00002' WHERE order_id = 'N1' AND order_item_seq_id > '00001'",
        "UPDATE order_item_ship_grp_inv_res SET promised_datetime = '2026-05-04Z' WHERE order_id = 'N1' AND order_item_seq_id = '00002'",
        "DELETE FROM order_item_ship_grp_inv_res WHERE order_id = 'N1' AND order_item_seq_id = '00002'",
        "UPDATE order_item_ship_group SET facility_id = '_NA_', shipment_method_type_id = NULL WHERE order_id = 'N1'",
        "UPDATE order_header SET status_id = 'ORDER_HELD', order_date = now(), product_store_id = NULL WHERE order_id = 'N1'",
        "UPDATE order_header SET status_id = 'ORDER_COMPLETED' WHERE order_id LIKE 'N%'",
        "UPDATE order_header SET status_id = 'ORDER_APPROVED'",
        "UPDATE order_header SET order_type_id = 'PURCHASE_ORDER' WHERE order_id = 'N2'",
        "UPDATE order_header SET order_type_id = 'SALES_ORDER' WHERE order_id IN ('N2', 'N3')",
        "UPDATE order_item SET status_id = 'ITEM_COMPLETED' WHERE order_id = 'N1' AND order_item_seq_id = '00001'",
        "UPDATE order_item SET status_id = 'ITEM_REQ_CANCELATN' WHERE order_id = 'N1' AND order_item_seq_id = '00002'",
        "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id) VALUES ('N1', '00003', '00001', 'ITEM_HOLD')
         ON CONFLICT (order_id, order_item_seq_id) DO UPDATE SET ship_group_seq_id = EXCLUDED.ship_group_seq_id",
        "UPDATE order_item SET status_id = CASE WHEN status_id = 'ITEM_APPROVED' THEN 'ITEM_COMPLETED' ELSE 'ITEM_APPROVED' END",
        "DELETE FROM order_item WHERE order_id = 'N2'",
        "DELETE FROM order_item_ship_grp_inv_res WHERE order_id = 'N1'",
        "DELETE FROM order_item WHERE order_id = 'N1' AND order_item_seq_id < '00003'",
        "DELETE FROM order_item WHERE order_id = 'N1'",
        "DELETE FROM order_item_ship_group WHERE order_id = 'N1'",
        "DELETE FROM order_header WHERE order_id = 'N1'",
        "UPDATE order_item SET order_id = 'N2' WHERE order_id = 'N3'",
    ];
    let written = "order_header, order_item_ship_group, order_item, order_item_ship_grp_inv_res";
    follow(&database, &client, &OPEN_GROUPS, &format!("{written}, inventory_item"), &statements).await;
    for table in written.split(", ") {
        client.batch_execute(&format!("BEGIN; TRUNCATE {table} CASCADE")).await.unwrap();
        OPEN_GROUPS.check(&client, table).await;
        client.batch_execute("ROLLBACK").await.unwrap();
    }
    // As logical replication applies rows.
    let import = "UPDATE order_item SET status_id = 'ITEM_APPROVED'; UPDATE order_header SET product_store_id = NULL;
                  UPDATE order_item_ship_group SET facility_id = NULL;
                  UPDATE order_item_ship_grp_inv_res SET promised_datetime = '2026-06-01Z'; DELETE FROM order_item WHERE order_id = 'N2';
                  INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id) VALUES ('N3', '1', '00001', 'ITEM_HOLD')";
    client
        .batch_execute(&format!(
            "BEGIN; SET LOCAL session_replication_role = replica; {import}; SET CONSTRAINTS ALL IMMEDIATE"
        ))
        .await
        .unwrap();
    OPEN_GROUPS.check(&client, "replication").await;
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn a_repair_or_a_migration_corrects_the_tables_after_an_import_without_triggers() {
    let database = loaded_database().await;
    let mut client = database.connect().await;
    client.batch_execute("INSERT INTO party (party_id) VALUES ('A')").await.unwrap();
    let import = "BEGIN; ALTER TABLE party DISABLE TRIGGER orderql_keep; ALTER TABLE order_header DISABLE TRIGGER orderql_item_updated;
                  INSERT INTO party (party_id) VALUES ('F'); UPDATE party SET external_id = 'X' WHERE party_id = 'A';
                  UPDATE order_header SET status_id = 'ORDER_COMPLETED' WHERE order_id = 'ORDER_SPLIT';
                  ALTER TABLE party ENABLE ALWAYS TRIGGER orderql_keep; ALTER TABLE order_header ENABLE TRIGGER orderql_item_updated;
                  COMMIT";
    client.batch_execute(import).await.unwrap();

    let (is_equal, _, error) = tables(&database, &[]);
    assert!(!is_equal, "{error}");
    let items: i64 = client
        .query_one("SELECT count(*) FROM orderql.item_place WHERE order_id = 'ORDER_SPLIT'", &[])
        .await
        .unwrap()
        .get(0);
    let differing = format!(
        "2 parties in orderql.party and {items} items in ship groups in orderql.item_place differ from OFBiz's tables"
    );
    assert!(error.contains(&differing), "{error}");
    client.batch_execute("BEGIN").await.unwrap();
    assert_eq!(backfill(&client, "backfill_parties").await, 2);
    assert_eq!(backfill(&client, "backfill_item_places").await, items);
    client.batch_execute("ROLLBACK").await.unwrap();
    let repaired = format!(
        "2 parties repaired.\nAll returns equal OFBiz's tables.\nAll shipments equal OFBiz's tables.\n{items} items in ship groups repaired.\n"
    );
    assert_eq!(tables(&database, &["--repair"]), (true, repaired, String::new()));
    let equal = "All parties equal OFBiz's tables.\nAll returns equal OFBiz's tables.\nAll shipments equal OFBiz's tables.\nAll items in ship groups equal OFBiz's tables.\n".to_owned();
    assert_eq!(tables(&database, &[]), (true, equal, String::new()));
    client.batch_execute(&import.replace("'F'", "'G'").replace("ORDER_COMPLETED", "ORDER_HELD")).await.unwrap();
    let report = MigrationReport {
        filled: vec![("orderql.party".to_owned(), 1), ("orderql.item_place".to_owned(), items)],
        ..MigrationReport::default()
    };
    assert_eq!(migrate(&mut client).await.unwrap(), report);
    PARTIES.check(&client, "migrated").await;
    OPEN_GROUPS.check(&client, "migrated").await;
}

/// As writers leave a table whose triggers were made, and which was not filled in yet: it has the rows that were written since.
#[tokio::test]
async fn many_rows_are_made_equal_in_parts_though_some_are_there() {
    let database = sampled_database().await;
    let client = database.connect().await;
    let number = async |select: &str| -> i64 { client.query_one(select, &[]).await.unwrap().get(0) };
    let rows = "SELECT count(*) FROM orderql.item_place";
    let items = number(rows).await;
    client.batch_execute("DELETE FROM orderql.item_place WHERE order_id NOT LIKE '%00'").await.unwrap();
    let left = number(rows).await;
    assert!(left > 0 && items - left > 3000, "{left} of {items}");
    let (is_repaired, output, error) = tables(&database, &["--repair"]);
    assert!(
        is_repaired && output.contains(&format!("{} items in ship groups repaired", items - left)),
        "{output}{error}"
    );
    assert_eq!(number(rows).await, items);
    // Each transaction has an id of its own.
    assert!(number("SELECT count(DISTINCT xmin::text) FROM orderql.item_place").await > 3);
}

/// An order with two groups and two items in each.
const ORDER: &str = "
    DELETE FROM order_item_ship_grp_inv_res WHERE order_id = 'N1'; DELETE FROM order_item WHERE order_id = 'N1';
    DELETE FROM order_item_ship_group WHERE order_id = 'N1'; DELETE FROM order_header WHERE order_id = 'N1';
    INSERT INTO order_header (order_id, status_id) VALUES ('N1', 'ORDER_APPROVED');
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) VALUES ('N1', '1'), ('N1', '2');
    INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id)
    VALUES ('N1', '1', '1', 'ITEM_APPROVED'), ('N1', '2', '1', 'ITEM_APPROVED'), ('N1', '3', '2', 'ITEM_APPROVED')";

#[tokio::test]
async fn of_two_transactions_that_change_an_order_the_second_sees_what_the_first_did() {
    let database = loaded_database().await;
    let (client, [first, second]) = (database.connect().await, [database.connect().await, database.connect().await]);
    let complete = |item: &str| {
        format!(
            "UPDATE order_item SET status_id = 'ITEM_COMPLETED' WHERE order_id = 'N1' AND order_item_seq_id = '{item}'"
        )
    };
    let add = "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id) VALUES ('N1', '4', '2', 'ITEM_HOLD')";
    let cancel = "UPDATE order_header SET status_id = 'ORDER_CANCELLED' WHERE order_id = 'N1'";
    let assign = "UPDATE order_item_ship_group SET facility_id = '_NA_' WHERE order_id = 'N1'";
    let promise = "INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime)
                   SELECT 'N1', '1', '1', min(inventory_item_id), now() FROM inventory_item";
    let remove = "DELETE FROM order_item WHERE order_id = 'N1' AND order_item_seq_id = '3'";
    for (one, other, waits) in [
        (&*complete("1"), &*complete("2"), false),
        (&complete("3"), add, false),
        (add, &complete("3"), false),
        (remove, add, false),
        (add, cancel, true),
        (cancel, add, true),
        (assign, &complete("1"), true),
        (promise, assign, true),
        (remove, promise, false),
    ] {
        // Neither has committed when the other begins to; then one has written all but its commit.
        client.batch_execute(ORDER).await.unwrap();
        for (client, sql) in [(&first, one), (&second, other)] {
            client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        }
        let (one_committed, other_committed) =
            tokio::join!(first.batch_execute("COMMIT"), second.batch_execute("COMMIT"));
        one_committed.and(other_committed).unwrap_or_else(|error| panic!("{one}, {other}: {error:?}"));
        OPEN_GROUPS.check(&client, &format!("{one}, and {other} beside it")).await;

        client.batch_execute(ORDER).await.unwrap();
        first.batch_execute(&format!("BEGIN; {one}; SET CONSTRAINTS ALL IMMEDIATE")).await.unwrap();
        let waiting = async {
            if waits {
                database.wait_for_lock_waits(1).await;
                first.batch_execute("COMMIT").await.unwrap();
            }
        };
        let (result, ()) = tokio::join!(second.batch_execute(other), waiting);
        result.unwrap_or_else(|error| panic!("{other}: {error:?}"));
        if !waits {
            first.batch_execute("COMMIT").await.unwrap();
        }
        OPEN_GROUPS.check(&client, &format!("{one}, then {other}")).await;
    }
}

/// Transactions of two writers, of which each changes an item of two orders, one order after the other.
const CROSSINGS: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_items_of_two_orders_never_wait_for_one_another_in_a_circle() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(&format!("{ORDER}; {}", ORDER.replace("N1", "N2"))).await.unwrap();
    let writers = [("N1", "N2", 1), ("N2", "N1", 2)].map(async |(one, other, item)| {
        let client = database.connect().await;
        client.batch_execute("SET deadlock_timeout TO '20ms'").await.unwrap();
        for number in 0..CROSSINGS {
            let status = ["ITEM_APPROVED", "ITEM_COMPLETED", "ITEM_HOLD"][number % 3];
            let change = |order: &str| {
                format!(
                    "UPDATE order_item SET status_id = '{status}', quantity = {number}
                     WHERE order_id = '{order}' AND order_item_seq_id = '{item}'"
                )
            };
            client.batch_execute(&format!("BEGIN; {}; {}; COMMIT", change(one), change(other))).await.unwrap();
        }
    });
    join_all(writers).await;
    OPEN_GROUPS.check(&client, "crossing writers").await;
}

/// Writers, and the transactions of each.
const WRITERS: u64 = 5;
const TRANSACTIONS: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn the_open_ship_groups_are_right_after_many_simultaneous_transactions() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let orders = "INSERT INTO order_header (order_id, status_id) SELECT 'N' || n, 'ORDER_APPROVED' FROM generate_series(1, 4) AS n;
                  INSERT INTO order_item_ship_group (order_id, ship_group_seq_id)
                  SELECT 'N' || n, g FROM generate_series(1, 4) AS n, generate_series(1, 2) AS g;
                  INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id)
                  SELECT 'N' || n, i, 1 + i % 2, 'ITEM_APPROVED' FROM generate_series(1, 4) AS n, generate_series(1, 4) AS i";
    client.batch_execute(orders).await.unwrap();
    let writers = (0..WRITERS).map(async |number| {
        let (client, mut random) = (database.connect().await, Random(number));
        // Most of the time would be waiting for deadlocks to be noticed.
        client.batch_execute("SET deadlock_timeout TO '20ms'").await.unwrap();
        let mut deadlocks = 0;
        for _ in 0..TRANSACTIONS {
            let statements: Vec<_> = (0..=random.below(3)).map(|_| change(&mut random)).collect();
            let result = client.batch_execute(&format!("BEGIN; {}; COMMIT", statements.join("; "))).await;
            if let Err(error) = result {
                assert_eq!(error.code(), Some(&SqlState::T_R_DEADLOCK_DETECTED), "{statements:?}");
                client.batch_execute("ROLLBACK").await.unwrap();
                deadlocks += 1;
            }
        }
        deadlocks
    });
    let deadlocks: usize = join_all(writers).await.into_iter().sum();
    assert!(deadlocks < TRANSACTIONS, "{deadlocks} deadlocks");
    let groups = OPEN_GROUPS.check(&client, "many writers").await;
    assert!(groups.iter().any(|group| group.starts_with('N')), "{groups:?}");
}

/// A statement that changes one of the orders, or all of them.
fn change(random: &mut Random) -> String {
    let statuses = ["ITEM_APPROVED", "ITEM_COMPLETED", "ITEM_HOLD", "ITEM_COMPLETED", "ITEM_CANCELLED", "ITEM_CREATED"];
    let (order, item, group) = (1 + random.below(4), 1 + random.below(6), 1 + random.below(2));
    let (status, other) = (*random.pick(&statuses), *random.pick(&statuses));
    let at = format!("order_id = 'N{order}'");
    match random.below(12) {
        0 => format!("UPDATE order_item SET status_id = '{status}' WHERE order_id LIKE 'N%' AND status_id = '{other}'"),
        1 => format!("UPDATE order_header SET status_id = 'ORDER_APPROVED' WHERE {at}"),
        2 => format!(
            "UPDATE order_header SET status_id = '{}' WHERE {at}",
            random.pick(&["ORDER_HELD", "ORDER_COMPLETED"])
        ),
        3 => format!("UPDATE order_item_ship_group SET shipment_method_type_id = 'NEXT_DAY' WHERE {at}"),
        4 => format!("UPDATE order_item SET ship_group_seq_id = '{group}' WHERE {at} AND order_item_seq_id = '{item}'"),
        5 => format!("DELETE FROM order_item WHERE {at} AND order_item_seq_id = '{item}'"),
        6 | 7 => format!(
            "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id)
             VALUES ('N{order}', '{item}', '{group}', '{status}')
             ON CONFLICT (order_id, order_item_seq_id) DO UPDATE SET status_id = EXCLUDED.status_id"
        ),
        _ => format!("UPDATE order_item SET status_id = '{status}' WHERE {at} AND order_item_seq_id = '{item}'"),
    }
}
