//! The rules of Moqui's file format, each with a file of a few rows.

use orderql::load::report::FileReport;
use tokio_postgres::Client;

use crate::load::loading::{count, load_xml, rejected, row_counts, rows_as_text};
use crate::support::database::migrated_database;

/// Loads rows of which some may be rejected.
async fn load_moqui(client: &mut Client, rows: &str) -> FileReport {
    let xml = format!("<?xml version=\"1.0\"?>\n<entity-facade-xml type=\"seed\">{rows}</entity-facade-xml>");
    load_xml(client, &xml).await.unwrap()
}

#[tokio::test]
async fn loads_rows_named_with_and_without_their_package() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = load_moqui(
        &mut client,
        "<moqui.basic.EnumerationType enumTypeId=\"T\" description=\"null\"/>\
         <moqui.basic.Enumeration enumId=\"E\" enumTypeId=\"T\" statusFlowId=\"1\"/><enums enumId=\"F\" enumTypeId=\"T\"/>\
         <Party partyId=\"P\"/><org.apache.ofbiz.product.product.Product productId=\"X\">\
         <longDescription><![CDATA[<p>long</p>\ntext]]></longDescription></org.apache.ofbiz.product.product.Product>\
         <moqui.service.job.ServiceJob jobName=\"J\"><parameters parameterName=\"p\"/></moqui.service.job.ServiceJob>",
    )
    .await;
    assert_eq!(report.bad_rows(), 0, "{report}");
    let lines = report.to_string();
    assert!(
        lines.starts_with(
            "test.xml: 5 rows of 4 entities (Enumeration 2, EnumerationType 1, Party 1, Product 1); \
             2 rows of 2 unknown entities skipped (ServiceJob 1, parameters 1); 0 bad\n\
             test.xml: Enumeration.statusFlowId ignored 1×"
        ),
        "{lines}"
    );
    assert_eq!(
        rows_as_text(&client, "SELECT long_description FROM product WHERE product_id = 'X'").await,
        ["(\"<p>long</p>\ntext\")"]
    );
    assert_eq!(count(&client, "SELECT count(*) FROM enumeration_type WHERE description IS NULL").await, 1);
}

#[tokio::test]
async fn reads_milliseconds_as_moqui_writes_times() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let rows = "<OrderHeader orderId=\"O\" orderDate=\"1265184000123\" entryDate=\"2013-09-03 12:56\"/>\
        <Person partyId=\"_NA_\" birthDate=\"-4867968600000\"/>";
    assert_eq!(load_moqui(&mut client, rows).await.bad_rows(), 0);
    let times = "SELECT order_date AT TIME ZONE 'UTC', entry_date AT TIME ZONE 'UTC', birth_date \
        FROM order_header, person WHERE order_id = 'O' AND party_id = '_NA_'";
    assert_eq!(
        rows_as_text(&client, times).await,
        ["(\"2010-02-03 08:00:00.123\",\"2013-09-03 12:56:00\",1815-09-29)"]
    );
    // OFBiz writes no milliseconds.
    let xml = "<entity-engine-xml>\n<OrderHeader orderId='O' orderDate='20100203'/></entity-engine-xml>";
    let report = load_xml(&mut client, xml).await.unwrap();
    assert!(
        report.to_string().contains("test.xml:2: OrderHeader: orderDate: `20100203` is not a timestamp"),
        "{report}"
    );
}

#[tokio::test]
async fn rows_inside_rows_inherit_their_keys() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = load_moqui(
        &mut client,
        "<org.apache.ofbiz.product.facility.Facility facilityId=\"F\">\n\
           <Parent-org.apache.ofbiz.product.facility.Facility facilityId=\"G\"/>\n\
           <org.apache.ofbiz.party.contact.ContactMech contactMechId=\"C\">\n\
             <org.apache.ofbiz.party.contact.PostalAddress><city>Delft</city></org.apache.ofbiz.party.contact.PostalAddress>\n\
             <org.apache.ofbiz.product.facility.FacilityContactMech fromDate=\"2020-1-2 3:04:05\"/>\n\
           </org.apache.ofbiz.party.contact.ContactMech>\n\
           <facilityName>F's name</facilityName>\n\
         </org.apache.ofbiz.product.facility.Facility>",
    )
    .await;
    assert_eq!(report.bad_rows(), 0, "{report}");
    assert_eq!(
        rows_as_text(
            &client,
            "SELECT facility_id, parent_facility_id, facility_name FROM facility WHERE facility_id IN ('F', 'G')"
        )
        .await,
        ["(F,,\"F's name\")", "(G,F,)"]
    );
    let contact = "SELECT facility_id, contact_mech_id, from_date AT TIME ZONE 'UTC', city \
        FROM facility_contact_mech JOIN postal_address USING (contact_mech_id) WHERE facility_id = 'F'";
    assert_eq!(rows_as_text(&client, contact).await, ["(F,C,\"2020-01-02 03:04:05\",Delft)"]);
}

#[tokio::test]
async fn rows_inside_skipped_rows_are_skipped_if_they_lack_a_key() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = load_moqui(
        &mut client,
        "<x.NoTable id=\"1\"><PartyRole roleTypeId=\"CARRIER\"/><Party partyId=\"P\"/></x.NoTable>\n\
         <Party><PartyRole roleTypeId=\"CARRIER\"/></Party>\n\
         <Party partyId=\"Q\"><description><b>bold</b></description></Party>",
    )
    .await;
    assert_eq!(
        report.skipped.iter().map(|(entity, rows)| (entity.as_str(), *rows)).collect::<Vec<_>>(),
        [("NoTable", 1), ("PartyRole", 1)]
    );
    assert_eq!(row_counts(&report, "Party"), [2, 0, 0, 0]);
    let bad: Vec<_> = report.bad.iter().map(|bad| format!("{} {}: {}", bad.line, bad.entity, bad.error)).collect();
    assert_eq!(
        bad,
        [
            "3 Party: party_id is part of the key and is missing or empty",
            "3 PartyRole: party_id is part of the key and is missing or empty",
            "4 Party: description holds an element; a field holds text only (write `<` as `&lt;` or use CDATA)",
        ]
    );
}

#[tokio::test]
async fn operations_define_the_action_and_services_are_skipped() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_moqui(&mut client, "<Party partyId=\"P\" description=\"old\"/><Party partyId=\"Q\"/>").await;
    let report = load_moqui(
        &mut client,
        "<create-p.Party partyId=\"P\" description=\"new\"/><update-p.Party partyId=\"P\" externalId=\"E\"/>\
         <delete-p.Party partyId=\"Q\"/><store-Party partyId=\"R\"/><some.PartyServices.create-Party partyId=\"S\"/>",
    )
    .await;
    assert_eq!((row_counts(&report, "Party"), report.skipped_rows()), ([1, 1, 1, 1], 1));
    let parties =
        "SELECT party_id, description, external_id FROM party WHERE party_id IN ('P', 'Q', 'R', 'S') ORDER BY 1";
    assert_eq!(rows_as_text(&client, parties).await, ["(P,old,E)", "(R,,)"]);
    let report = load_moqui(&mut client, "<Party partyId=\"T\">\n<PartyRole roleTypeId=\"NONE\"/></Party>").await;
    assert_eq!(rejected(&report), [(3, "PartyRole", "23503")]);
}

#[tokio::test]
async fn skips_a_transform_file() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = "<entity-engine-transform-xml template=\"component://x.ftl\">\n<Party partyId=\"P\"/></entity-engine-transform-xml>";
    let report = load_xml(&mut client, xml).await.unwrap();
    assert_eq!((report.rows(), report.bad_rows()), (0, 0));
    assert_eq!(
        report.to_string(),
        "test.xml: skipped: OFBiz makes the rows of an <entity-engine-transform-xml> with a template"
    );
    assert_eq!(count(&client, "SELECT count(*) FROM party WHERE party_id = 'P'").await, 0);
}
