//! Rejects items: removes them from their shipment, moves their order items to the queue of rejected items, releases
//! their stock, and writes the history.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::move_item::delete_item;
use crate::orders::apply::rejection_history;
use crate::orders::apply::rejection_queue::move_to_queue;
use crate::orders::apply::shipment_data::{OrderItemLink, OrderItemPlace};
use crate::orders::apply::stamps::update;
use crate::orders::apply::stock::{self, StockUpdate};

/// The reasons that say that items are not there at all, rather than not fit to be sent.
const NOT_ON_HAND: [&str; 2] = ["NOT_IN_STOCK", "MISMATCH"];

const RELEASE_RESERVATIONS: &str = "DELETE FROM order_item_ship_grp_inv_res \
     WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = coalesce($3, ship_group_seq_id) RETURNING inventory_item_id, coalesce(quantity, 0)";
const CANCEL_PICKING: &str = update!(
    "picklist_item",
    "item_status_id = 'PICKITEM_CANCELLED'",
    "order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = $3 \
     AND item_status_id IS DISTINCT FROM 'PICKITEM_CANCELLED'"
);
const DELETE_LINKS: &str = "DELETE FROM order_shipment WHERE shipment_id = $1 AND shipment_item_seq_id = $2";

/// Rejects items. Locks the stock of all of them in one order before the first change.
pub(super) async fn reject(
    writer: &mut ChangeWriter<'_>,
    rejections: &[ItemRejection<'_>],
) -> Result<(), DatabaseError> {
    let inventory_items = stock::lock(writer, rejections).await?;
    // The new ship groups of the order items. Several parts of an order item move together.
    let mut moved: BTreeMap<OrderItemPlace, String> = BTreeMap::new();
    for rejection in rejections {
        for link in rejection.links {
            release_stock(writer, rejection, link).await?;
            let ship_group_seq_id = match moved.entry(link.place()) {
                Entry::Occupied(group) => group.get().clone(),
                Entry::Vacant(entry) => entry.insert(move_order_item(writer, rejection, link).await?).clone(),
            };
            writer.record(UpdateChange::ItemRejected {
                shipment_id: rejection.place.map(|(shipment_id, _)| shipment_id.to_owned()),
                shipment_item_seq_id: rejection.place.map(|(_, seq_id)| seq_id.to_owned()),
                order_id: link.order_id.clone(),
                order_item_seq_id: link.order_item_seq_id.clone(),
                from_ship_group_seq_id: link.ship_group_seq_id.clone(),
                ship_group_seq_id,
                reason: rejection.reason.to_owned(),
            });
        }
        if let Some((shipment_id, seq_id)) = rejection.place {
            writer.execute(DELETE_LINKS, &[&shipment_id, &seq_id]).await?;
            delete_item(writer, shipment_id, seq_id).await?;
        }
    }
    stock::update_last_counts(writer, &inventory_items).await
}

/// Moves the order item to the queue, with its history and without its picking. Returns its new ship group.
async fn move_order_item(
    writer: &mut ChangeWriter<'_>,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
) -> Result<String, DatabaseError> {
    let place = move_to_queue(writer, link).await?;
    rejection_history::record(writer, rejection, link, &place).await?;
    writer.execute(CANCEL_PICKING, &[&link.order_id, &link.order_item_seq_id, &link.ship_group_seq_id]).await?;
    Ok(place.ship_group_seq_id)
}

/// Releases the order item's reservations, then subtracts what the rejection reason reports as missing.
async fn release_stock(
    writer: &mut ChangeWriter<'_>,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
) -> Result<(), DatabaseError> {
    let ItemRejection { row, reason, facility_id, variance, .. } = *rejection;
    let lowers = row.options.lowers_quantity_on_hand.unwrap_or(writer.options.rejections_lower_quantity_on_hand);
    let lowers_quantity_on_hand = lowers && NOT_ON_HAND.contains(&reason);
    let reservations =
        writer.query(RELEASE_RESERVATIONS, &[&link.order_id, &link.order_item_seq_id, &link.part()]).await?;
    let mut stock = StockUpdate { writer, link, reason, lowers_quantity_on_hand };
    for row in reservations {
        stock.release(row.try_get(0)?, row.try_get(1)?).await?;
    }
    let Some(product_id) = rejection.product_id else { return Ok(()) };
    stock.apply_variance(product_id, facility_id, variance).await
}
