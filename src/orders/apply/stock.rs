//! Changes stock. Every change of a total has a detail, so totals are always the sums of their details.

use rust_decimal::Decimal;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::{Change, ChangeLog, Quantity};
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};
use crate::orders::apply::shipment_data::{OrderItemLink, Variance};

/// Locks every inventory item that the rejections may change, by id, then their product-facility pairs. Returns the ids of
/// the inventory items.
pub(super) async fn lock(
    transaction: &Transaction<'_>,
    rejections: &[ItemRejection<'_>],
) -> Result<Vec<String>, DatabaseError> {
    let links = || rejections.iter().flat_map(|rejection| &rejection.item.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let order_items: Vec<&str> = links().map(|link| link.order_item_seq_id.as_str()).collect();
    let products: Vec<Option<&str>> = rejections.iter().map(|rejection| rejection.item.product_id.as_deref()).collect();
    let facilities: Vec<&str> = rejections.iter().map(|rejection| rejection.facility_id).collect();
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
            &[&orders, &order_items, &products, &facilities],
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

/// Sets the last count of each product-facility pair to its available-to-promise total, as OFBiz does.
pub(super) async fn update_last_counts(transaction: &Transaction<'_>, items: &[String]) -> Result<(), DatabaseError> {
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

/// The stock change of a rejected order item. The inventory items must be locked.
pub(super) struct StockUpdate<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) actor: &'a Actor,
    pub(super) link: &'a OrderItemLink,
    /// The rejection reason.
    pub(super) reason: &'a str,
    /// Whether quantity on hand decreases with available-to-promise.
    pub(super) lowers_quantity_on_hand: bool,
}

impl StockUpdate<'_> {
    /// Makes a reserved quantity available again.
    pub(super) async fn release(
        &self,
        inventory_item_id: &str,
        quantity: Decimal,
        log: &mut ChangeLog,
    ) -> Result<(), DatabaseError> {
        self.add_detail(inventory_item_id, quantity, Decimal::ZERO, None).await?;
        log.add(Change::ReservationReleased {
            inventory_item_id: inventory_item_id.to_owned(),
            available_to_promise_diff: Quantity(quantity),
        });
        Ok(())
    }

    /// Subtracts what the store reports as missing.
    pub(super) async fn apply_variance(
        &self,
        product_id: &str,
        facility_id: &str,
        variance: Variance,
        log: &mut ChangeLog,
    ) -> Result<(), DatabaseError> {
        if variance == Variance::None {
            return Ok(());
        }
        // The pair's current inventory item first, then by available-to-promise. A pair with several may have no current one.
        let inventory_items = self
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
        for row in inventory_items {
            let (inventory_item_id, available) = (row.try_get(0)?, row.try_get(1)?);
            match variance {
                // Everything counted is everything available, because the last count follows available-to-promise.
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
        let physical_inventory_id = self.create_physical_inventory().await?;
        for (inventory_item_id, quantity) in missing {
            self.add_variance(&inventory_item_id, -quantity, &physical_inventory_id, log).await?;
        }
        Ok(())
    }

    async fn add_variance(
        &self,
        inventory_item_id: &str,
        variance: Decimal,
        physical_inventory_id: &str,
        log: &mut ChangeLog,
    ) -> Result<(), DatabaseError> {
        let on_hand = self.lowers_quantity_on_hand.then_some(variance);
        self.transaction
            .execute(
                "INSERT INTO inventory_item_variance (inventory_item_id, physical_inventory_id, available_to_promise_var, \
                     quantity_on_hand_var, reason_enum_id, change_by_user_login_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($1, $2, $3, $4, $5, $6, now(), now(), now(), now())",
                &[&inventory_item_id, &physical_inventory_id, &variance, &on_hand, &self.reason, &self.actor.user_id],
            )
            .await?;
        self.add_detail(inventory_item_id, variance, on_hand.unwrap_or_default(), Some(physical_inventory_id)).await?;
        log.add(Change::StockVaried {
            inventory_item_id: inventory_item_id.to_owned(),
            available_to_promise_diff: Quantity(variance),
            quantity_on_hand_diff: on_hand.map(Quantity),
            reason: self.reason.to_owned(),
        });
        Ok(())
    }

    /// Inserts a detail and updates the inventory item's totals.
    async fn add_detail(
        &self,
        inventory_item_id: &str,
        available_to_promise_diff: Decimal,
        quantity_on_hand_diff: Decimal,
        physical_inventory_id: Option<&str>,
    ) -> Result<(), DatabaseError> {
        let highest = self
            .transaction
            .query_one(
                concat!(
                    "SELECT ",
                    highest_seq_id!("inventory_item_detail_seq_id"),
                    " FROM inventory_item_detail WHERE inventory_item_id = $1"
                ),
                &[&inventory_item_id],
            )
            .await?;
        let seq_id = next_seq_id(highest.try_get(0)?);
        let OrderItemLink { order_id, order_item_seq_id, ship_group_seq_id, .. } = self.link;
        self.transaction
            .execute(
                "INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, effective_date, \
                     quantity_on_hand_diff, available_to_promise_diff, accounting_quantity_diff, order_id, \
                     order_item_seq_id, ship_group_seq_id, physical_inventory_id, reason_enum_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($1, $2, now(), $9, $3, 0, $4, $5, $6, $7, $8, now(), now(), now(), now())",
                &[
                    &inventory_item_id,
                    &seq_id,
                    &available_to_promise_diff,
                    order_id,
                    order_item_seq_id,
                    ship_group_seq_id,
                    &physical_inventory_id,
                    &self.reason,
                    &quantity_on_hand_diff,
                ],
            )
            .await?;
        self.transaction
            .execute(
                "UPDATE inventory_item SET available_to_promise_total = coalesce(available_to_promise_total, 0) + $2, \
                        quantity_on_hand_total = coalesce(quantity_on_hand_total, 0) + $3, \
                        last_updated_stamp = now(), last_updated_tx_stamp = now() WHERE inventory_item_id = $1",
                &[&inventory_item_id, &available_to_promise_diff, &quantity_on_hand_diff],
            )
            .await?;
        Ok(())
    }

    /// Creates the physical inventory of a variance and returns its id. Only OFBiz's own database has a table for it.
    async fn create_physical_inventory(&self) -> Result<String, DatabaseError> {
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
