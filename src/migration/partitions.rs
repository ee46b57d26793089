//! Partitioned tables that cannot be served. PostgreSQL has no unique index on a partitioned table without the columns of its partition
//! key, so a table whose partition key is not a part of its key has no index that finds one row, and nothing keeps a second one away.

use std::fmt;

use tokio_postgres::{Client, Error};

use crate::migration::table::MigratedTable;

/// A partitioned table whose key cannot be unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedPartitions {
    table: String,
    /// The partition key, such as `RANGE (order_date)`.
    partition_key: String,
    /// The columns of the table's key.
    key: String,
}

impl fmt::Display for UnsupportedPartitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, partition_key, key } = self;
        write!(
            f,
            "{table} is partitioned by {partition_key}, so that PostgreSQL cannot make its key ({key}) unique: partition it by the \
             hash of a column of the key, or not at all"
        )
    }
}

/// The names, partition keys and the names of their columns of the partitioned tables of OFBiz's schema.
const PARTITIONED: &str = "
    SELECT relname::text, pg_get_partkeydef(partrelid),
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = partrelid AND attnum = ANY(partattrs::int2[])),
        0 = ANY(partattrs::int2[])
    FROM pg_partitioned_table
    JOIN pg_class ON pg_class.oid = partrelid
    WHERE relnamespace = 'public'::regnamespace
    ORDER BY relname";

/// The first declared table that cannot be served.
pub(super) async fn unsupported(
    client: &Client,
    declared: &[MigratedTable],
) -> Result<Option<UnsupportedPartitions>, Error> {
    for row in client.query(PARTITIONED, &[]).await? {
        let (table, columns): (String, Vec<String>) = (row.try_get(0)?, row.try_get(2)?);
        let is_it = |other: &&MigratedTable| other.is_of_ofbiz() && other.bare_name() == table;
        let Some(MigratedTable { key, .. }) = declared.iter().find(is_it) else { continue };
        if row.try_get(3)? || !columns.iter().all(|column| key.contains(&column.as_str())) {
            return Ok(Some(UnsupportedPartitions { table, partition_key: row.try_get(1)?, key: key.join(", ") }));
        }
    }
    Ok(None)
}
