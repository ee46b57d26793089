//! Checks whether a database can take a sample, before anything is written.

use std::collections::HashMap;

use tokio_postgres::Client;

use crate::sample::copy_value::CopyType;
use crate::sample::error::SampleError;
use crate::sample::ids::COMPANY;
use crate::sample::tables::TABLES;

/// Fails if the database lacks orderql's own tables.
pub(in crate::sample) async fn check_migrated(client: &Client) -> Result<(), SampleError> {
    let row = client.query_one("SELECT to_regprocedure('orderql.backfill_parties()') IS NOT NULL", &[]).await?;
    if row.try_get(0)? { Ok(()) } else { Err(SampleError::NotMigrated) }
}

/// Fails if the database contains a sample.
pub(in crate::sample) async fn check_no_sample(client: &Client) -> Result<(), SampleError> {
    let found = client.query_opt("SELECT FROM public.party WHERE party_id = $1", &[&COMPANY]).await?;
    if found.is_none() { Ok(()) } else { Err(SampleError::Clash) }
}

/// `HotWax`'s columns that stock OFBiz lacks, because it keeps their values elsewhere.
const OF_HOTWAX: [(&str, &str); 2] = [("order_item", "ship_group_seq_id"), ("product_facility", "inventory_item_id")];

/// The columns of a sample that a database lacks, with their tables.
pub(in crate::sample) type Absent = Vec<(&'static str, &'static str)>;

/// Fails if a column has another type, or does not exist although it must; returns the columns that are missing. PostgreSQL's own error for
/// a binary COPY would name neither the column nor the type.
pub(in crate::sample) async fn check_columns(client: &Client) -> Result<Absent, SampleError> {
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    let mut types: HashMap<(String, String), String> = HashMap::new();
    for row in client.query(COLUMNS, &[&names]).await? {
        types.insert((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?);
    }
    let mut absent = Vec::new();
    for table in TABLES {
        for column in table.columns {
            let found = types.get(&(table.name.to_owned(), column.name.to_owned()));
            if found.is_none() && OF_HOTWAX.contains(&(table.name, column.name)) {
                absent.push((table.name, column.name));
                continue;
            }
            let found = found.map_or("missing", String::as_str);
            let (expected, types) = match column.data_type {
                CopyType::Text => ("text", &["varchar", "bpchar", "text"][..]),
                // HotWax's have no time zone. They are in UTC, which is how both are sent.
                CopyType::Timestamp => ("timestamptz", &["timestamptz", "timestamp"][..]),
                CopyType::Numeric => ("numeric", &["numeric"][..]),
            };
            if !types.contains(&found) {
                return Err(SampleError::Column {
                    table: table.name,
                    column: column.name,
                    found: found.to_owned(),
                    expected,
                });
            }
        }
    }
    Ok(absent)
}

const COLUMNS: &str = "
SELECT c.relname::text, a.attname::text, y.typname::text
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)";
