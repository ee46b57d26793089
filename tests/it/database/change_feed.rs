//! The change feed of orders: the triggers that the migration makes, and what they mark.

mod commands;
mod race;
mod reader;
mod recovery;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use orderql::catalog::Catalog;
use orderql::catalog::binding::Binding;
use orderql::catalog::feed::FeedPart;
use orderql::catalog::ids::{FieldId, TypeId};
use orderql::catalog::schema::ObjectKind;
use tokio_postgres::Client;

use crate::support::database::migrated_database;

/// Types whose rows belong to very many orders, so that a change of one is a change of none, and names of values.
const SHARED: &[&str] = &[
    "Party",
    "Product",
    "Facility",
    "FacilityOriginAddress",
    "ProductStore",
    "InventoryItem",
    "PostalAddress",
    "TelecomNumber",
    "GiftCard",
    "OrderType",
    "StatusItem",
    "Enumeration",
    "Geo",
    "Uom",
    "OrderItemType",
    "OrderAdjustmentType",
    "OrderItemAssocType",
    "CommunicationEventType",
    "PaymentMethodType",
    "PaymentType",
    "ContactMechPurposeType",
    "ShipmentType",
    "ShipmentMethodType",
    "ShipmentBoxType",
    "ReturnHeaderType",
    "ReturnReason",
    "ReturnType",
    "ReturnItemType",
    "ReturnAdjustmentType",
];

/// Tables of these that views of other types read too: names of customers, and addresses; and what triggers keep of tables that mark orders.
const SHARED_TABLES: &[&str] = &["person", "party_group", "contact_mech", "postal_address", "orderql.item_place"];

/// The tables that a relation reads: itself, or what its view is made of.
const TABLES: &str = "
    WITH RECURSIVE read AS (
        SELECT to_regclass($1)::oid AS oid
        UNION
        SELECT pg_depend.refobjid
        FROM read
        JOIN pg_rewrite ON pg_rewrite.ev_class = read.oid
        JOIN pg_depend ON pg_depend.classid = 'pg_rewrite'::regclass AND pg_depend.objid = pg_rewrite.oid
                      AND pg_depend.refclassid = 'pg_class'::regclass
    )
    SELECT oid::regclass::text FROM read JOIN pg_class USING (oid) WHERE relkind IN ('r', 'p')";

fn parts(catalog: &Catalog) -> &[FeedPart] {
    &catalog.feeds().iter().find(|feed| feed.name == "order_change").unwrap().parts
}

/// The relations of the types that an order reaches without crossing one that is shared, each with a type.
fn reached(catalog: &Catalog) -> BTreeMap<String, String> {
    let order = catalog.named("Order").unwrap();
    let (mut found, mut queue) = (BTreeMap::new(), VecDeque::from([order]));
    let mut seen: BTreeSet<TypeId> = BTreeSet::from([order]);
    while let Some(id) = queue.pop_front() {
        let object = catalog.object(id).unwrap();
        let ObjectKind::Entity(entity) = object.kind else { panic!("{} has no relation", object.name) };
        found.insert(catalog.entity(entity).relation.clone(), object.name.clone());
        for (index, _) in (0..).zip(&object.fields) {
            let binding = catalog.binding(FieldId { object: id, index });
            let target = match binding {
                Binding::Entity(orderql::catalog::binding::EntityBinding::One(one)) => one.target,
                _ => match binding.connection() {
                    Some(connection) => connection.node,
                    None => continue,
                },
            };
            let name = catalog.get(target.ty()).name();
            if !SHARED.contains(&name) && seen.insert(target.ty()) {
                queue.push_back(target.ty());
            }
        }
    }
    found
}

#[tokio::test]
async fn the_migration_makes_the_feed_that_the_schema_file_declares() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let catalog = Catalog::built_in().unwrap();
    let select =
        "SELECT relation, by_column, through, to_column, key_column FROM orderql.sync_part WHERE feed = 'order_change'";
    let made: BTreeSet<[String; 5]> = client
        .query(select, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| [0, 1, 2, 3, 4].map(|column| row.get(column)))
        .collect();
    let declared = parts(&catalog).iter().map(|FeedPart { relation, by, through }| {
        let through = through.as_ref().map(|through| [&through.relation, &through.to, &through.key].map(Clone::clone));
        let [through, to, key] = through.unwrap_or_default();
        [relation.clone(), by.clone(), through, to, key]
    });
    assert_eq!(made, declared.collect());
    let faults = client.query("SELECT * FROM orderql.sync_trigger_faults()", &[]).await.unwrap();
    assert!(faults.is_empty(), "{faults:?}");
}

#[tokio::test]
async fn every_table_that_an_order_reaches_marks_it_unless_it_is_shared() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let catalog = Catalog::built_in().unwrap();
    let marking: BTreeSet<&str> = parts(&catalog).iter().map(|part| part.relation.as_str()).collect();
    let reached = reached(&catalog);
    assert!(reached.len() > 25, "{reached:?}");
    for (relation, ty) in reached {
        for row in client.query(TABLES, &[&relation]).await.unwrap() {
            let table: String = row.get(0);
            assert!(
                marking.contains(table.as_str()) || SHARED_TABLES.contains(&table.as_str()),
                "{ty} reads {table}, whose changes mark no order: declare it with @part, or list it as shared"
            );
        }
    }
    let with_order_ids = client
        .query(
            "SELECT relname::text FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
             WHERE attname IN ('order_id', 'primary_order_id') AND relkind = 'r' AND relnamespace = 'public'::regnamespace",
            &[],
        )
        .await
        .unwrap();
    for row in with_order_ids {
        let table: String = row.get(0);
        assert!(marking.contains(table.as_str()), "{table} has an order's id, and marks none");
    }
}

/// The orders that a statement marks, in a transaction of its own.
async fn marked(client: &Client, sql: &str) -> Vec<String> {
    client.batch_execute("BEGIN").await.unwrap();
    client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    let select =
        "SELECT DISTINCT order_id FROM orderql.order_change WHERE xid = pg_current_xact_id() ORDER BY order_id";
    let orders = client.query(select, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    client.batch_execute("COMMIT").await.unwrap();
    orders
}

#[tokio::test]
async fn a_change_marks_the_orders_that_the_row_belonged_to_and_belongs_to() {
    let database = migrated_database().await;
    let client = database.connect().await;
    // As logical replication does, which runs no check of a reference: the triggers run all the same.
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    for (sql, orders) in [
        ("INSERT INTO order_header (order_id) VALUES ('A'), ('B'), ('C')", "A B C"),
        ("UPDATE order_header SET order_name = 'x' WHERE order_id = 'A'", "A"),
        ("INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('A', '1'), ('B', '1')", "A B"),
        ("UPDATE order_item SET order_id = 'C' WHERE order_id = 'B'", "B C"),
        ("DELETE FROM order_item WHERE order_id = 'C'", "C"),
        ("INSERT INTO shipment (shipment_id, primary_order_id) VALUES ('S', 'A'), ('T', NULL)", "A"),
        ("INSERT INTO shipment_item (shipment_id, shipment_item_seq_id) VALUES ('S', '1'), ('T', '1')", "A"),
        ("UPDATE shipment SET primary_order_id = 'B' WHERE shipment_id = 'S'", "A B"),
        ("UPDATE shipment_item SET quantity = 2", "B"),
        ("INSERT INTO shipment_package (shipment_id, shipment_package_seq_id) VALUES ('S', '1')", "B"),
        ("INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id, quantity)
          VALUES ('C', '1', '1', 'S', '1', 1)", "B C"),
        ("DELETE FROM shipment WHERE shipment_id = 'S'", "B"),
        ("INSERT INTO return_header (return_id) VALUES ('R')", ""),
        ("INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('R', '1', 'A'), ('R', '2', 'B')", "A B"),
        ("UPDATE return_header SET status_id = 'RETURN_ACCEPTED'", "A B"),
        ("UPDATE return_item SET return_item_response_id = 'X' WHERE order_id = 'B'", "A B"),
        ("INSERT INTO return_item_response (return_item_response_id, payment_id) VALUES ('X', 'P')", "B"),
        ("INSERT INTO payment (payment_id) VALUES ('P')", "B"),
        ("INSERT INTO order_payment_preference (order_payment_preference_id, order_id) VALUES ('O', 'C')", "C"),
        ("UPDATE payment SET payment_preference_id = 'O'", "B C"),
        ("INSERT INTO note_data (note_id) VALUES ('N')", ""),
        ("INSERT INTO order_header_note (order_id, note_id) VALUES ('A', 'N')", "A"),
        ("UPDATE note_data SET note_info = 'x'", "A"),
        ("DELETE FROM order_header WHERE order_id = 'A'", "A"),
        ("UPDATE product_store SET store_name = 'x'", ""),
    ] {
        assert_eq!(marked(&client, sql).await.join(" "), orders, "{sql}");
    }
}

#[tokio::test]
async fn truncating_a_table_begins_an_epoch() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let epoch = async || {
        let row = client.query_one("SELECT epoch, timeline FROM orderql.sync_epoch()", &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i32>(1))
    };
    let before = epoch().await;
    assert_eq!(before.1, 1);
    assert_eq!(epoch().await, before);
    client.batch_execute("TRUNCATE order_item_change").await.unwrap();
    assert_ne!(epoch().await.0, before.0);
    let role = format!("reader_of_{}", database.name());
    client
        .batch_execute(&format!("CREATE ROLE {role}; GRANT USAGE ON SCHEMA orderql TO {role}; SET ROLE {role}"))
        .await
        .unwrap();
    epoch().await;
    client.batch_execute(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
