//! The rules of OFBiz's file format, each with a file of a few rows.

use std::collections::BTreeMap;

use crate::load::loading::{count, load_rows, load_xml, rejected, row_counts, rows_as_text, try_load_rows};
use crate::support::database::migrated_database;

#[tokio::test]
async fn an_upsert_sets_the_named_fields_and_no_other() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_rows(&mut client, "<Party partyId='P' statusId='PARTY_ENABLED' externalId='E' description='d'/>").await;
    let report =
        load_rows(&mut client, "<Party partyId='P'/><Party partyId='P' description='new' externalId=''/>").await;
    assert_eq!(row_counts(&report, "Party"), [0, 1, 1, 0]);
    assert_eq!(
        rows_as_text(&client, "SELECT status_id, external_id, description FROM party WHERE party_id = 'P'").await,
        ["(PARTY_ENABLED,,new)"]
    );
}

#[tokio::test]
async fn stamps_are_the_times_of_creation_and_change() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let stamps = "SELECT created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp FROM party \
        WHERE party_id = 'P'";
    // Without maintain-timestamps, the stamps in the file are ignored.
    load_rows(&mut client, "<Party partyId='P' createdStamp='2001-01-01 00:00:00' description='a'/>").await;
    let created = rows_as_text(&client, stamps).await;
    assert!(!created[0].contains("2001"), "{created:?}");
    load_rows(&mut client, "<Party partyId='P' description='a'/>").await;
    assert_eq!(rows_as_text(&client, stamps).await, created);
    load_rows(&mut client, "<Party partyId='P' description='b'/>").await;
    let later = "SELECT last_updated_stamp > created_stamp AND last_updated_tx_stamp > created_tx_stamp \
        FROM party WHERE party_id = 'P'";
    assert_eq!(rows_as_text(&client, later).await, ["(t)"]);
    assert_eq!(
        rows_as_text(&client, "SELECT created_stamp, created_tx_stamp FROM party WHERE party_id = 'P'").await[0],
        format!("{})", created[0].split(',').take(2).collect::<Vec<_>>().join(","))
    );
    let xml = "<entity-engine-xml maintain-timestamps='true'>\
        <Party partyId='P' createdStamp='2001-02-03 04:05:06.789' lastUpdatedStamp='2002-02-03 04:05:06.789'/>\
        <Party partyId='Q' createdStamp='2001-02-03 04:05:06.789'/></entity-engine-xml>";
    load_xml(&mut client, xml).await.unwrap();
    assert_eq!(
        rows_as_text(
            &client,
            "SELECT extract(year FROM created_stamp), extract(year FROM last_updated_stamp) < 2003, \
             last_updated_tx_stamp IS NULL FROM party WHERE party_id IN ('P', 'Q') ORDER BY party_id"
        )
        .await,
        ["(2001,t,f)", "(2001,f,f)"]
    );
}

#[tokio::test]
async fn applies_create_replace_update_and_delete() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_rows(&mut client, "<Party partyId='P' description='old' externalId='E'/><Party partyId='D'/>").await;
    let report = load_rows(
        &mut client,
        "<create><Party partyId='P' description='ignored'/><Party partyId='N' description='created'/></create>\
         <delete><Party partyId='D' description='ignored'/><Party partyId='NONE'/></delete>",
    )
    .await;
    assert_eq!(row_counts(&report, "Party"), [1, 0, 2, 1]);
    let rows = "SELECT party_id, description, external_id FROM party WHERE party_id IN ('P', 'N', 'D') ORDER BY 1";
    assert_eq!(rows_as_text(&client, rows).await, ["(N,created,)", "(P,old,E)"]);
    load_rows(&mut client, "<create-replace><Party partyId='P' description='only this'/></create-replace>").await;
    assert_eq!(rows_as_text(&client, rows).await, ["(N,created,)", "(P,\"only this\",)"]);
    let created = "SELECT count(*) FROM party WHERE party_id = 'P' AND created_stamp IS NOT NULL";
    assert_eq!(count(&client, created).await, 1);
    load_rows(&mut client, "<create-update><Party partyId='P' externalId='F'/></create-update>").await;
    assert_eq!(rows_as_text(&client, rows).await, ["(N,created,)", "(P,\"only this\",F)"]);
}

#[tokio::test]
async fn creates_deletes_and_recreates_a_row_in_the_order_of_the_file() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = load_rows(
        &mut client,
        "<Party partyId='P' description='1'/><PartyRole partyId='P' roleTypeId='CARRIER'/>\
         <delete><PartyRole partyId='P' roleTypeId='CARRIER'/><Party partyId='P'/></delete>\
         <Party partyId='P' externalId='2'/><Party partyId='P' externalId='3'/>",
    )
    .await;
    assert_eq!(row_counts(&report, "Party"), [2, 1, 0, 1]);
    assert_eq!(
        rows_as_text(&client, "SELECT description, external_id FROM party WHERE party_id = 'P'").await,
        ["(,3)"]
    );
    assert_eq!(count(&client, "SELECT count(*) FROM party_role WHERE party_id = 'P'").await, 0);
}

#[tokio::test]
async fn reads_values_as_ofbiz_writes_them() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_rows(
        &mut client,
        "<x-OrderHeader orderId='O' orderDate='2026-03-29 02:30:00.5' grandTotal='1.005' orderName='null' \
          entryDate='null'><internalCode><![CDATA[<&>]]></internalCode></x-OrderHeader>\
         <n:Person partyId='_NA_' birthDate='1815-12-10' height='1.650' firstName='${name}' lastName='Łódź &#x1F600;'/>\
         <Shipment shipmentId='S'/><ShipmentPackage shipmentId='S' shipmentPackageSeqId='1'/>\
         <ShipmentRouteSegment shipmentId='S' shipmentRouteSegmentId='1'/>\
         <ShipmentPackageRouteSeg shipmentId='S' shipmentPackageSeqId='1' shipmentRouteSegmentId='1'>\
         <labelImage>AP8Q\nIA==</labelImage></ShipmentPackageRouteSeg>",
    )
    .await;
    assert_eq!(
        rows_as_text(
            &client,
            "SELECT order_date AT TIME ZONE 'UTC', grand_total, order_name, entry_date, internal_code \
             FROM order_header WHERE order_id = 'O'"
        )
        .await,
        ["(\"2026-03-29 02:30:00.5\",1.01,null,,<&>)"]
    );
    assert_eq!(
        rows_as_text(&client, "SELECT birth_date, height, first_name, last_name FROM person WHERE party_id = '_NA_'")
            .await,
        ["(1815-12-10,1.65,${name},\"Łódź 😀\")"]
    );
    assert_eq!(
        rows_as_text(
            &client,
            "SELECT encode(label_image, 'hex') FROM shipment_package_route_seg WHERE shipment_id = 'S'"
        )
        .await,
        ["(00ff1020)"]
    );
}

#[tokio::test]
async fn reads_times_as_java_and_iso_write_them() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = try_load_rows(
        &mut client,
        "\n<OrderHeader orderId='O1' orderDate='2009-12-03 9:00:00.000'/>\
         <OrderHeader orderId='O2' orderDate='2009-12-3 09:00'/>\
         <OrderHeader orderId='O3' orderDate='2009-12-03T10:00:00+01:00'/>\
         <OrderHeader orderId='O4' orderDate='2009-12-03T09:00:00.000Z'/>\
         <Person partyId='_NA_' birthDate='1815-9-29'/>\n\
         <OrderHeader orderId='O5' orderDate='2009-12-03 9'/>\n\
         <Person partyId='_NA_' birthDate='1815-9-31'/>",
    )
    .await;
    let bad: Vec<_> = report.bad.iter().map(|bad| format!("{}: {}", bad.line, bad.error)).collect();
    assert_eq!(
        bad,
        [
            "3: orderDate: `2009-12-03 9` is not a timestamp such as 2009-08-10 09:05:00.5 (in UTC) or \
             2009-08-10T09:05:00+02:00",
            "4: birthDate: `1815-9-31` is not a date: yyyy-mm-dd",
        ]
    );
    let dates = "SELECT DISTINCT order_date AT TIME ZONE 'UTC', (SELECT birth_date FROM person WHERE party_id = '_NA_') \
        FROM order_header WHERE order_id IN ('O1', 'O2', 'O3', 'O4', 'O5')";
    assert_eq!(rows_as_text(&client, dates).await, ["(\"2009-12-03 09:00:00\",1815-09-29)"]);
}

#[tokio::test]
async fn a_value_that_its_column_rounds_is_no_change_the_second_time() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = "<OrderHeader orderId='O' grandTotal='1.005' orderDate='2026-01-01 00:00:00.123456789'/>";
    assert_eq!(row_counts(&load_rows(&mut client, xml).await, "OrderHeader"), [1, 0, 0, 0]);
    assert_eq!(row_counts(&load_rows(&mut client, xml).await, "OrderHeader"), [0, 0, 1, 0]);
}

#[tokio::test]
async fn an_update_may_omit_columns_that_are_not_nullable() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_rows(&mut client, "<GeoPoint geoPointId='G' latitude='40.5' longitude='-73.25'/>").await;
    let report =
        load_rows(&mut client, "<GeoPoint geoPointId='G' description='here'/><GeoPoint geoPointId='G'/>").await;
    assert_eq!(row_counts(&report, "GeoPoint"), [0, 1, 1, 0]);
    let report = try_load_rows(&mut client, "<GeoPoint geoPointId='H' description='nowhere'/>").await;
    assert_eq!(rejected(&report), [(1, "GeoPoint", "23502")]);
}

#[tokio::test]
async fn skips_and_counts_unknown_entities_and_fields() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = load_rows(
        &mut client,
        "<NoSuchThing a='b'/><NoSuchThing/><party partyId='lower'/><Party partyId='P' favouriteColour='red'/>\
         <Party partyId='Q' favouriteColour='' party_type_id='PERSON'/><UserLogin userLoginId='u' currentPassword='{SHA}x' \
         enabled='Y'/>",
    )
    .await;
    assert_eq!(report.skipped, BTreeMap::from([("NoSuchThing".to_owned(), 2), ("party".to_owned(), 1)]));
    let unknown: Vec<_> = report
        .unknown_fields
        .iter()
        .map(|((entity, field), times)| (entity.as_str(), field.as_str(), *times))
        .collect();
    assert_eq!(unknown, [("Party", "favouriteColour", 2), ("Party", "party_type_id", 1)]);
    assert_eq!(
        rows_as_text(&client, "SELECT enabled, current_password FROM user_login WHERE user_login_id = 'u'").await,
        ["(Y,)"]
    );
    assert_eq!(
        report.to_string().lines().collect::<Vec<_>>(),
        [
            "test.xml: 3 rows of 2 entities (Party 2, UserLogin 1); 3 rows of 2 unknown entities skipped (NoSuchThing 2, party 1); 0 bad",
            "test.xml: Party.favouriteColour ignored 2×: its table has no such column",
            "test.xml: Party.party_type_id ignored 1×: its table has no such column",
        ]
    );
}
