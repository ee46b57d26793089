//! Vacuums tables after many rows were written. PostgreSQL reads an index alone only for pages whose rows it has marked as visible.
//! Autovacuum marks them minutes later.

use tokio_postgres::{Client, Error};

/// Vacuums the tables and collects their statistics, outside of transactions. Tables that somebody has locked are left out.
pub(crate) async fn vacuum(client: &Client, tables: &[&str]) -> Result<(), Error> {
    if tables.is_empty() {
        return Ok(());
    }
    client.batch_execute(&format!("VACUUM (ANALYZE, SKIP_LOCKED) {}", tables.join(", "))).await
}

/// The tables of at least this many pages with less than half of their pages marked as visible, the largest first.
pub(crate) async fn invisible_tables(client: &Client, pages: i64) -> Result<Vec<String>, Error> {
    let select = "
        SELECT format('%I.%I', nspname, relname)
        FROM (
            SELECT nspname, relname, relallvisible,
                   pg_relation_size(pg_class.oid) / current_setting('block_size')::int AS pages
            FROM pg_class
            JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relkind = 'r' AND nspname IN ('public', 'orderql')
        ) AS measured
        WHERE pages >= $1 AND relallvisible < pages - pages / 2
        ORDER BY pages DESC";
    client.query(select, &[&pages]).await?.iter().map(|row| row.try_get(0)).collect()
}
