//! The tables and columns that triggers keep equal to OFBiz's tables: all parties with their names, the items in their ship groups, and the
//! stores of returns and shipments. Rows that are written while triggers are disabled, as some imports do, are missing or stale until they
//! are repaired.

use tokio_postgres::{Client, Error};

/// The rows of how many ids a transaction makes equal: writers of these wait for it.
const IDS_AT_ONCE: usize = 500;

/// A table that triggers keep, or columns of one.
#[derive(Debug)]
pub(crate) struct KeptTable {
    /// Its name with its schema.
    pub(crate) name: &'static str,
    /// The name of its rows, in the plural.
    pub(crate) rows: &'static str,
    /// The view of the rows that differ, which is there if the table is.
    pub(crate) stale: &'static str,
    /// The column of the ids by which they are made equal.
    id: &'static str,
    /// The table that its rows come from.
    source: &'static str,
    /// The function that makes the rows of an array of ids equal.
    refresh: &'static str,
    /// The function that makes all equal, and returns the number of rows that were not.
    backfill: &'static str,
}

/// All of them, in the order in which they are reported.
pub(crate) static KEPT_TABLES: [KeptTable; 4] = [
    KeptTable {
        name: "orderql.party",
        rows: "parties",
        stale: "orderql.stale_party",
        id: "party_id",
        source: "public.party",
        refresh: "orderql.refresh_parties",
        backfill: "orderql.backfill_parties",
    },
    KeptTable {
        name: "return_header",
        rows: "returns",
        stale: "orderql.stale_return",
        id: "return_id",
        source: "public.return_header",
        refresh: "orderql.refresh_returns",
        backfill: "orderql.backfill_returns",
    },
    KeptTable {
        name: "shipment",
        rows: "shipments",
        stale: "orderql.stale_shipment",
        id: "shipment_id",
        source: "public.shipment",
        refresh: "orderql.refresh_shipments",
        backfill: "orderql.backfill_shipments",
    },
    KeptTable {
        name: "orderql.item_place",
        rows: "items in ship groups",
        stale: "orderql.stale_item_place",
        id: "order_id",
        source: "public.order_item",
        refresh: "orderql.refresh_items_of_orders",
        backfill: "orderql.backfill_item_places",
    },
];

impl KeptTable {
    /// Whether the database has the table. One without order tables has none.
    pub(crate) async fn exists(&self, client: &Client) -> Result<bool, Error> {
        client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&self.stale]).await?.try_get(0)
    }

    /// The number of rows that differ from OFBiz's tables. Reads all of them.
    pub(crate) async fn differing(&self, client: &Client) -> Result<i64, Error> {
        client.query_one(&format!("SELECT count(*) FROM {}", self.stale), &[]).await?.try_get(0)
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

    /// Makes them equal, and returns the number of rows that were not. A transaction for each part lets writers of other rows go on.
    pub(crate) async fn repair(&self, client: &Client) -> Result<i64, Error> {
        // A role named orderql would otherwise search the schema of that name first.
        client.batch_execute("SET search_path TO public").await?;
        let Self { stale, id, refresh, .. } = self;
        let stale = format!("SELECT {id}::text, count(*) FROM {stale} GROUP BY 1 ORDER BY 1");
        let (mut ids, mut differing) = (Vec::new(), 0);
        for row in client.query(&stale, &[]).await? {
            ids.push(row.try_get::<_, String>(0)?);
            differing += row.try_get::<_, i64>(1)?;
        }
        let refresh = format!("SELECT FROM {refresh}($1)");
        for part in ids.chunks(IDS_AT_ONCE) {
            client.execute(&refresh, &[&part]).await?;
        }
        Ok(differing)
    }
}
