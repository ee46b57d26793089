//! What OFBiz keeps up to date while it loads, done once after the last file.

use std::fmt;

use tokio_postgres::{Client, Error};

use crate::load::statement::{BEFORE, restore_stamps};
use crate::load::tables::Tables;

/// Rows that the end of a load changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Finished {
    /// Inventory items whose totals were not the sums of their details.
    pub inventory_totals: u64,
    /// Product-facility pairs whose last count was not what their items have available to promise.
    pub last_counts: u64,
    /// Order items that were given the ship group that OFBiz keeps in a table of its own.
    pub ship_groups: u64,
    /// Product-facility pairs that were given their current inventory item.
    pub current_inventory: u64,
    /// Rows that later files brought back to what they were before the load, and so have their old stamps again.
    pub restored: u64,
}

impl fmt::Display for Finished {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inventory_totals, last_counts, ship_groups, current_inventory, restored } = self;
        write!(
            out,
            "sums and links: {inventory_totals} inventory totals, {last_counts} last counts, {ship_groups} ship groups of \
             order items, {current_inventory} current inventory items; {restored} rows are again as they were"
        )
    }
}

/// The functions that finish a load, as the migrations define them, in schema `orderql`. Each answers the number of rows
/// it changed.
const FUNCTIONS: [&str; 3] = ["sum_inventory_details", "backfill_ship_groups", "backfill_current_inventory"];

/// Whether the database has all of them.
pub async fn is_there(client: &Client) -> Result<bool, Error> {
    for function in FUNCTIONS {
        let signature = format!("orderql.{function}()");
        let found = client.query_one("SELECT to_regprocedure($1) IS NOT NULL", &[&signature]).await?;
        if !found.try_get::<_, bool>(0)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sums the inventory details, fills in the links that a stock OFBiz lacks, and gives rows that came out as they were
/// their stamps back, in one transaction. On the connection that loaded the files.
pub async fn finish(client: &mut Client) -> Result<Finished, Error> {
    let tables = Tables::discover(client).await?;
    let transaction = client.transaction().await?;
    let mut changed = [0_u64; 3];
    for (function, changed) in FUNCTIONS.iter().zip(&mut changed) {
        let row = transaction.query_one(&format!("SELECT orderql.{function}()::int8"), &[]).await?;
        *changed = u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
    }
    let last_counts = transaction.execute(LAST_COUNTS, &[]).await?;
    transaction.batch_execute("SET LOCAL timezone = 'UTC'").await?;
    transaction.batch_execute(BEFORE).await?;
    let mut restored = 0;
    for row in transaction.query("SELECT DISTINCT relation FROM load_before ORDER BY relation", &[]).await? {
        let table = tables.named(row.try_get(0)?);
        if let Some(sql) = table.and_then(restore_stamps) {
            restored += transaction.execute(&sql, &[]).await?;
        }
    }
    transaction.batch_execute("TRUNCATE load_before").await?;
    transaction.commit().await?;
    let [inventory_totals, ship_groups, current_inventory] = changed;
    Ok(Finished { inventory_totals, last_counts, ship_groups, current_inventory, restored })
}

/// OFBiz's `setLastInventoryCount`, which follows each change of an item's totals.
const LAST_COUNTS: &str = "
UPDATE public.product_facility AS pair
SET last_inventory_count = stock.available_to_promise
FROM (
    SELECT product_id, facility_id, COALESCE(sum(available_to_promise_total), 0) AS available_to_promise
    FROM public.inventory_item
    GROUP BY product_id, facility_id
) AS stock
WHERE pair.product_id = stock.product_id
  AND pair.facility_id = stock.facility_id
  AND pair.last_inventory_count IS DISTINCT FROM stock.available_to_promise";
