//! Moves rejected order items to the queue of items to be sent from elsewhere: a ship group of the order at a facility that is no
//! place.

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};
use crate::orders::apply::shipment_data::OrderItemLink;
use crate::orders::apply::stamps::{changed_copy, update};

/// The facility of rejected items that wait to be brokered again.
const QUEUE: &str = "REJECTED_ITM_PARKING";
/// The facility of rejected items that a customer was to pick up.
const PICKUP_QUEUE: &str = "PICKUP_REJECTED";

const IS_PICKUP: &str = "SELECT EXISTS ( \
     SELECT FROM order_item_ship_group AS own JOIN shipment_method_type AS method USING (shipment_method_type_id) \
     WHERE own.order_id = $1 AND own.ship_group_seq_id = $2 \
       AND 'STOREPICKUP' IN (method.shipment_method_type_id, method.parent_type_id))";
const EXISTING_GROUP: &str = "SELECT other.ship_group_seq_id FROM order_item_ship_group AS other \
     JOIN order_item_ship_group AS own ON own.order_id = other.order_id AND own.ship_group_seq_id = $2 \
     WHERE other.order_id = $1 AND other.facility_id = $3 \
       AND other.shipment_method_type_id IS NOT DISTINCT FROM own.shipment_method_type_id \
     ORDER BY other.ship_group_seq_id DESC LIMIT 1";
const HIGHEST_GROUP: &str =
    concat!("SELECT ", highest_seq_id!("ship_group_seq_id"), " FROM order_item_ship_group WHERE order_id = $1");
const COPY_GROUP: &str = concat!(
    "INSERT INTO order_item_ship_group SELECT ",
    changed_copy!(
        "own",
        "",
        "'ship_group_seq_id', $3::text, 'facility_id', $4::text, 'tracking_number', NULL, 'created_stamp', now(), \
         'created_tx_stamp', now()"
    ),
    " FROM order_item_ship_group AS own WHERE order_id = $1 AND ship_group_seq_id = $2"
);
const MOVE_ORDER_ITEM: &str =
    update!("order_item", "ship_group_seq_id = $3, shipment_id = NULL", "order_id = $1 AND order_item_seq_id = $2");
const LEAVE_SHIPMENT: &str = update!("order_item", "shipment_id = NULL", "order_id = $1 AND order_item_seq_id = $2");
const MOVE_ADJUSTMENTS: &str = update!(
    "order_adjustment",
    "ship_group_seq_id = $4",
    "order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = $3"
);
// The only assignment that is not cancelled, or the assignment to the ship group if there may be several. The new group may have an
// earlier, cancelled one, or another part of the order item.
const MOVE_ASSIGNMENT: &str = concat!(
    "WITH old AS ( \
         DELETE FROM order_item_ship_group_assoc \
         WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id <> $3 \
           AND ship_group_seq_id = coalesce($4, ship_group_seq_id) \
           AND coalesce(quantity, 1) > coalesce(cancel_quantity, 0) RETURNING * \
     ) \
     INSERT INTO order_item_ship_group_assoc SELECT ",
    changed_copy!("NULL::order_item_ship_group_assoc", "to_jsonb(old) || ", "'ship_group_seq_id', $3::text"),
    " FROM old ON CONFLICT (order_id, order_item_seq_id, ship_group_seq_id) DO UPDATE \
        SET quantity = excluded.quantity + CASE WHEN $4 IS NULL THEN 0 \
                ELSE coalesce(order_item_ship_group_assoc.quantity - coalesce(order_item_ship_group_assoc.cancel_quantity, 0), 0) END, \
            cancel_quantity = excluded.cancel_quantity, \
            last_updated_stamp = excluded.last_updated_stamp, last_updated_tx_stamp = excluded.last_updated_tx_stamp"
);

/// The queue and the ship group in which a rejected order item waits.
pub(super) struct QueuePlace {
    pub(super) facility_id: &'static str,
    pub(super) ship_group_seq_id: String,
}

/// Moves the order item to the ship group of the order's rejected items.
pub(super) async fn move_to_queue(
    writer: &mut ChangeWriter<'_>,
    link: &OrderItemLink,
) -> Result<QueuePlace, DatabaseError> {
    let OrderItemLink { order_id, order_item_seq_id, ship_group_seq_id: old, .. } = link;
    let is_pickup: bool = writer.query_one(IS_PICKUP, &[order_id, old]).await?.try_get(0)?;
    let facility_id = if is_pickup { PICKUP_QUEUE } else { QUEUE };
    let new = match writer.query(EXISTING_GROUP, &[order_id, old, &facility_id]).await?.first() {
        Some(row) => row.try_get(0)?,
        None => copy_group(writer, order_id, old, facility_id).await?,
    };
    if link.may_be_split {
        writer.execute(LEAVE_SHIPMENT, &[order_id, order_item_seq_id]).await?;
    } else {
        writer.execute(MOVE_ORDER_ITEM, &[order_id, order_item_seq_id, &new]).await?;
    }
    writer.execute(MOVE_ADJUSTMENTS, &[order_id, order_item_seq_id, old, &new]).await?;
    writer.execute(MOVE_ASSIGNMENT, &[order_id, order_item_seq_id, &new, &link.part()]).await?;
    Ok(QueuePlace { facility_id, ship_group_seq_id: new })
}

/// Copies a ship group to another facility, for an order without a group for rejected items. Returns the copy.
async fn copy_group(
    writer: &mut ChangeWriter<'_>,
    order_id: &str,
    old: &str,
    facility_id: &str,
) -> Result<String, DatabaseError> {
    let new = next_seq_id(writer.query_one(HIGHEST_GROUP, &[&order_id]).await?.try_get(0)?);
    writer.execute(COPY_GROUP, &[&order_id, &old, &new, &facility_id]).await?;
    writer.record(UpdateChange::ShipGroupCreated {
        order_id: order_id.to_owned(),
        ship_group_seq_id: new.clone(),
        facility_id: facility_id.to_owned(),
    });
    Ok(new)
}
