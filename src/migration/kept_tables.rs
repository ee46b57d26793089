//! What triggers keep equal to OFBiz's tables: all parties with their names, the items in their ship groups, and the store of a return. Rows
//! that are written while triggers are disabled, as some imports do, are missing or stale until they are repaired.

use tokio_postgres::{Client, Error};

/// A table that triggers keep, or columns of one.
#[derive(Debug)]
pub(crate) struct KeptTable {
    /// Its name with its schema.
    pub(crate) name: &'static str,
    /// What its rows are, in the plural.
    pub(crate) rows: &'static str,
    /// The view that it is compared with, which is there if the table is.
    pub(crate) view: &'static str,
    /// The table that its rows come from.
    source: &'static str,
    /// Counts the rows that differ.
    differing: &'static str,
    /// The function that makes them equal, and returns the number of rows that were not.
    backfill: &'static str,
}

/// All of them, in the order in which they are reported.
pub(crate) static KEPT_TABLES: [KeptTable; 3] = [
    KeptTable {
        name: "orderql.party",
        rows: "parties",
        view: "orderql.party_source",
        source: "public.party",
        differing: "SELECT count(*) FROM orderql.party_source AS source
            FULL JOIN orderql.party AS kept USING (party_id) WHERE source.* IS DISTINCT FROM kept.*",
        backfill: "orderql.backfill_parties",
    },
    KeptTable {
        name: "return_header",
        rows: "returns",
        view: "orderql.stale_return",
        source: "public.return_header",
        differing: "SELECT count(*) FROM orderql.stale_return",
        backfill: "orderql.backfill_search_columns",
    },
    KeptTable {
        name: "orderql.item_place",
        rows: "items in ship groups",
        view: "orderql.stale_item_place",
        source: "public.order_item",
        differing: "SELECT count(*) FROM orderql.stale_item_place",
        backfill: "orderql.backfill_item_places",
    },
];

impl KeptTable {
    /// Whether the database has the table. One without order tables has none.
    pub(crate) async fn exists(&self, client: &Client) -> Result<bool, Error> {
        client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&self.view]).await?.try_get(0)
    }

    /// The number of rows that differ from OFBiz's tables. Reads all of them.
    pub(crate) async fn differing(&self, client: &Client) -> Result<i64, Error> {
        client.query_one(self.differing, &[]).await?.try_get(0)
    }

    /// The number of rows that a migration fills in: all, by PostgreSQL's estimate, if the table is not there yet.
    pub(super) async fn rows_to_fill(&self, client: &Client) -> Result<i64, Error> {
        if self.exists(client).await? {
            return self.differing(client).await;
        }
        let estimate = "SELECT reltuples::int8 FROM pg_class WHERE oid = to_regclass($1)";
        match client.query_opt(estimate, &[&self.source]).await? {
            Some(row) if row.try_get::<_, i64>(0)? >= 0 => row.try_get(0),
            Some(_) => client.query_one(&format!("SELECT count(*) FROM {}", self.source), &[]).await?.try_get(0),
            None => Ok(0),
        }
    }

    /// The statement that makes them equal.
    pub(super) fn repair_statement(&self) -> String {
        format!("SELECT {}()", self.backfill)
    }

    /// Makes them equal, and returns the number of rows that were not.
    pub(crate) async fn repair(&self, client: &Client) -> Result<i64, Error> {
        // A role named orderql would otherwise search the schema of that name first.
        client.batch_execute("SET search_path TO public").await?;
        client.query_one(&self.repair_statement(), &[]).await?.try_get(0)
    }
}
