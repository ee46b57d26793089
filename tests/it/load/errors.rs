//! Bad records, invalid files and cancelled loads.

use orderql::load::error::LoadError;
use orderql::load::finish::{check_ready, finish};
use orderql::load::input::InputFile;
use orderql::load::loader::{LoadProgress, load_file};

use crate::load::loading::{
    checksums, count, load_rows, load_xml, parties, rejected, row_counts, rows_as_text, try_load_rows,
};
use crate::support::database::{empty_database, migrated_database};

#[tokio::test]
async fn reports_bad_records_and_loads_the_others() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = try_load_rows(
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
    let errors: Vec<_> = report.bad.iter().map(|bad| format!("{} {}: {}", bad.line, bad.entity, bad.error)).collect();
    assert_eq!(
        errors,
        [
            "2 Party: party_id is part of the key and is missing or empty",
            "3 Party: party_id is part of the key and is missing or empty",
            "4 PartyRole: role_type_id is part of the key and is missing or empty",
            "5 Party: partyId: 21 characters, where 20 fit",
            "6 PartyRole: insert or update on table \"party_role\" violates foreign key constraint \"party_rle_party\": \
             Key (party_id)=(NOBODY) is not present in table \"party\".",
            "7 Party: createdDate: `yesterday` is not a timestamp such as 2009-08-10 09:05:00.5 (in UTC) or \
             2009-08-10T09:05:00+02:00",
            "8 Product: productHeight: `1e3` is not a decimal number such as 12.50",
            "9 Product: numeric field overflow: A field with precision 18, scale 6 must round to an absolute value less than \
             10^12.",
            "10 Party: description holds an element; a field holds text only (write `<` as `&lt;` or use CDATA)",
            &errors[9],
        ]
    );
    assert!(errors[9].starts_with("11 Party: update or delete on table \"party\" violates"), "{}", errors[9]);
    assert_eq!(report.bad_rows(), 10);
    assert_eq!(report.skipped_rows(), 1);
    let loaded = "SELECT party_id, role_type_id FROM party LEFT JOIN party_role USING (party_id) \
        WHERE party_id LIKE 'GOOD%' ORDER BY 1";
    assert_eq!(rows_as_text(&client, loaded).await, ["(GOOD_1,CARRIER)", "(GOOD_2,)"]);
    let lines = report.to_string();
    assert!(lines.starts_with("test.xml: 3 rows of 2 entities (Party 2, PartyRole 1); "), "{lines}");
    assert!(lines.contains("; 1 row of 1 unknown entity skipped (Unknown 1); 10 bad\ntest.xml:2: Party: "), "{lines}");
}

#[tokio::test]
async fn one_bad_record_among_thousands_affects_no_other() {
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
    assert_eq!(rejected(&report), [(4323, "NoteData", "23503")]);
    assert_eq!(row_counts(&report, "NoteData"), [5999, 0, 0, 0]);
    assert_eq!(count(&client, "SELECT count(*) FROM note_data WHERE note_id ~ '^N[0-9]'").await, 5999);
    assert!(seen.len() > 10 && seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.last(), Some(&(xml.len() as u64, xml.len() as u64)));
}

#[tokio::test]
async fn rows_may_refer_to_later_rows_of_the_same_table_even_beside_a_bad_one() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let rows = "<Facility facilityId='A' parentFacilityId='B'/><Facility facilityId='B' parentFacilityId='C'/>\n\
         <Facility facilityId='D' parentFacilityId='NOWHERE'/>\n<Facility facilityId='C' parentFacilityId='_NA_'/>";
    let report = try_load_rows(&mut client, rows).await;
    assert_eq!(rejected(&report), [(2, "Facility", "23503")]);
    assert_eq!(row_counts(&report, "Facility"), [3, 0, 0, 0]);
}

#[tokio::test]
async fn lists_a_thousand_bad_records_and_counts_the_others() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let report = try_load_rows(&mut client, &"<Party/>\n".repeat(1003)).await;
    assert_eq!((report.bad.len(), report.more_bad, report.bad_rows()), (1000, 3, 1003));
    assert!(report.to_string().ends_with("\ntest.xml: 3 more bad records"));
}

#[tokio::test]
async fn an_invalid_file_changes_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let before = checksums(&client).await;
    let rows = parties(5000);
    let error =
        load_xml(&mut client, &format!("<entity-engine-xml>\n{rows}<Party partyId='Q'>\n</Partly>")).await.unwrap_err();
    assert!(matches!(&error, LoadError::Xml { error, .. } if error.line == 5003), "{error}");
    assert!(error.to_string().starts_with("test.xml:5003: "), "{error}");
    assert_eq!(checksums(&client).await, before);
    // The connection still works.
    load_rows(&mut client, "<Party partyId='P1'/>").await;
    assert_eq!(finish(&mut client).await.unwrap().restored, 0);
}

#[tokio::test]
async fn does_not_create_missing_parents() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = "<entity-engine-xml create-dummy-fk='true'><PartyRole partyId='X' roleTypeId='Y'/></entity-engine-xml>";
    let report = load_xml(&mut client, xml).await.unwrap();
    assert_eq!(rejected(&report), [(1, "PartyRole", "23503")]);
    assert!(report.to_string().contains("create-dummy-fk is not done"));
}

#[tokio::test]
async fn a_cancelled_load_changes_nothing() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let xml = format!("<entity-engine-xml>{}</entity-engine-xml>", parties(20_000));
    let source = InputFile::Bytes { name: "cancelled.xml".to_owned(), bytes: xml.into_bytes().into() };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let mut stop = Some(stop);
    // Cancels the load in the middle of the file.
    let mut progress = |progress: LoadProgress| {
        if progress.bytes > progress.total / 2
            && let Some(stop) = stop.take()
        {
            stop.send(()).unwrap();
        }
    };
    tokio::select! {
        biased;
        _ = stopped => {}
        report = load_file(&mut client, source, &mut progress) => panic!("loaded before it was cancelled: {report:?}"),
    }
    assert_eq!(count(&client, "SELECT count(*) FROM party WHERE party_id ~ '^P[0-9]'").await, 0);
}

#[tokio::test]
async fn advises_to_migrate_an_empty_database() {
    let database = empty_database().await;
    let client = database.connect().await;
    let error = check_ready(&client).await.unwrap_err();
    assert!(error.to_string().starts_with("the database lacks the tables of orders: `orderql migrate` adds them"));
}
