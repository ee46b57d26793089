//! The loader against a real database: OFBiz's own files and ours, every fact of their format, and what goes wrong.

use std::collections::BTreeMap;
use std::path::Path;

use orderql::cli;
use orderql::load::error::{LoadError, RowError};
use orderql::load::finish::{check_ready, finish};
use orderql::load::input::InputFile;
use orderql::load::loader::{Progress, load_file};
use orderql::load::report::{FileReport, RowCounts};
use tokio_postgres::Client;

use crate::support::database::{Database, empty_database, migrated_database};

/// Rows of each table after all of OFBiz's files, and of no others.
const OFBIZ_ROWS: &str = "\
    carrier_shipment_box_type 11, carrier_shipment_method 61, contact_mech 26, contact_mech_purpose_type 35, \
    contact_mech_type 9, enumeration 295, enumeration_type 54, facility 5, facility_contact_mech 3, \
    facility_contact_mech_purpose 5, facility_group 1, facility_location 12, facility_type 8, geo 333, geo_point 3, \
    good_identification 1, good_identification_type 11, inventory_item 26, inventory_item_detail 28, item_issuance 4, \
    order_adjustment 17, order_adjustment_type 15, order_contact_mech 11, order_header 6, order_item 7, \
    order_item_ship_group 5, order_item_ship_group_assoc 6, order_item_ship_grp_inv_res 3, order_item_type 8, \
    order_payment_preference 3, order_role 27, order_status 29, order_type 2, party 108, party_contact_mech 27, \
    party_contact_mech_purpose 41, party_group 81, party_identification 2, party_role 198, party_status 60, \
    party_type 9, payment_method_type 17, person 25, postal_address 11, product 72, product_assoc 50, \
    product_category 41, product_facility 20, product_facility_location 17, product_store 1, \
    product_store_facility 5, product_type 18, return_header 1, return_header_type 2, return_item 1, return_reason 7, \
    return_type 9, role_type 103, shipment 5, shipment_box_type 11, shipment_item 4, shipment_method_type 52, \
    shipment_package 2, shipment_package_content 2, shipment_package_route_seg 2, shipment_route_segment 2, \
    shipment_status 6, shipment_type 8, status_item 174, status_type 41, status_valid_change 251, telecom_number 5, \
    uom 269, uom_type 12, user_login 22, excluded_order_facility 0, facility_group_member 0, \
    facility_identification 0, inventory_item_variance 0, order_attribute 0, order_facility_change 0, \
    order_identification 0, order_item_attribute 0, order_item_change 0, order_shipment 0, picklist 0, \
    picklist_bin 0, picklist_item 0, return_adjustment 0, return_identification 0, return_status 0, \
    shipment_content 0";

#[tokio::test]
async fn ofbiz_files_load_whole_into_empty_tables() {
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
        for (entity, outcome) in &report.entities {
            assert_eq!(outcome.deleted, 0, "{entity}");
        }
    }
    let inserted: u64 =
        reports.iter().flat_map(|report| report.entities.values()).map(|outcome| outcome.inserted).sum();
    assert_eq!(i64::try_from(inserted).unwrap(), count(&client, &count_of_all(&client).await).await);
}

#[tokio::test]
async fn ofbiz_files_come_to_what_ofbiz_makes_of_them() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    load_folder(&mut client, "ofbiz").await;
    let finished = finish(&mut client).await.unwrap();
    assert!(finished.inventory_totals > 0 && finished.ship_groups == 6, "{finished}");

    // Totals are the sums of the details.
    for (item, promised, on_hand) in
        [("9000", "500", "500"), ("9001", "0", "5"), ("9005", "5", "5"), ("9025", "1", "2")]
    {
        let totals = format!(
            "SELECT trim_scale(available_to_promise_total), trim_scale(quantity_on_hand_total) \
             FROM inventory_item WHERE inventory_item_id = '{item}'"
        );
        assert_eq!(texts(&client, &totals).await, [format!("({promised},{on_hand})")], "{item}");
    }
    let uneven = "SELECT count(*) FROM product_facility p WHERE last_inventory_count IS DISTINCT FROM \
        (SELECT sum(available_to_promise_total) FROM inventory_item i \
         WHERE (i.product_id, i.facility_id) = (p.product_id, p.facility_id)) \
        AND EXISTS (SELECT FROM inventory_item i WHERE (i.product_id, i.facility_id) = (p.product_id, p.facility_id))";
    assert_eq!(count(&client, uneven).await, 0);
    // Items know their ship group; the one order without groups stays without.
    assert_eq!(
        texts(&client, "SELECT order_id, ship_group_seq_id FROM order_item WHERE ship_group_seq_id IS NULL").await,
        ["(TEST_DEMO10090,)"]
    );
    // The last of two definitions holds, and a stub leaves the rest alone.
    assert_eq!(
        texts(&client, "SELECT facility_id FROM inventory_item WHERE inventory_item_id = 'GZ9003'").await,
        ["(StoreWarehouse2)"]
    );
    assert_eq!(
        texts(&client, "SELECT party_type_id, status_id FROM party WHERE party_id = 'DemoCustomer'").await,
        ["(PERSON,PARTY_ENABLED)"]
    );
    // Text in CDATA, and outside ASCII.
    assert_eq!(count(&client, "SELECT count(*) FROM product WHERE long_description LIKE '%<%'").await, 1);
    assert!(count(&client, "SELECT count(*) FROM geo WHERE geo_name ~ '[^[:ascii:]]'").await > 0);
    // No password, though the files have some.
    assert_eq!(count(&client, "SELECT count(*) FROM user_login").await, 22);
    assert_eq!(count(&client, "SELECT count(current_password) FROM user_login").await, 0);
    // Stamps are the loader's.
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
    let mut outcome = RowCounts::default();
    for folder in ["ofbiz", "orders"] {
        for report in load_folder(&mut again, folder).await {
            for rows in report.entities.values() {
                outcome.inserted += rows.inserted;
                outcome.updated += rows.updated;
            }
        }
    }
    // Some rows are defined twice and differently: they go back and forth, and end as they were, stamps and all.
    assert_eq!(outcome.inserted, 0);
    assert!(outcome.updated > 0);
    let finished = finish(&mut again).await.unwrap();
    assert!(finished.restored > 0);
    assert_eq!(checksums(&again).await, before);
    // With nothing going back and forth nothing is done at all.
    let finished = finish(&mut again).await.unwrap();
    assert_eq!((finished.inventory_totals, finished.last_counts, finished.restored), (0, 0, 0));
}

#[tokio::test]
async fn our_own_files_show_what_they_are_for() {
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
            "an item spread over groups is in the lowest",
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
            "sold out is 0, and a pointer stays",
            "SELECT i.available_to_promise_total::int, p.inventory_item_id FROM product_facility p \
             JOIN inventory_item i USING (inventory_item_id) WHERE p.product_id = 'SHIRT_M'",
            "(0,INV_SHIRT_M)",
        ),
        (
            "a pointer that is given stays",
            "SELECT inventory_item_id FROM product_facility WHERE product_id = 'SHIRT_L'",
            "(INV_SHIRT_L_NEW)",
        ),
        (
            "totals without details stay",
            "SELECT trim_scale(quantity_on_hand_total) FROM inventory_item WHERE inventory_item_id = 'INV_PROD_10'",
            "(12.5)",
        ),
        (
            "a pair that was never stocked has no item",
            "SELECT count(*) FROM product_facility WHERE product_id = 'MUG' AND inventory_item_id IS NULL",
            "(1)",
        ),
        (
            "control characters arrive",
            r"SELECT last_name = E'Line\nfeed\rreturn\u007f\u0085\u2028end' FROM person WHERE party_id = 'CUST_CONTROL'",
            "(t)",
        ),
        (
            "CDATA arrives with its line ends",
            r#"SELECT long_description LIKE E'<p>Holds "coffee" & tea;\n\tnot {%' FROM product WHERE product_id = 'MUG'"#,
            "(t)",
        ),
        ("orders to walk", "SELECT count(*) >= 40 FROM order_header WHERE order_id LIKE 'WALK%'", "(t)"),
    ] {
        assert_eq!(texts(client, sql).await, [expected], "{what}");
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
        assert!(texts(client, &sql).await.is_empty(), "{key}");
    }
    assert!(count(client, "SELECT count(*) - count(from_date) FROM good_identification").await > 0);
}

// What goes wrong.

#[tokio::test]
async fn bad_records_are_reported_and_the_rest_lands() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = attempted(
        &mut client,
        "<Party partyId='GOOD_1'/>\n\
         <Party description='no key'/>\n\
         <Party partyId=''/>\n\
         <PartyRole partyId='GOOD_1'/>\n\
         <Party partyId='123456789012345678901'/>\n\
         <PartyRole partyId='NOBODY' roleTypeId='CARRIER'/>\n\
         <Party partyId='P' createdDate='yesterday'/>\n\
         <Product productId='X' productHeight='1e3'/>\n\
         <Product productId='X' productHeight='1234567890123.5'/>\n\
         <Party partyId='P'><description>a<b/></description></Party>\n\
         <delete><Party partyId='_NA_'/></delete>\n\
         <Unknown><x>a<b/></x></Unknown>\n\
         <PartyRole partyId='GOOD_1' roleTypeId='CARRIER'/>\n\
         <Party partyId='GOOD_2'/>",
    )
    .await;
    let facts: Vec<_> = report.bad.iter().map(|bad| format!("{} {}: {}", bad.line, bad.entity, bad.error)).collect();
    assert_eq!(
        facts,
        [
            "2 Party: party_id is part of the key and is missing or empty",
            "3 Party: party_id is part of the key and is missing or empty",
            "4 PartyRole: role_type_id is part of the key and is missing or empty",
            "5 Party: partyId: 21 characters, where 20 fit",
            "6 PartyRole: insert or update on table \"party_role\" violates foreign key constraint \"party_rle_party\": \
             Key (party_id)=(NOBODY) is not present in table \"party\".",
            "7 Party: createdDate: `yesterday` is not a timestamp: yyyy-mm-dd hh:mm:ss[.fff], read as UTC",
            "8 Product: productHeight: `1e3` is not a decimal number such as 12.50",
            "9 Product: numeric field overflow: A field with precision 18, scale 6 must round to an absolute value less than \
             10^12.",
            "10 Party: description holds an element; a field holds text only (write `<` as `&lt;` or use CDATA)",
            &facts[9],
        ]
    );
    assert!(facts[9].starts_with("11 Party: update or delete on table \"party\" violates"), "{}", facts[9]);
    assert_eq!(report.bad_rows(), 10);
    assert_eq!(report.skipped_rows(), 1);
    let landed = "SELECT party_id, role_type_id FROM party LEFT JOIN party_role USING (party_id) \
        WHERE party_id LIKE 'GOOD%' ORDER BY 1";
    assert_eq!(texts(&client, landed).await, ["(GOOD_1,CARRIER)", "(GOOD_2,)"]);
    let lines = report.to_string();
    assert!(lines.starts_with("test.xml: 3 rows of 2 entities (Party 2, PartyRole 1); "), "{lines}");
    assert!(lines.contains("; 1 row of 1 unknown entity skipped; 10 bad\ntest.xml:2: Party: "), "{lines}");
}

#[tokio::test]
async fn one_bad_record_among_thousands_costs_no_other() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let note = |n| {
        let party = if n == 4321 { "NOBODY" } else { "_NA_" };
        format!("<NoteData noteId='N{n}' noteName='n' noteParty='{party}'/>")
    };
    let notes: Vec<_> = (0..6000).map(note).collect();
    let xml = format!("<entity-engine-xml>\n{}\n</entity-engine-xml>", notes.join("\n"));
    let mut seen = Vec::new();
    let source = InputFile::Bytes { name: "many.xml".to_owned(), bytes: xml.clone().into_bytes().into() };
    let report =
        load_file(&mut client, source, &mut |progress| seen.push((progress.bytes, progress.total))).await.unwrap();
    assert_eq!(bad(&report), [(4323, "NoteData", "23503")]);
    assert_eq!(outcome(&report, "NoteData"), [5999, 0, 0, 0]);
    assert_eq!(count(&client, "SELECT count(*) FROM note_data WHERE note_id ~ '^N[0-9]'").await, 5999);
    assert!(seen.len() > 10 && seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.last(), Some(&(xml.len() as u64, xml.len() as u64)));
}

#[tokio::test]
async fn rows_of_one_table_may_refer_to_later_ones_even_beside_a_bad_one() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let rows = "<Facility facilityId='A' parentFacilityId='B'/><Facility facilityId='B' parentFacilityId='C'/>\n\
         <Facility facilityId='D' parentFacilityId='NOWHERE'/>\n<Facility facilityId='C' parentFacilityId='_NA_'/>";
    let report = attempted(&mut client, rows).await;
    assert_eq!(bad(&report), [(2, "Facility", "23503")]);
    assert_eq!(outcome(&report, "Facility"), [3, 0, 0, 0]);
}

#[tokio::test]
async fn bad_records_beyond_a_thousand_are_counted_only() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = attempted(&mut client, &"<Party/>\n".repeat(1003)).await;
    assert_eq!((report.bad.len(), report.more_bad, report.bad_rows()), (1000, 3, 1003));
    assert!(report.to_string().ends_with("\ntest.xml: 3 more bad records"));
}

#[tokio::test]
async fn a_file_that_is_not_well_formed_leaves_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let before = checksums(&client).await;
    let rows = parties(5000);
    let error =
        bytes(&mut client, &format!("<entity-engine-xml>\n{rows}<Party partyId='Q'>\n</Partly>")).await.unwrap_err();
    assert!(matches!(&error, LoadError::Xml { error, .. } if error.line == 5003), "{error}");
    assert!(error.to_string().starts_with("test.xml:5003: "), "{error}");
    assert_eq!(checksums(&client).await, before);
    // The connection serves on.
    given(&mut client, "<Party partyId='P1'/>").await;
    assert_eq!(finish(&mut client).await.unwrap().restored, 0);
}

#[tokio::test]
async fn missing_parents_are_not_made_up() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = "<entity-engine-xml create-dummy-fk='true'><PartyRole partyId='X' roleTypeId='Y'/></entity-engine-xml>";
    let report = bytes(&mut client, xml).await.unwrap();
    assert_eq!(bad(&report), [(1, "PartyRole", "23503")]);
    assert!(report.to_string().contains("create-dummy-fk is not done"));
}

#[tokio::test]
async fn a_load_that_is_dropped_leaves_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = format!("<entity-engine-xml>{}</entity-engine-xml>", parties(20_000));
    let source = InputFile::Bytes { name: "dropped.xml".to_owned(), bytes: xml.into_bytes().into() };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let mut stop = Some(stop);
    // Dropped when the first statements are through.
    let mut progress = |progress: Progress| {
        if progress.bytes > progress.total / 2
            && let Some(stop) = stop.take()
        {
            stop.send(()).unwrap();
        }
    };
    tokio::select! {
        biased;
        _ = stopped => {}
        report = load_file(&mut client, source, &mut progress) => panic!("loaded before it was dropped: {report:?}"),
    }
    assert_eq!(count(&client, "SELECT count(*) FROM party WHERE party_id ~ '^P[0-9]'").await, 0);
}

#[tokio::test]
async fn a_database_that_was_never_migrated_is_told_so() {
    let database = empty_database().await;
    let client = database.connect().await;
    let error = check_ready(&client).await.unwrap_err();
    assert_eq!(error.to_string(), "the database is not prepared: run `orderql migrate` on it first");
}

// The command.

#[test]
fn the_command_loads_the_rest_and_fails_for_bad_records() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = runtime.block_on(migrated_database());
    let folder = tempfile_folder(&database);
    std::fs::write(folder.join("a.xml"), "<entity-engine-xml><Party partyId='A'/><Party/></entity-engine-xml>")
        .unwrap();
    std::fs::write(folder.join("b.xml"), "<entity-engine-xml><Party partyId='B'/></entity-engine-xml>").unwrap();
    let run = |files: &[&str]| {
        cli::load::run(cli::load::Args {
            database_url: database.config(),
            verbose: false,
            files: files.iter().map(|file| folder.join(file)).collect(),
        })
    };
    let loaded = || {
        runtime.block_on(async {
            count(&database.connect().await, "SELECT count(*) FROM party WHERE party_id IN ('A', 'B')").await
        })
    };
    // A file that is not there is noticed before anything is loaded, and so is a folder without an order.
    let error = run(&["b.xml", "missing.xml"]).unwrap_err();
    assert_eq!(error.to_string(), format!("{} cannot be read", folder.join("missing.xml").display()));
    let error = run(&["."]).unwrap_err();
    assert!(error.to_string().contains("LOAD_ORDER.txt cannot be read"), "{error}");
    assert_eq!(loaded(), 0);
    assert_eq!(run(&["a.xml", "b.xml"]).unwrap_err().to_string(), "1 bad records were left out; they are listed above");
    assert_eq!(loaded(), 2);
    // A file that is no XML ends the run; what came before it is finished.
    std::fs::write(folder.join("c.xml"), "<entity-engine-xml>").unwrap();
    let error = run(&["b.xml", "c.xml", "a.xml"]).unwrap_err();
    assert!(error.to_string().ends_with("c.xml:1: the file ends inside <entity-engine-xml>"), "{error}");
    std::fs::write(folder.join("LOAD_ORDER.txt"), "# in this order\n\nb.xml\n").unwrap();
    run(&["."]).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile_folder(database: &Database) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("orderql-load-{}", database.name()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

async fn load_folder(client: &mut Client, folder: &str) -> Vec<FileReport> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let mut reports = Vec::new();
    for source in InputFile::from_path(&path).unwrap() {
        let report = load_file(client, source, &mut |_| {}).await.unwrap();
        assert_eq!((report.bad_rows(), report.unknown_fields.len()), (0, 0), "{report}");
        reports.push(report);
    }
    reports
}

/// So many rows, a line each.
fn parties(number: usize) -> String {
    (0..number).map(|n| format!("<Party partyId='P{n}'/>\n")).collect::<Vec<_>>().concat()
}

/// Loads rows that must all be good.
pub async fn given(client: &mut Client, rows: &str) -> FileReport {
    let report = attempted(client, rows).await;
    assert_eq!(report.bad_rows(), 0, "{report}");
    report
}

pub async fn attempted(client: &mut Client, rows: &str) -> FileReport {
    bytes(client, &format!("<entity-engine-xml>{rows}</entity-engine-xml>")).await.unwrap()
}

pub async fn bytes(client: &mut Client, xml: &str) -> Result<FileReport, LoadError> {
    let source = InputFile::Bytes { name: "test.xml".to_owned(), bytes: xml.to_owned().into_bytes().into() };
    load_file(client, source, &mut |_| {}).await
}

/// Inserted, updated, unchanged, deleted.
pub fn outcome(report: &FileReport, entity: &str) -> [u64; 4] {
    let outcome = report.entities[entity];
    [outcome.inserted, outcome.updated, outcome.unchanged, outcome.deleted]
}

/// Line, entity and SQLSTATE of records that the database refused.
pub fn bad(report: &FileReport) -> Vec<(u64, &str, &str)> {
    let facts = report.bad.iter().map(|bad| match &bad.error {
        RowError::Rejected { code, .. } => (bad.line, bad.entity.as_str(), code.as_str()),
        reason => panic!("not refused by the database: {reason}"),
    });
    facts.collect()
}

pub async fn count(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().try_get(0).unwrap()
}

/// Every row as PostgreSQL writes a row.
pub async fn texts(client: &Client, sql: &str) -> Vec<String> {
    let rows = client.query(&format!("SELECT ROW(found.*)::text FROM ({sql}) found"), &[]).await.unwrap();
    rows.iter().map(|row| row.try_get(0).unwrap()).collect()
}

async fn tables(client: &Client) -> Vec<String> {
    let names =
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1";
    client.query(names, &[]).await.unwrap().iter().map(|row| row.try_get(0).unwrap()).collect()
}

async fn empty_every_table(client: &Client) {
    client.batch_execute(&format!("TRUNCATE {} CASCADE", tables(client).await.join(", "))).await.unwrap();
}

async fn count_of_all(client: &Client) -> String {
    let counts: Vec<_> =
        tables(client).await.iter().map(|table| format!("(SELECT count(*) FROM \"{table}\")")).collect();
    format!("SELECT {}", counts.join(" + "))
}

/// A checksum of each table's rows, every column of them.
async fn checksums(client: &Client) -> BTreeMap<String, String> {
    let mut sums = BTreeMap::new();
    for table in tables(client).await {
        let sql = format!("SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) FROM \"{table}\" t");
        sums.insert(table, client.query_one(&sql, &[]).await.unwrap().try_get(0).unwrap());
    }
    sums
}
