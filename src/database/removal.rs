//! Removes what migrations have added: the triggers on OFBiz's tables and on those of a schema file, the indexes, and the schema `orderql` with all that is in it.
//! Columns, tables and reference rows in OFBiz's schema stay: OFBiz may use them by now.

use tokio_postgres::{Client, Error};

use crate::database::indexes;

/// The statements, in the order in which they can be run.
const STATEMENTS: &str = r"
    SELECT statement
    FROM (
        SELECT 1 AS part, format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS statement
        FROM pg_trigger
        JOIN pg_class ON pg_class.oid = tgrelid
        WHERE NOT tgisinternal AND tgparentid = 0 AND tgname LIKE 'orderql\_%'
        UNION ALL
        SELECT 2, format('DROP INDEX %s', indexrelid::regclass)
        FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relname = ANY($1) AND relnamespace = 'public'::regnamespace AND NOT relispartition
        UNION ALL
        SELECT 3, 'DROP SCHEMA orderql CASCADE' FROM pg_namespace WHERE nspname = 'orderql'
    ) AS listed
    ORDER BY part, statement";

/// The statements that remove everything. None if nothing is there.
pub(crate) async fn statements(client: &Client) -> Result<Vec<String>, Error> {
    client.query(STATEMENTS, &[&indexes::names()]).await?.iter().map(|row| row.try_get(0)).collect()
}

/// The tables of the schema `orderql` that have rows, with the number of rows.
pub(crate) async fn filled_tables(client: &Client) -> Result<Vec<(String, i64)>, Error> {
    let select =
        "SELECT format('orderql.%I', relname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                  WHERE nspname = 'orderql' AND relkind IN ('r', 'p') ORDER BY relname";
    let mut filled = Vec::new();
    for row in client.query(select, &[]).await? {
        let table: String = row.try_get(0)?;
        let rows: i64 = client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await?.try_get(0)?;
        if rows > 0 {
            filled.push((table, rows));
        }
    }
    Ok(filled)
}

/// Runs the statements in one transaction. Waits for locks 20 seconds at most.
pub(crate) async fn remove(client: &mut Client, statements: &[String]) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute("SET LOCAL lock_timeout TO '20s'").await?;
    transaction.batch_execute(&statements.join(";\n")).await?;
    transaction.commit().await
}
