//! Collations that the operating system or ICU sorts by otherwise than when indexes were built: such an index hides rows, and repeats others.

use std::fmt;

use tokio_postgres::{Client, Error};

/// A collation by which an index is sorted, and whose version is another one now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangedCollation {
    /// Its name in SQL; `None` for the collation of the database.
    name: Option<String>,
    recorded: String,
    /// The version that the machine has; none if it has none.
    actual: Option<String>,
    /// The statements that build the indexes again.
    pub(crate) remedy: String,
}

/// The collations of indexes.
const COLLATIONS: &str = "
    WITH sorted AS MATERIALIZED (
        SELECT used.oid, array_agg(DISTINCT index.indexrelid::regclass::text ORDER BY index.indexrelid::regclass::text) AS indexes
        FROM pg_index AS index
        CROSS JOIN LATERAL unnest(index.indcollation::oid[]) AS used (oid)
        JOIN pg_class AS stored ON stored.oid = index.indexrelid AND stored.relkind = 'i'
        JOIN pg_namespace AS place ON place.oid = stored.relnamespace AND place.nspname !~ '^pg_'
        WHERE used.oid <> 0
        GROUP BY used.oid
    ), versions AS MATERIALIZED (
        SELECT own.oid::regcollation::text AS name, own.collversion AS recorded, pg_collation_actual_version(own.oid) AS actual, sorted.indexes
        FROM sorted
        JOIN pg_collation AS own ON own.oid = sorted.oid
    )
    SELECT name, recorded, actual,
           (SELECT string_agg('REINDEX INDEX CONCURRENTLY ' || index || ';', ' ' ORDER BY index) FROM unnest(indexes) AS index)
           || ' ALTER COLLATION ' || name || ' REFRESH VERSION;'
    FROM versions
    WHERE recorded IS NOT NULL AND actual IS DISTINCT FROM recorded
    ORDER BY name";

/// The collation of the database, from PostgreSQL 15 on.
const OF_DATABASE: &str = "
    SELECT NULL::text, datcollversion, pg_database_collation_actual_version(oid),
           format('REINDEX DATABASE CONCURRENTLY %1$I; ALTER DATABASE %1$I REFRESH COLLATION VERSION;', datname)
    FROM pg_database
    WHERE datname = current_database()
      AND datcollversion IS NOT NULL
      AND pg_database_collation_actual_version(oid) IS DISTINCT FROM datcollversion";

/// The collations that statements sort by and that have changed, the collation of the database first.
pub(crate) async fn changed_collations(client: &Client) -> Result<Vec<ChangedCollation>, Error> {
    let version: i32 = client.query_one("SELECT current_setting('server_version_num')::int", &[]).await?.try_get(0)?;
    let mut rows = if version < 150_000 { Vec::new() } else { client.query(OF_DATABASE, &[]).await? };
    rows.extend(client.query(COLLATIONS, &[]).await?);
    let changed = rows.iter().map(|row| {
        let (name, recorded) = (row.try_get(0)?, row.try_get(1)?);
        Ok(ChangedCollation { name, recorded, actual: row.try_get(2)?, remedy: row.try_get(3)? })
    });
    changed.collect()
}

impl fmt::Display for ChangedCollation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, recorded, actual, .. } = self;
        match name {
            Some(name) => write!(f, "the collation {name}")?,
            None => f.write_str("the database's collation")?,
        }
        let actual = actual.as_deref().unwrap_or("none");
        write!(
            f,
            " had the version {recorded} when its indexes were built, and now has {actual}: searches may miss rows or repeat them"
        )
    }
}
