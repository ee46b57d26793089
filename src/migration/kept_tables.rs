//! The tables and columns that triggers keep equal to OFBiz's tables: all parties with their names, the items in their ship groups, and the
//! stores of returns and shipments. Rows that are written while triggers are disabled, as some imports do, are missing or stale until they
//! are repaired.

use tokio_postgres::{Client, Error};

/// The most rows that are made equal by one transaction: writers of these rows wait for it.
const ROWS_AT_ONCE: i64 = 2000;

/// How many ids' rows a transaction makes equal if more differ.
const IDS_AT_ONCE: i32 = 500;

/// A table that triggers keep, or columns of one.
#[derive(Debug)]
pub(crate) struct KeptTable {
    /// Its name with its schema.
    pub(crate) name: &'static str,
    /// The name of its rows, in the plural.
    pub(crate) rows: &'static str,
    /// The view that it is compared with, which is there if the table is.
    pub(crate) view: &'static str,
    /// The table that its rows come from.
    source: &'static str,
    /// Counts the rows that differ.
    differing: &'static str,
    /// The function that makes the rows of the ids equal that follow one, and returns the last of these; null if there are none.
    fill: &'static str,
    /// The function that makes all equal, and returns the number of rows that were not.
    backfill: &'static str,
}

/// All of them, in the order in which they are reported.
pub(crate) static KEPT_TABLES: [KeptTable; 4] = [
    KeptTable {
        name: "orderql.party",
        rows: "parties",
        view: "orderql.party_source",
        source: "public.party",
        differing: "SELECT count(*) FROM orderql.party_source AS source
            FULL JOIN orderql.party AS kept USING (party_id) WHERE source.* IS DISTINCT FROM kept.*",
        fill: "orderql.fill_parties",
        backfill: "orderql.backfill_parties",
    },
    KeptTable {
        name: "return_header",
        rows: "returns",
        view: "orderql.stale_return",
        source: "public.return_header",
        differing: "SELECT count(*) FROM orderql.stale_return",
        fill: "orderql.fill_returns",
        backfill: "orderql.backfill_returns",
    },
    KeptTable {
        name: "shipment",
        rows: "shipments",
        view: "orderql.stale_shipment",
        source: "public.shipment",
        differing: "SELECT count(*) FROM orderql.stale_shipment",
        fill: "orderql.fill_shipments",
        backfill: "orderql.backfill_shipments",
    },
    KeptTable {
        name: "orderql.item_place",
        rows: "items in ship groups",
        view: "orderql.stale_item_place",
        source: "public.order_item",
        differing: "SELECT count(*) FROM orderql.stale_item_place",
        fill: "orderql.fill_item_places",
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

    /// Makes them equal, and returns the number of rows that were not. If many differ, it does so in parts, with a transaction for each, so
    /// that writers of other rows need not wait.
    pub(crate) async fn repair(&self, client: &Client) -> Result<i64, Error> {
        // A role named orderql would otherwise search the schema of that name first.
        client.batch_execute("SET search_path TO public").await?;
        let differing = self.differing(client).await?;
        if differing == 0 {
            return Ok(0);
        }
        if differing > ROWS_AT_ONCE {
            let next = format!("SELECT {}($1, $2)", self.fill);
            let mut last = Some(String::new());
            while let Some(after) = last {
                last = client.query_one(&next, &[&after, &IDS_AT_ONCE]).await?.try_get(0)?;
            }
        }
        // Rows of what is no longer there are left, and what was written meanwhile without triggers.
        let left: i64 = client.query_one(&self.repair_statement(), &[]).await?.try_get(0)?;
        Ok(differing.max(left))
    }
}
