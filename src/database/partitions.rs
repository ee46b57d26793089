//! Partitioned tables that cannot be served. PostgreSQL has no unique index on a partitioned table without the columns of its partition
//! key, so a table whose partition key is not a part of its key has no index that finds one row, and nothing keeps a second one away.

use std::fmt;

use tokio_postgres::{Client, Error};

/// A partitioned table whose key cannot be unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedPartitions {
    table: String,
    /// Such as `RANGE (order_date)`.
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

/// The first table that cannot be served, of those that these migrations would make.
pub(super) async fn unsupported(
    client: &Client,
    migrations: &[String],
) -> Result<Option<UnsupportedPartitions>, Error> {
    let partitioned = client.query(PARTITIONED, &[]).await?;
    if partitioned.is_empty() {
        return Ok(None);
    }
    let keys: Vec<_> = migrations.iter().flat_map(|sql| keys(sql)).collect();
    for row in partitioned {
        let (table, columns): (String, Vec<String>) = (row.try_get(0)?, row.try_get(2)?);
        let Some((_, key)) = keys.iter().find(|(name, _)| *name == table) else { continue };
        let is_part = |column: &String| key.split(", ").any(|part| part == column);
        if row.try_get(3)? || !columns.iter().all(is_part) {
            return Ok(Some(UnsupportedPartitions { table, partition_key: row.try_get(1)?, key: (*key).to_owned() }));
        }
    }
    Ok(None)
}

/// The tables that a migration makes, each with the columns of its primary key.
fn keys(migration: &str) -> impl Iterator<Item = (&str, &str)> {
    migration.split("CREATE TABLE IF NOT EXISTS ").skip(1).filter_map(|table| {
        let (name, rest) = table.split_once(' ')?;
        let (definition, _) = rest.split_once(");")?;
        let (_, key) = definition.split_once("PRIMARY KEY (")?;
        Some((name, key.split_once(')').map_or(key, |(key, _)| key)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_the_tables_are_read_from_migrations() {
        let orders: Vec<_> = keys(include_str!("migrations/V07__orders.sql")).collect();
        assert!(orders.contains(&("order_header", "order_id")), "{orders:?}");
        assert!(orders.contains(&("order_item", "order_id, order_item_seq_id")), "{orders:?}");
        assert_eq!(keys("CREATE TABLE IF NOT EXISTS a (\n    b text PRIMARY KEY\n);").next(), None);
    }
}
