//! The tables that triggers keep equal to OFBiz's: all parties with their names, and the ship groups that still have
//! something to do. Rows that are written while triggers are disabled, as some imports do, are missing in them until they are
//! repaired.

use tokio_postgres::{Client, Error};

/// A table that triggers keep. The view with its name and `_source` behind it has the rows that the table must have.
#[derive(Debug)]
pub(crate) struct KeptTable {
    /// Its name with its schema.
    pub(crate) name: &'static str,
    /// What its rows are, in the plural.
    pub(crate) rows: &'static str,
    /// The columns of its primary key.
    key: &'static str,
    /// The function that makes the table equal to the view, and returns the number of rows that were not.
    backfill: &'static str,
}

/// All of them, in the order in which they are reported.
pub(crate) static KEPT_TABLES: [KeptTable; 2] = [
    KeptTable { name: "orderql.party", rows: "parties", key: "party_id", backfill: "orderql.backfill_parties" },
    KeptTable {
        name: "orderql.open_ship_group",
        rows: "open ship groups",
        key: "order_id, ship_group_seq_id",
        backfill: "orderql.backfill_open_ship_groups",
    },
];

impl KeptTable {
    /// Whether the database has the table. One without order tables has none.
    pub(crate) async fn exists(&self, client: &Client) -> Result<bool, Error> {
        client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&format!("{}_source", self.name)]).await?.try_get(0)
    }

    /// The number of rows that differ from OFBiz's tables. Reads all of them.
    pub(crate) async fn differing(&self, client: &Client) -> Result<i64, Error> {
        let Self { name, key, .. } = self;
        let select = format!(
            "SELECT count(*) FROM {name}_source AS source FULL JOIN {name} AS kept USING ({key})
             WHERE source.* IS DISTINCT FROM kept.*"
        );
        client.query_one(&select, &[]).await?.try_get(0)
    }

    /// Makes them equal, and returns the number of rows that were not.
    pub(crate) async fn repair(&self, client: &Client) -> Result<i64, Error> {
        // A role named orderql would otherwise search the schema of that name first.
        client.batch_execute("SET search_path TO public").await?;
        client.query_one(&format!("SELECT {}()", self.backfill), &[]).await?.try_get(0)
    }
}
