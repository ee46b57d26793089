//! What triggers keep equal to OFBiz's tables: all parties with their names, the ship groups that still have something to do, the
//! facility of an order item and the store of a return. Rows that are written while triggers are disabled, as some imports do, are
//! missing or stale until they are repaired.

use tokio_postgres::{Client, Error};

/// A table that triggers keep, or columns of one.
#[derive(Debug)]
pub(crate) struct KeptTable {
    /// Its name with its schema.
    pub(crate) name: &'static str,
    /// What its rows are, in the plural.
    pub(crate) rows: &'static str,
    /// A view that is there if the table is.
    view: &'static str,
    /// The table that its rows come from.
    source: &'static str,
    /// Counts the rows that differ.
    differing: &'static str,
    /// The function that makes them equal, and returns the number of rows that were not.
    backfill: &'static str,
}

/// All of them, in the order in which they are reported.
pub(crate) static KEPT_TABLES: [KeptTable; 5] = [
    KeptTable {
        name: "order_item",
        rows: "ship groups of order items",
        view: "orderql.ship_group",
        source: "public.order_item",
        differing: "SELECT count(DISTINCT (item.order_id, item.order_item_seq_id))
            FROM order_item AS item JOIN order_item_ship_group_assoc USING (order_id, order_item_seq_id)
            WHERE item.ship_group_seq_id IS NULL",
        backfill: "orderql.backfill_ship_groups",
    },
    KeptTable {
        name: "product_facility",
        rows: "current inventory items",
        view: "orderql.inventory_level",
        source: "public.product_facility",
        differing: "SELECT count(*) FROM product_facility AS pair WHERE inventory_item_id IS NULL AND 1 = (
            SELECT count(*) FROM inventory_item AS item
            WHERE item.product_id = pair.product_id AND item.facility_id = pair.facility_id
        )",
        backfill: "orderql.backfill_current_inventory",
    },
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
        name: "order_item and return_header",
        rows: "order items and returns",
        view: "orderql.stale_item",
        source: "public.order_item",
        differing: "SELECT (SELECT count(*) FROM orderql.stale_item) + (SELECT count(*) FROM orderql.stale_return)",
        backfill: "orderql.backfill_search_columns",
    },
    KeptTable {
        name: "orderql.open_ship_group",
        rows: "open ship groups",
        view: "orderql.open_ship_group_source",
        source: "public.order_item_ship_group",
        differing: "SELECT count(*) FROM orderql.open_ship_group_source AS source
            FULL JOIN orderql.open_ship_group AS kept USING (order_id, ship_group_seq_id)
            WHERE source.* IS DISTINCT FROM kept.*",
        backfill: "orderql.backfill_open_ship_groups",
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
