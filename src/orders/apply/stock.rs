//! Changes stock. Every change of a total has a detail, so totals are always the sums of their details.

use rust_decimal::Decimal;

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::{Quantity, UpdateChange};
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};
use crate::orders::apply::shipment_data::{OrderItemLink, Variance};
use crate::orders::apply::stamps::{insert, update};

const LOCK_ITEMS: &str = "SELECT inventory_item_id FROM inventory_item WHERE inventory_item_id IN ( \
         SELECT reserved.inventory_item_id FROM unnest($1::text[], $2::text[]) AS line(order_id, seq_id) \
         JOIN order_item_ship_grp_inv_res AS reserved \
           ON reserved.order_id = line.order_id AND reserved.order_item_seq_id = line.seq_id \
         UNION \
         SELECT stocked.inventory_item_id FROM unnest($3::text[], $4::text[]) AS pair(product_id, facility_id) \
         JOIN inventory_item AS stocked \
           ON stocked.product_id = pair.product_id AND stocked.facility_id = pair.facility_id \
         UNION \
         SELECT to_jsonb(own) ->> 'inventory_item_id' FROM unnest($3::text[], $4::text[]) AS pair(product_id, facility_id) \
         JOIN product_facility AS own \
           ON own.product_id = pair.product_id AND own.facility_id = pair.facility_id) \
     ORDER BY inventory_item_id FOR NO KEY UPDATE";
const LOCK_PAIRS: &str = "SELECT FROM product_facility WHERE (product_id, facility_id) IN ( \
         SELECT product_id, facility_id FROM inventory_item WHERE inventory_item_id = ANY($1)) \
     ORDER BY product_id, facility_id FOR NO KEY UPDATE";
// OFBiz counts the stock that is available to promise.
const UPDATE_LAST_COUNTS: &str = update!(
    "product_facility AS pair",
    "last_inventory_count = stock.available",
    FROM "(SELECT product_id, facility_id, coalesce(sum(available_to_promise_total), 0) AS available \
           FROM inventory_item WHERE (product_id, facility_id) IN ( \
               SELECT product_id, facility_id FROM inventory_item WHERE inventory_item_id = ANY($1)) \
           GROUP BY product_id, facility_id) AS stock",
    "pair.product_id = stock.product_id AND pair.facility_id = stock.facility_id \
     AND pair.last_inventory_count IS DISTINCT FROM stock.available"
);
// The pair's current inventory item first, then by available-to-promise. A pair with several may have no current one.
const ITEMS_OF_PAIR: &str = "SELECT stocked.inventory_item_id, coalesce(stocked.available_to_promise_total, 0) \
     FROM inventory_item AS stocked \
     LEFT JOIN product_facility AS own ON own.product_id = $1 AND own.facility_id = $2 \
     WHERE stocked.product_id = $1 AND stocked.facility_id = $2 \
     ORDER BY stocked.inventory_item_id = to_jsonb(own) ->> 'inventory_item_id' DESC NULLS LAST, \
              stocked.available_to_promise_total DESC NULLS LAST, stocked.inventory_item_id";
const ADD_VARIANCE: &str = insert!(
    "inventory_item_variance",
    "inventory_item_id, physical_inventory_id, available_to_promise_var, quantity_on_hand_var, reason_enum_id, \
     change_by_user_login_id",
    VALUES "$1, $2, $3, $4, $5, $6"
);
const HIGHEST_DETAIL: &str = concat!(
    "SELECT ",
    highest_seq_id!("inventory_item_detail_seq_id"),
    " FROM inventory_item_detail WHERE inventory_item_id = $1"
);
const ADD_DETAIL: &str = insert!(
    "inventory_item_detail",
    "inventory_item_id, inventory_item_detail_seq_id, effective_date, accounting_quantity_diff, available_to_promise_diff, \
     quantity_on_hand_diff, order_id, order_item_seq_id, ship_group_seq_id, physical_inventory_id, reason_enum_id",
    VALUES "$1, $2, now(), 0, $3, $4, $5, $6, $7, $8, $9"
);
const ADD_TO_TOTALS: &str = update!(
    "inventory_item",
    "available_to_promise_total = coalesce(available_to_promise_total, 0) + $2, \
     quantity_on_hand_total = coalesce(quantity_on_hand_total, 0) + $3",
    "inventory_item_id = $1"
);
const HAS_PHYSICAL_INVENTORY: &str = "SELECT to_regclass('public.physical_inventory') IS NOT NULL";
const ADD_PHYSICAL_INVENTORY: &str =
    insert!("physical_inventory", "physical_inventory_id, physical_inventory_date", VALUES "$1, now()");

/// Locks every inventory item that the rejections may change, by id, then their product-facility pairs. Returns the ids of
/// the inventory items.
pub(super) async fn lock(
    writer: &ChangeWriter<'_>,
    rejections: &[ItemRejection<'_>],
) -> Result<Vec<String>, DatabaseError> {
    let links = || rejections.iter().flat_map(|rejection| rejection.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let order_items: Vec<&str> = links().map(|link| link.order_item_seq_id.as_str()).collect();
    let products: Vec<Option<&str>> = rejections.iter().map(|rejection| rejection.product_id).collect();
    let facilities: Vec<&str> = rejections.iter().map(|rejection| rejection.facility_id).collect();
    let rows = writer.query(LOCK_ITEMS, &[&orders, &order_items, &products, &facilities]).await?;
    let items = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    writer.execute(LOCK_PAIRS, &[&items]).await?;
    Ok(items)
}

/// Sets the last count of each product-facility pair to its available-to-promise total.
pub(super) async fn update_last_counts(writer: &ChangeWriter<'_>, items: &[String]) -> Result<(), DatabaseError> {
    writer.execute(UPDATE_LAST_COUNTS, &[&items]).await?;
    Ok(())
}

/// The stock change of a rejected order item. The inventory items must be locked.
pub(super) struct StockUpdate<'a, 'w> {
    pub(super) writer: &'a mut ChangeWriter<'w>,
    pub(super) link: &'a OrderItemLink,
    /// The rejection reason.
    pub(super) reason: &'a str,
    /// Whether quantity on hand decreases with available-to-promise.
    pub(super) lowers_quantity_on_hand: bool,
}

/// A change of an inventory item's quantities.
#[derive(Clone, Copy)]
struct StockDiff {
    /// Of the quantity that is available to promise.
    available: Decimal,
    on_hand: Decimal,
}

impl StockUpdate<'_, '_> {
    /// Makes a reserved quantity available again.
    pub(super) async fn release(&mut self, inventory_item_id: &str, quantity: Decimal) -> Result<(), DatabaseError> {
        self.add_detail(inventory_item_id, StockDiff { available: quantity, on_hand: Decimal::ZERO }, None).await?;
        self.writer.record(UpdateChange::ReservationReleased {
            inventory_item_id: inventory_item_id.to_owned(),
            available_to_promise_diff: Quantity(quantity),
        });
        Ok(())
    }

    /// Subtracts what the store reports as missing.
    pub(super) async fn apply_variance(
        &mut self,
        product_id: &str,
        facility_id: &str,
        variance: Variance,
    ) -> Result<(), DatabaseError> {
        if variance == Variance::None {
            return Ok(());
        }
        let mut missing: Vec<(String, Decimal)> = Vec::new();
        for row in self.writer.query(ITEMS_OF_PAIR, &[&product_id, &facility_id]).await? {
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
            self.add_variance(&inventory_item_id, -quantity, &physical_inventory_id).await?;
        }
        Ok(())
    }

    async fn add_variance(
        &mut self,
        inventory_item_id: &str,
        variance: Decimal,
        physical_inventory_id: &str,
    ) -> Result<(), DatabaseError> {
        let on_hand = self.lowers_quantity_on_hand.then_some(variance);
        let user_id = &self.writer.actor.user_id;
        self.writer
            .execute(
                ADD_VARIANCE,
                &[&inventory_item_id, &physical_inventory_id, &variance, &on_hand, &self.reason, user_id],
            )
            .await?;
        let diff = StockDiff { available: variance, on_hand: on_hand.unwrap_or_default() };
        self.add_detail(inventory_item_id, diff, Some(physical_inventory_id)).await?;
        self.writer.record(UpdateChange::StockVaried {
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
        StockDiff { available, on_hand }: StockDiff,
        physical_inventory_id: Option<&str>,
    ) -> Result<(), DatabaseError> {
        let highest = self.writer.query_one(HIGHEST_DETAIL, &[&inventory_item_id]).await?;
        let seq_id = next_seq_id(highest.try_get(0)?);
        let OrderItemLink { order_id, order_item_seq_id, ship_group_seq_id, .. } = self.link;
        self.writer
            .execute(
                ADD_DETAIL,
                &[
                    &inventory_item_id,
                    &seq_id,
                    &available,
                    &on_hand,
                    order_id,
                    order_item_seq_id,
                    ship_group_seq_id,
                    &physical_inventory_id,
                    &self.reason,
                ],
            )
            .await?;
        self.writer.execute(ADD_TO_TOTALS, &[&inventory_item_id, &available, &on_hand]).await?;
        Ok(())
    }

    /// Creates the physical inventory of a variance and returns its id. Only OFBiz's own database has a table for it.
    async fn create_physical_inventory(&self) -> Result<String, DatabaseError> {
        let physical_inventory_id = self.writer.new_id().await?;
        if self.writer.query_one(HAS_PHYSICAL_INVENTORY, &[]).await?.try_get(0)? {
            self.writer.execute(ADD_PHYSICAL_INVENTORY, &[&physical_inventory_id]).await?;
        }
        Ok(physical_inventory_id)
    }
}
