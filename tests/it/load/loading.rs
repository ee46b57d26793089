//! Loads files and rows, and reads what was loaded.

use std::collections::BTreeMap;
use std::path::Path;

use orderql::load::error::{LoadError, RowError};
use orderql::load::input::InputFile;
use orderql::load::loader::load_file;
use orderql::load::report::FileReport;
use tokio_postgres::Client;

/// Loads a folder of `tests/data`. Panics if a record is rejected or a field is unknown.
pub async fn load_folder(client: &mut Client, folder: &str) -> Vec<FileReport> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let mut reports = Vec::new();
    for source in InputFile::from_path(&path).unwrap() {
        let report = load_file(client, source, &mut |_| {}).await.unwrap();
        assert_eq!((report.bad_rows(), report.unknown_fields.len()), (0, 0), "{report}");
        reports.push(report);
    }
    reports
}

/// That many `Party` rows, one on each line.
pub fn parties(number: usize) -> String {
    (0..number).map(|n| format!("<Party partyId='P{n}'/>\n")).collect::<Vec<_>>().concat()
}

/// Loads rows. Panics if one is rejected.
pub async fn load_rows(client: &mut Client, rows: &str) -> FileReport {
    let report = try_load_rows(client, rows).await;
    assert_eq!(report.bad_rows(), 0, "{report}");
    report
}

/// Loads rows, of which some may be rejected.
pub async fn try_load_rows(client: &mut Client, rows: &str) -> FileReport {
    load_xml(client, &format!("<entity-engine-xml>{rows}</entity-engine-xml>")).await.unwrap()
}

/// Loads a file named `test.xml`.
pub async fn load_xml(client: &mut Client, xml: &str) -> Result<FileReport, LoadError> {
    let source = InputFile::Bytes { name: "test.xml".to_owned(), bytes: xml.to_owned().into_bytes().into() };
    load_file(client, source, &mut |_| {}).await
}

/// The numbers of inserted, updated, unchanged and deleted rows.
pub fn row_counts(report: &FileReport, entity: &str) -> [u64; 4] {
    let counts = report.entities[entity];
    [counts.inserted, counts.updated, counts.unchanged, counts.deleted]
}

/// Line, entity and SQLSTATE of the records that the database rejected.
pub fn rejected(report: &FileReport) -> Vec<(u64, &str, &str)> {
    let records = report.bad.iter().map(|bad| match &bad.error {
        RowError::Rejected { code, .. } => (bad.line, bad.entity.as_str(), code.as_str()),
        error => panic!("not rejected by the database: {error}"),
    });
    records.collect()
}

pub async fn count(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().try_get(0).unwrap()
}

/// The rows of a query, as PostgreSQL writes rows.
pub async fn rows_as_text(client: &Client, sql: &str) -> Vec<String> {
    let rows = client.query(&format!("SELECT ROW(row.*)::text FROM ({sql}) row"), &[]).await.unwrap();
    rows.iter().map(|row| row.try_get(0).unwrap()).collect()
}

/// The names of the tables in the schema `public`.
pub async fn tables(client: &Client) -> Vec<String> {
    let names =
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1";
    client.query(names, &[]).await.unwrap().iter().map(|row| row.try_get(0).unwrap()).collect()
}

/// A checksum of each table's rows, with all columns.
pub async fn checksums(client: &Client) -> BTreeMap<String, String> {
    let mut sums = BTreeMap::new();
    for table in tables(client).await {
        let sql = format!("SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) FROM \"{table}\" t");
        sums.insert(table, client.query_one(&sql, &[]).await.unwrap().try_get(0).unwrap());
    }
    sums
}
