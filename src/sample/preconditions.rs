//! Checks whether a database can take a sample, before anything is written.

use tokio_postgres::Client;

use crate::sample::error::SampleError;
use crate::sample::ids::COMPANY;

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

/// A table and one of its columns.
pub(in crate::sample) type TableColumn = (&'static str, &'static str);

/// `HotWax`'s columns that stock OFBiz lacks, because it keeps their values elsewhere.
const OF_HOTWAX: [TableColumn; 2] = [("order_item", "ship_group_seq_id"), ("product_facility", "inventory_item_id")];

/// The columns of a sample that this database may lack, and lacks.
pub(in crate::sample) async fn absent_columns(client: &Client) -> Result<Vec<TableColumn>, SampleError> {
    let mut absent = Vec::new();
    for (table, column) in OF_HOTWAX {
        if client.query_opt(COLUMN, &[&table, &column]).await?.is_none() {
            absent.push((table, column));
        }
    }
    Ok(absent)
}

const COLUMN: &str = "
SELECT FROM pg_catalog.pg_attribute
WHERE attrelid = to_regclass('public.' || $1) AND attname = $2 AND NOT attisdropped";
