//! What is in stock: every change of a total is a detail, so that totals are always the sums of their details.

use rust_decimal::Decimal;
use serde_json::json;
use tokio_postgres::{Error, Transaction};

use crate::orders::apply::rules::{Link, RejectedItem, Variance};
use crate::orders::apply::{Actor, Changes, highest, next_seq_id};

/// Locks every inventory item that rejections can change, by id, then the pairs whose stock they are. Returns the items.
pub(super) async fn lock(transaction: &Transaction<'_>, rejections: &[RejectedItem<'_>]) -> Result<Vec<String>, Error> {
    let links = || rejections.iter().flat_map(|rejected| &rejected.item.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let lines: Vec<&str> = links().map(|link| link.order_item_seq_id.as_str()).collect();
    let products: Vec<Option<&str>> = rejections.iter().map(|rejected| rejected.item.product_id.as_deref()).collect();
    let facilities: Vec<&str> = rejections.iter().map(|rejected| rejected.facility_id).collect();
    let rows = transaction
        .query(
            "SELECT inventory_item_id FROM inventory_item WHERE inventory_item_id IN ( \
                 SELECT reserved.inventory_item_id FROM unnest($1::text[], $2::text[]) AS line(order_id, seq_id) \
                 JOIN order_item_ship_grp_inv_res AS reserved \
                   ON reserved.order_id = line.order_id AND reserved.order_item_seq_id = line.seq_id \
                 UNION \
                 SELECT stocked.inventory_item_id FROM unnest($3::text[], $4::text[]) AS pair(product_id, facility_id) \
                 JOIN inventory_item AS stocked \
                   ON stocked.product_id = pair.product_id AND stocked.facility_id = pair.facility_id \
                 UNION \
                 SELECT own.inventory_item_id FROM unnest($3::text[], $4::text[]) AS pair(product_id, facility_id) \
                 JOIN product_facility AS own \
                   ON own.product_id = pair.product_id AND own.facility_id = pair.facility_id) \
             ORDER BY inventory_item_id FOR NO KEY UPDATE",
            &[&orders, &lines, &products, &facilities],
        )
        .await?;
    let items = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    transaction
        .execute(
            "SELECT FROM product_facility WHERE (product_id, facility_id) IN ( \
                 SELECT product_id, facility_id FROM inventory_item WHERE inventory_item_id = ANY($1)) \
             ORDER BY product_id, facility_id FOR NO KEY UPDATE",
            &[&items],
        )
        .await?;
    Ok(items)
}

/// What the last count of a pair says is what is available of it, as OFBiz keeps it.
pub(super) async fn recount(transaction: &Transaction<'_>, items: &[String]) -> Result<(), Error> {
    transaction
        .execute(
            "UPDATE product_facility AS pair SET last_inventory_count = stock.available, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             FROM (SELECT product_id, facility_id, coalesce(sum(available_to_promise_total), 0) AS available \
                   FROM inventory_item WHERE (product_id, facility_id) IN ( \
                       SELECT product_id, facility_id FROM inventory_item WHERE inventory_item_id = ANY($1)) \
                   GROUP BY product_id, facility_id) AS stock \
             WHERE pair.product_id = stock.product_id AND pair.facility_id = stock.facility_id \
               AND pair.last_inventory_count IS DISTINCT FROM stock.available",
            &[&items],
        )
        .await?;
    Ok(())
}

/// The stock behind one line of an order. Its inventory items are locked.
pub(super) struct Stock<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) actor: &'a Actor,
    pub(super) link: &'a Link,
    pub(super) reason: &'a str,
}

impl Stock<'_> {
    /// Makes a reserved quantity available again.
    pub(super) async fn release(
        &self,
        inventory_item_id: &str,
        quantity: Decimal,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        self.detail(inventory_item_id, quantity, None).await?;
        let facts = json!({ "inventoryItemId": inventory_item_id, "availableToPromiseDiff": quantity.to_string() });
        changes.add("reservationReleased", facts);
        Ok(())
    }

    /// Takes off what a store reports as missing.
    pub(super) async fn vary(
        &self,
        product_id: &str,
        facility_id: &str,
        variance: Variance,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        if variance == Variance::None {
            return Ok(());
        }
        // The pair's current item first, or else the one with most in it: the pointer is empty where there are several.
        let stocked = self
            .transaction
            .query(
                "SELECT stocked.inventory_item_id, coalesce(stocked.available_to_promise_total, 0) \
                 FROM inventory_item AS stocked \
                 LEFT JOIN product_facility AS own ON own.product_id = $1 AND own.facility_id = $2 \
                 WHERE stocked.product_id = $1 AND stocked.facility_id = $2 \
                 ORDER BY stocked.inventory_item_id = own.inventory_item_id DESC NULLS LAST, \
                          stocked.available_to_promise_total DESC NULLS LAST, stocked.inventory_item_id",
                &[&product_id, &facility_id],
            )
            .await?;
        let mut missing: Vec<(String, Decimal)> = Vec::new();
        for row in stocked {
            let (inventory_item_id, available) = (row.try_get(0)?, row.try_get(1)?);
            match variance {
                // All that was counted is what is available of the pair, which its last count follows.
                Variance::All if available > Decimal::ZERO => missing.push((inventory_item_id, available)),
                Variance::Quantity if missing.is_empty() && self.link.quantity > Decimal::ZERO => {
                    missing.push((inventory_item_id, self.link.quantity));
                }
                Variance::None | Variance::All | Variance::Quantity => {}
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let physical_inventory_id = self.count_stock().await?;
        for (inventory_item_id, quantity) in missing {
            self.vary_item(&inventory_item_id, -quantity, &physical_inventory_id, changes).await?;
        }
        Ok(())
    }

    async fn vary_item(
        &self,
        inventory_item_id: &str,
        variance: Decimal,
        physical_inventory_id: &str,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        self.transaction
            .execute(
                "INSERT INTO inventory_item_variance (inventory_item_id, physical_inventory_id, available_to_promise_var, \
                     reason_enum_id, change_by_user_login_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($1, $2, $3, $4, $5, now(), now(), now(), now())",
                &[&inventory_item_id, &physical_inventory_id, &variance, &self.reason, &self.actor.user_id],
            )
            .await?;
        self.detail(inventory_item_id, variance, Some(physical_inventory_id)).await?;
        let facts = json!({
            "inventoryItemId": inventory_item_id, "availableToPromiseDiff": variance.to_string(), "reason": self.reason,
        });
        changes.add("stockVaried", facts);
        Ok(())
    }

    /// Adds a detail and brings the item's total along.
    async fn detail(
        &self,
        inventory_item_id: &str,
        available_to_promise_diff: Decimal,
        physical_inventory_id: Option<&str>,
    ) -> Result<(), Error> {
        let highest = self
            .transaction
            .query_one(
                concat!(
                    "SELECT ",
                    highest!("inventory_item_detail_seq_id"),
                    " FROM inventory_item_detail WHERE inventory_item_id = $1"
                ),
                &[&inventory_item_id],
            )
            .await?;
        let seq_id = next_seq_id(highest.try_get(0)?);
        let Link { order_id, order_item_seq_id, ship_group_seq_id, .. } = self.link;
        self.transaction
            .execute(
                "INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, effective_date, \
                     quantity_on_hand_diff, available_to_promise_diff, accounting_quantity_diff, order_id, \
                     order_item_seq_id, ship_group_seq_id, physical_inventory_id, reason_enum_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($1, $2, now(), 0, $3, 0, $4, $5, $6, $7, $8, now(), now(), now(), now())",
                &[
                    &inventory_item_id,
                    &seq_id,
                    &available_to_promise_diff,
                    order_id,
                    order_item_seq_id,
                    ship_group_seq_id,
                    &physical_inventory_id,
                    &self.reason,
                ],
            )
            .await?;
        self.transaction
            .execute(
                "UPDATE inventory_item SET available_to_promise_total = coalesce(available_to_promise_total, 0) + $2, \
                        last_updated_stamp = now(), last_updated_tx_stamp = now() WHERE inventory_item_id = $1",
                &[&inventory_item_id, &available_to_promise_diff],
            )
            .await?;
        Ok(())
    }

    /// The stock count that a variance belongs to. Its own table is there in OFBiz's database alone.
    async fn count_stock(&self) -> Result<String, Error> {
        let row = self
            .transaction
            .query_one(
                "SELECT 'Q' || nextval('orderql.entity_id'), to_regclass('public.physical_inventory') IS NOT NULL",
                &[],
            )
            .await?;
        let physical_inventory_id: String = row.try_get(0)?;
        if row.try_get(1)? {
            self.transaction
                .execute(
                    "INSERT INTO physical_inventory (physical_inventory_id, physical_inventory_date, created_stamp, \
                         created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                     VALUES ($1, now(), now(), now(), now(), now())",
                    &[&physical_inventory_id],
                )
                .await?;
        }
        Ok(physical_inventory_id)
    }
}
