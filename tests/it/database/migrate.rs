//! Migrations: on an empty database, on one that is migrated, and on an operator's stock OFBiz database.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::thread;

use clap::Parser as _;
use orderql::database::connection::connect::connect;
use orderql::migration::migrate::{MigrateError, migrate};
use orderql::migration::report::MigrationReport;
use tokio_postgres::Client;
use tokio_postgres::config::Host;

use crate::support::database::{empty_database, migrated_database};
use crate::support::declared_tables::declared_tables;

/// The parts of the model that stock OFBiz lacks.
struct Extension {
    /// `HotWax`'s columns of stock tables, as pairs of table and column.
    columns: Vec<(String, String)>,
    /// `HotWax`'s tables.
    tables: Vec<String>,
}

impl Extension {
    fn read() -> Self {
        let (mut columns, mut tables) = (Vec::new(), Vec::new());
        for table in declared_tables() {
            if !table.is_stock {
                tables.push(table.name.to_owned());
                continue;
            }
            let extended = table.columns.iter().filter(|column| !column.is_stock);
            columns.extend(extended.map(|column| (table.name.to_owned(), column.name.to_owned())));
        }
        Self { columns, tables }
    }
}

/// Turns a migrated database into one of stock OFBiz, with rows: without `HotWax`'s columns and tables, without the schema
/// `orderql`, and with degrees as text as in OFBiz up to 17.12.
pub(super) async fn make_stock(client: &Client) {
    let extension = Extension::read();
    assert_eq!(extension.tables.len(), 6);
    assert!(extension.columns.len() > 100);
    let mut sql = String::from("DROP SCHEMA orderql CASCADE;");
    for table in &extension.tables {
        writeln!(sql, "DROP TABLE {table};").unwrap();
    }
    for (table, column) in &extension.columns {
        writeln!(sql, "ALTER TABLE {table} DROP COLUMN {column};").unwrap();
    }
    sql += r"
        ALTER TABLE return_header DROP COLUMN orderql_product_store_id;
        ALTER TABLE shipment DROP COLUMN orderql_product_store_id;
        DO $$
        DECLARE
            doomed text;
        BEGIN
            FOR doomed IN SELECT indexname FROM pg_indexes WHERE indexname LIKE 'oql\_%' LOOP
                EXECUTE format('DROP INDEX %I', doomed);
            END LOOP;
        END;
        $$;
        DELETE FROM status_valid_change;
        DELETE FROM status_item WHERE status_id = 'SHIPMENT_APPROVED';
        ALTER TABLE geo_point ALTER COLUMN latitude TYPE varchar(60), ALTER COLUMN longitude TYPE varchar(60);
        CREATE INDEX operators_own ON order_header (order_date, order_id);
        CREATE INDEX oql_order_header_by_grand_total ON order_header (created_by);
        CREATE TABLE operators_table (n int);

        UPDATE status_item SET description = 'On ice' WHERE status_id = 'ORDER_HELD';
        INSERT INTO order_type (order_type_id) VALUES ('SALES_ORDER');
        INSERT INTO order_header (order_id, order_type_id, status_id, grand_total)
        VALUES ('A', 'SALES_ORDER', 'ORDER_APPROVED', 12.30), ('B', NULL, NULL, NULL);
        INSERT INTO order_item (order_id, order_item_seq_id, quantity)
        VALUES ('A', '00001', 1), ('A', '00002', 2), ('B', '00001', 3);
        INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id)
        VALUES ('A', '00001', '_NA_'), ('A', '00002', NULL), ('A', '00003', NULL);
        INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity)
        VALUES ('A', '00001', '00001', 1), ('A', '00002', '00002', 1), ('A', '00002', '00001', 1);

        INSERT INTO product (product_id) VALUES ('ONE'), ('TWO'), ('NONE'), ('DIM');
        INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, quantity_on_hand_total,
            available_to_promise_total)
        VALUES ('1', 'ONE', '_NA_', 5, 4), ('2', 'TWO', '_NA_', 2, 1), ('3', 'TWO', '_NA_', 7, NULL),
            ('4', 'DIM', '_NA_', NULL, NULL), ('5', 'ONE', 'PICKUP_REJECTED', 100, 100);
        INSERT INTO product_facility (product_id, facility_id)
        VALUES ('ONE', '_NA_'), ('TWO', '_NA_'), ('NONE', '_NA_'), ('DIM', '_NA_');

        INSERT INTO geo_point (geo_point_id, latitude, longitude)
        VALUES ('G', '40.297264', '-111.696625'), ('BAD', 'north', '');
        INSERT INTO contact_mech (contact_mech_id) VALUES ('OLD'), ('NEW'), ('OVER'), ('ELSE');
        INSERT INTO postal_address (contact_mech_id, city, geo_point_id)
        VALUES ('OLD', 'Provo', NULL), ('NEW', 'Orem', 'G'), ('OVER', 'Lehi', NULL), ('ELSE', 'Rome', 'BAD');
        INSERT INTO contact_mech_purpose_type (contact_mech_purpose_type_id) VALUES ('SHIP_ORIG_LOCATION');
        INSERT INTO facility_contact_mech (facility_id, contact_mech_id, from_date, thru_date)
        VALUES ('_NA_', 'OLD', '2001-01-01', NULL), ('_NA_', 'NEW', '2002-01-01', NULL),
            ('_NA_', 'OVER', '2003-01-01', '2004-01-01'), ('PICKUP_REJECTED', 'ELSE', '2001-01-01', NULL);
        INSERT INTO facility_contact_mech_purpose (facility_id, contact_mech_id, contact_mech_purpose_type_id, from_date)
        SELECT facility_id, contact_mech_id, 'SHIP_ORIG_LOCATION', from_date FROM facility_contact_mech;
    ";
    client.batch_execute(&sql).await.unwrap();
}

/// Everything in a database that a migration must not change.
#[derive(Debug)]
struct Contents {
    columns: BTreeSet<String>,
    indexes: BTreeSet<String>,
    constraints: BTreeSet<String>,
    rows: BTreeSet<String>,
}

impl Contents {
    /// Reads it. The rows have the columns in `of`, or all columns.
    async fn read(client: &Client, of: Option<&BTreeMap<String, String>>) -> (Self, BTreeMap<String, String>) {
        let columns = strings(
            client,
            "SELECT format('%s.%s %s %s %s %s %s', table_name, column_name, ordinal_position, is_nullable, column_default,
                udt_name, concat_ws(',', character_maximum_length, numeric_precision, numeric_scale))
             FROM information_schema.columns WHERE table_schema = 'public'",
        )
        .await;
        let indexes = strings(client, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'").await;
        let constraints = strings(
            client,
            "SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
             WHERE connamespace = 'public'::regnamespace",
        )
        .await;
        let tables: BTreeMap<String, String> = match of {
            Some(tables) => tables.clone(),
            None => client
                .query(
                    "SELECT attrelid::regclass::text, string_agg(quote_ident(attname), ', ' ORDER BY attnum)
                     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
                     GROUP BY attrelid",
                    &[],
                )
                .await
                .unwrap()
                .iter()
                .map(|row| (row.get(0), row.get(1)))
                .collect(),
        };
        let mut rows = BTreeSet::new();
        for (table, columns) in &tables {
            rows.extend(strings(client, &format!("SELECT '{table} ' || ROW({columns})::text FROM {table}")).await);
        }
        (Self { columns, indexes, constraints, rows }, tables)
    }

    fn assert_included_in(&self, after: &Self) {
        assert_eq!(self.columns.difference(&after.columns).collect::<Vec<_>>(), Vec::<&String>::new());
        assert_eq!(self.indexes.difference(&after.indexes).collect::<Vec<_>>(), Vec::<&String>::new());
        assert_eq!(self.constraints.difference(&after.constraints).collect::<Vec<_>>(), Vec::<&String>::new());
        assert_eq!(self.rows.difference(&after.rows).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}

pub(super) async fn strings(client: &Client, sql: &str) -> BTreeSet<String> {
    client
        .query(sql, &[])
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"))
        .iter()
        .map(|row| row.get(0))
        .collect()
}

pub(super) async fn string(client: &Client, sql: &str) -> Option<String> {
    client.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

#[tokio::test]
async fn migrates_an_empty_database_and_changes_nothing_the_second_time() {
    let database = empty_database().await;
    let mut client = database.connect().await;
    let migrated = migrate(&mut client).await.unwrap();
    assert_eq!(migrated.tables.iter().filter(|table| !table.starts_with("orderql.")).count(), 124);
    assert_eq!(migrated.columns, Vec::<String>::new());
    assert_eq!(migrated.indexes, Vec::<String>::new());
    assert!(migrated.rows.contains(&("facility".to_owned(), 9)), "{migrated}");
    let report = migrated.to_string();
    assert!(report.contains("tables made:") && report.contains("order_facility_change"), "{report}");

    let unindexed = strings(
        &client,
        "SELECT conname::text FROM pg_constraint WHERE contype = 'f' AND NOT EXISTS (
            SELECT FROM pg_index WHERE indrelid = conrelid AND indkey::text = array_to_string(conkey, ' '))
         AND connamespace = 'public'::regnamespace",
    )
    .await;
    assert_eq!(unindexed, BTreeSet::new(), "each foreign key has an index on its columns");
    let references = string(
        &client,
        "SELECT count(*)::text FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace",
    )
    .await;
    assert_eq!(references.as_deref(), Some("334"));
    let held = string(&client, "SELECT status_type_id FROM status_item WHERE status_id = 'ORDER_HELD'").await;
    assert_eq!(held.as_deref(), Some("ORDER_STATUS"));

    let again = migrate(&mut client).await.unwrap();
    assert_eq!(again, MigrationReport::default());
    assert_eq!(again.to_string(), "Nothing to do: the database is up to date.");
}

#[tokio::test]
async fn adds_what_a_stock_database_lacks_and_changes_nothing_else() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    make_stock(&client).await;
    let (before, tables) = Contents::read(&client, None).await;
    let migrated = migrate(&mut client).await.unwrap();
    let (after, _) = Contents::read(&client, Some(&tables)).await;
    before.assert_included_in(&after);

    let mut created = Extension::read().tables;
    created.sort();
    let ofbiz_tables: Vec<_> = migrated.tables.iter().filter(|table| !table.starts_with("orderql.")).cloned().collect();
    assert_eq!(ofbiz_tables, created);
    assert_eq!(
        migrated.columns,
        [
            "facility.external_id",
            "good_identification.from_date",
            "good_identification.thru_date",
            "inventory_item_variance.reason_enum_id",
            "order_item.shipment_id",
            "order_item_ship_grp_inv_res.shipment_id",
            "order_role.from_date",
            "order_role.thru_date",
            "order_status.change_reason_enum_id",
            "picklist.created_date",
            "picklist.external_id",
            "picklist_item.picked",
            "product_store.allow_split",
            "product_store.product_identifier_enum_id",
            "return_adjustment.order_id",
            "return_header.external_id",
            "return_header.orderql_product_store_id",
            "return_header.return_date",
            "shipment.carrier_party_id",
            "shipment.external_id",
            "shipment.orderql_product_store_id",
            "shipment.shipment_method_type_id",
            "shipment_method_type.parent_type_id",
            "shipment_package.package_name",
            "shipment_package_route_seg.label_image_url",
            "shipment_route_segment.tracking_url",
            "shipment_status.shipment_status_id",
        ]
    );
    assert!(migrated.indexes.contains(&"shipment.oql_shipment_of_order".to_owned()), "{migrated}");
    assert!(
        !migrated.indexes.iter().any(|index| index.ends_with("oql_order_header_by_order_date")),
        "the operator has an index on the same columns"
    );
    assert!(
        !migrated.indexes.iter().any(|index| index.contains(".order_hdr_")),
        "existing tables get no indexes of OFBiz"
    );
    assert_eq!(
        migrated.rows.iter().map(|(table, _)| table.as_str()).filter(|table| !table.contains('.')).collect::<Vec<_>>(),
        ["status_item", "status_valid_change"]
    );
    let filled = |table: &str| migrated.filled.iter().find(|(name, _)| name == table).map(|(_, rows)| *rows);
    assert_eq!(filled("orderql.item_place"), Some(4), "{migrated}");
    assert_eq!(migrate(&mut client).await.unwrap(), MigrationReport::default());
}

#[tokio::test]
async fn back_fills_and_views_are_correct_on_a_stock_database() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    make_stock(&client).await;
    migrate(&mut client).await.unwrap();
    for (sql, rows) in [
        (
            "SELECT format('%s %s %s %s', order_id, order_item_seq_id, place, trim_scale(quantity)) FROM orderql.order_item",
            vec!["A 00001 00001 1", "A 00002 00001 1", "A 00002 00002 1", "B 00001  3"],
        ),
        ("SELECT order_id || ' ' || ship_group_seq_id FROM orderql.ship_group", vec!["A 00001", "A 00002"]),
        (
            "SELECT format('%s %s %s', product_id, quantity_on_hand, available_to_promise) FROM orderql.inventory_level",
            vec!["DIM 0.000000 0.000000", "NONE 0.000000 0.000000", "ONE 5.000000 4.000000", "TWO 9.000000 1.000000"],
        ),
        (
            "SELECT format('%s %s %s %s', facility_id, city, latitude, longitude) FROM orderql.facility_origin_address",
            vec!["PICKUP_REJECTED Rome  ", "_NA_ Orem 40.297264 -111.696625"],
        ),
        ("SELECT description FROM status_item WHERE status_id = 'ORDER_HELD'", vec!["On ice"]),
    ] {
        let found = strings(&client, sql).await;
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), rows, "{sql}");
    }
}

#[tokio::test]
async fn sums_the_details_of_inventory_items_into_their_totals() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client
        .batch_execute(
            "INSERT INTO inventory_item (inventory_item_id, quantity_on_hand_total, available_to_promise_total)
             VALUES ('SUMMED', NULL, 99), ('BARE', 3, 2);
             INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, quantity_on_hand_diff,
                available_to_promise_diff, accounting_quantity_diff)
             VALUES ('SUMMED', '1', 5, 5, 5), ('SUMMED', '2', -2, NULL, NULL)",
        )
        .await
        .unwrap();
    let summed = "SELECT orderql.sum_inventory_details()::text";
    assert_eq!(string(&client, summed).await.as_deref(), Some("1"));
    assert_eq!(string(&client, summed).await.as_deref(), Some("0"));
    let totals = strings(
        &client,
        "SELECT format('%s %s %s %s', inventory_item_id, quantity_on_hand_total, available_to_promise_total,
            accounting_quantity_total) FROM inventory_item",
    )
    .await;
    assert_eq!(
        totals.into_iter().collect::<Vec<_>>(),
        ["BARE 3.000000 2.000000 ", "SUMMED 3.000000 5.000000 5.000000"]
    );
}

#[tokio::test]
async fn the_planner_flattens_the_views() {
    let database = migrated_database().await;
    let client = database.connect().await;
    // Without statistics the planner may choose any plan. The test checks only what the plan must not contain.
    for (sql, absent) in [
        ("SELECT order_id FROM orderql.party_order WHERE bill_to_party_id = 'x'", vec![]),
        ("SELECT return_id FROM orderql.return_header WHERE return_id = 'x'", vec!["SubPlan", "order_header"]),
        ("SELECT contact_mech_id FROM orderql.order_contact WHERE order_id = 'x'", vec![" contact_mech "]),
        ("SELECT city FROM orderql.facility_origin_address WHERE facility_id = 'x'", vec!["geo_point"]),
        ("SELECT product_id FROM orderql.inventory_level WHERE facility_id = 'x'", vec!["inventory_item "]),
        ("SELECT quantity_on_hand FROM orderql.inventory_level WHERE facility_id = 'x'", vec!["SubPlan 2"]),
        ("SELECT ship_group_seq_id FROM orderql.ship_group WHERE order_id = 'x'", vec![]),
        ("SELECT first_name FROM orderql.bill_to_customer WHERE order_id = 'x'", vec![]),
        ("SELECT note_info FROM orderql.order_note WHERE order_id = 'x'", vec![]),
        ("SELECT order_id FROM orderql.order_by_identification WHERE id_value = 'x'", vec![]),
    ] {
        let rows = client.query(&format!("EXPLAIN (COSTS OFF) {sql}"), &[]).await.unwrap();
        let plan: String = rows.iter().map(|row| row.get::<_, String>(0) + " \n").collect();
        for word in absent.iter().chain(&["Subquery Scan"]) {
            assert!(!plan.contains(word), "{sql} has {word}:\n{plan}");
        }
    }
}

#[derive(clap::Parser)]
struct Command {
    #[command(flatten)]
    args: orderql::cli::migrate::Args,
}

#[tokio::test]
async fn the_command_accepts_an_address_in_both_formats() {
    let database = empty_database().await;
    let config = database.config();
    let [Host::Unix(socket)] = config.get_hosts() else {
        panic!("the cluster of the tests has a socket");
    };
    let (socket, name) = (socket.to_str().unwrap(), database.name());
    let pairs = format!("host={socket} user=postgres dbname={name}");
    let url = format!("postgresql://postgres@{}/{name}", socket.replace('/', "%2F"));
    for address in [pairs, url] {
        let command = Command::try_parse_from(["migrate", "--database-url", &address]).unwrap();
        // The command has a runtime of its own.
        thread::spawn(move || orderql::cli::migrate::run(command.args).unwrap()).join().unwrap();
    }
    let orders = string(&database.connect().await, "SELECT count(*)::text FROM order_header").await;
    assert_eq!(orders.as_deref(), Some("0"));
    assert!(Command::try_parse_from(["migrate", "--database-url", "nonsense"]).is_err());
}

#[tokio::test]
async fn a_role_without_the_privilege_gets_an_error_and_changes_nothing() {
    let database = empty_database().await;
    let admin = database.connect().await;
    let role = format!("role_of_{}", database.name());
    admin.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let mut config = database.config();
    let mut client = connect(config.user(&role)).await.unwrap();
    let error = migrate(&mut client).await.unwrap_err();
    drop(client);
    admin.batch_execute(&format!("DROP ROLE {role}")).await.unwrap();
    assert!(matches!(&error, MigrateError::NotAllowed { role: denied, .. } if *denied == role), "{error:?}");
    assert_eq!(string(&admin, "SELECT to_regnamespace('orderql')::text").await, None);
}

#[tokio::test]
async fn migrates_into_ofbizs_schema_whatever_the_search_path_is() {
    let database = empty_database().await;
    let mut client = database.connect().await;
    client.batch_execute("SET search_path TO orderql, public").await.unwrap();
    migrate(&mut client).await.unwrap();
    let schema =
        string(&client, "SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'order_header'").await;
    assert_eq!(schema.as_deref(), Some("public"));
}

#[tokio::test]
async fn rejects_a_database_of_a_newer_version() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute("UPDATE orderql.schema_state SET state = state + 1, version = '99.1.2'").await.unwrap();
    let error = migrate(&mut client).await.unwrap_err();
    assert!(matches!(&error, MigrateError::OtherVersion { version } if version == "99.1.2"), "{error:?}");
}

#[tokio::test]
async fn notifies_listeners_of_changes_of_access() {
    let database = migrated_database().await;
    let (client, mut connection) = database.config().connect(tokio_postgres::NoTls).await.unwrap();
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
            if let tokio_postgres::AsyncMessage::Notification(notification) = message {
                sender.send(notification.channel().to_owned()).unwrap();
            }
        }
    });
    client.batch_execute("LISTEN orderql_access").await.unwrap();
    // A role that may change accounts needs no right on the version.
    let role = format!("changer_of_{}", database.name());
    let create = format!(
        "CREATE ROLE {role}; GRANT USAGE ON SCHEMA orderql TO {role};
         GRANT ALL ON orderql.user_account, orderql.group_member, orderql.user_profile, orderql.artifact_grant, orderql.user_group
         TO {role}; SET ROLE {role}"
    );
    client.batch_execute(&create).await.unwrap();
    let version =
        async || -> i64 { client.query_one("SELECT version FROM orderql.access_version", &[]).await.unwrap().get(0) };
    for statement in [
        "INSERT INTO orderql.user_account (user_id, password_hash) VALUES ('u', 'h')",
        "INSERT INTO orderql.group_member VALUES ('API', 'u')",
        "INSERT INTO orderql.user_profile (user_id, max_cost) VALUES ('u', 5)",
        "UPDATE orderql.user_account SET disabled = true",
        "DELETE FROM orderql.artifact_grant",
        "DELETE FROM orderql.user_group",
    ] {
        let before = version().await;
        client.batch_execute(statement).await.unwrap();
        assert_eq!(received.recv().await.as_deref(), Some("orderql_access"), "{statement}");
        assert!(version().await > before, "{statement}");
    }
    let before = version().await;
    client.batch_execute("BEGIN; DELETE FROM orderql.user_account; ROLLBACK").await.unwrap();
    assert_eq!(version().await, before);
    client.batch_execute(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
