//! Whether the database's change feeds can be relied on.

use tokio_postgres::{Client, Error};

/// A trigger of a feed that is missing, or does not run for all rows.
#[derive(Debug)]
pub(crate) struct TriggerFault {
    pub(crate) feed: String,
    pub(crate) relation: String,
    /// The trigger's name.
    pub(crate) name: String,
    /// Whether it is there.
    pub(crate) exists: bool,
}

/// The stored transaction ids are not the ids of this database.
#[derive(Debug, thiserror::Error)]
#[error(
    "the change feeds have ids of transactions that this database has not begun yet: it was restored from a dump, or its \
     control file was reset; as the owner of the tables, run `orderql sync adopt` if pg_upgrade made it, and else \
     `orderql sync reset`"
)]
pub(crate) struct ForeignIds;

/// Whether the database can have feeds: one that was not migrated since has none.
pub(crate) async fn exist(client: &Client) -> Result<bool, Error> {
    // Not `to_regclass`, which fails for a schema that the role may not use.
    let exists = "SELECT EXISTS (
                      SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                      WHERE nspname = 'orderql' AND relname = 'sync_feed'
                  )";
    client.query_one(exists, &[]).await?.try_get(0)
}

/// The triggers that do not run, in the order of tables.
pub(crate) async fn faults(client: &Client) -> Result<Vec<TriggerFault>, Error> {
    let rows =
        client.query("SELECT feed, relation, name, state IS NOT NULL FROM orderql.sync_trigger_faults()", &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(TriggerFault {
                feed: row.try_get(0)?,
                relation: row.try_get(1)?,
                name: row.try_get(2)?,
                exists: row.try_get(3)?,
            })
        })
        .collect()
}

/// Whether transaction ids are stored that the database has not given out yet. A mark of such a one would hide later changes.
pub(crate) async fn has_foreign_ids(client: &Client) -> Result<bool, Error> {
    Ok(exist(client).await? && client.query_one("SELECT orderql.sync_ids_are_ahead()", &[]).await?.try_get(0)?)
}
