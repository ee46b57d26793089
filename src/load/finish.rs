//! Totals and links that OFBiz updates while it loads. Here they are computed once, after the last file.

use std::fmt;

use tokio_postgres::{Client, Error};

use crate::database::vacuum::{invisible_tables, vacuum};
use crate::load::error::LoadError;
use crate::load::statement::{CREATE_ORIGINALS, restore_stamps};
use crate::load::tables::TargetTables;

/// The number of rows that [`finish`] changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FinishReport {
    /// Inventory items whose totals differed from the sums of their details.
    pub inventory_totals: u64,
    /// Product-facility pairs whose last count differed from their items' available-to-promise total.
    pub last_counts: u64,
    /// Order items that received the ship group of OFBiz's separate association table.
    pub ship_groups: u64,
    /// Product-facility pairs that received their current inventory item.
    pub(crate) current_inventory: u64,
    /// Rows with content that later files restored, so that their timestamps were restored too.
    pub restored: u64,
}

impl fmt::Display for FinishReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inventory_totals, last_counts, ship_groups, current_inventory, restored } = self;
        write!(
            out,
            "sums and links: {inventory_totals} inventory totals, {last_counts} last counts, {ship_groups} ship groups of \
             order items, {current_inventory} current inventory items; {restored} rows are again as they were"
        )
    }
}

/// The functions that finish a load, defined by the migrations in schema `orderql`. Each returns the number of rows that
/// it changed.
const FUNCTIONS: [&str; 3] = ["sum_inventory_details", "backfill_ship_groups", "backfill_current_inventory"];

/// Fails with [`LoadError::NotMigrated`] if the database lacks one of the functions. Call it before the first file.
pub async fn check_ready(client: &Client) -> Result<(), LoadError> {
    for function in FUNCTIONS {
        let signature = format!("orderql.{function}()");
        let exists = client.query_one("SELECT to_regprocedure($1) IS NOT NULL", &[&signature]).await?;
        if !exists.try_get::<_, bool>(0)? {
            return Err(LoadError::NotMigrated);
        }
    }
    Ok(())
}

/// Computes inventory totals from their details, fills in the links that a stock OFBiz lacks (the ship group of order
/// items, the current inventory item of product-facility pairs), and restores the timestamps of rows whose content is
/// unchanged. Runs in one transaction, and vacuums the tables. Call it once after the last file, on the connection that loaded the files.
pub async fn finish(client: &mut Client) -> Result<FinishReport, LoadError> {
    check_ready(client).await?;
    let report = update_derived(client).await?;
    let filled = invisible_tables(client, 1).await?;
    vacuum(client, &filled.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    Ok(report)
}

async fn update_derived(client: &mut Client) -> Result<FinishReport, Error> {
    let tables = TargetTables::discover(client).await?;
    let transaction = client.transaction().await?;
    let mut changed = [0_u64; 3];
    for (function, changed) in FUNCTIONS.iter().zip(&mut changed) {
        let row = transaction.query_one(&format!("SELECT orderql.{function}()::int8"), &[]).await?;
        *changed = u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
    }
    let last_counts = transaction.execute(LAST_COUNTS, &[]).await?;
    transaction.batch_execute("SET LOCAL timezone = 'UTC'").await?;
    transaction.batch_execute(CREATE_ORIGINALS).await?;
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
    Ok(FinishReport { inventory_totals, last_counts, ship_groups, current_inventory, restored })
}

/// Does what OFBiz's `setLastInventoryCount` does after each change of an item's totals.
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
