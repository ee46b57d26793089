//! An item's rejection: out of its shipment, its order line to the queue of rejected items, its stock given back.

use serde_json::json;
use tokio_postgres::{Error, Transaction};

use crate::orders::apply::inventory::{self, Stock};
use crate::orders::apply::rules::{Item, Link, RejectedItem};
use crate::orders::apply::{Actor, Changes, highest, moves, next_seq_id};

/// Where rejected lines wait to be brokered again.
const QUEUE: &str = "REJECTED_ITM_PARKING";
/// Where those wait that a customer was to pick up.
const PICKUP_QUEUE: &str = "PICKUP_REJECTED";
const PICKUP: &str = "STOREPICKUP";

/// Rejects items. The stock of all of them is locked before the first is touched, in one order.
pub(super) async fn apply(
    transaction: &Transaction<'_>,
    actor: &Actor,
    rejections: &[RejectedItem<'_>],
    changes: &mut Changes,
) -> Result<(), Error> {
    let stocked = inventory::lock(transaction, rejections).await?;
    for rejected in rejections {
        for link in &rejected.item.links {
            give_back(transaction, actor, rejected, link, changes).await?;
            let group = move_line(transaction, actor, rejected, link, changes).await?;
            cancel_picking(transaction, link).await?;
            changes.add(
                "itemRejected",
                json!({
                    "shipmentId": rejected.shipment_id, "shipmentItemSeqId": rejected.item.seq_id,
                    "orderId": link.order_id, "orderItemSeqId": link.order_item_seq_id,
                    "fromShipGroupSeqId": link.ship_group_seq_id, "shipGroupSeqId": group, "reason": rejected.reason,
                }),
            );
        }
        transaction
            .execute(
                "DELETE FROM order_shipment WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
                &[&rejected.shipment_id, &rejected.item.seq_id],
            )
            .await?;
        moves::delete(transaction, rejected.shipment_id, &rejected.item.seq_id).await?;
    }
    inventory::recount(transaction, &stocked).await
}

/// Moves the order's line to the group of its rejected items, and tells so in the history of its facilities.
async fn move_line(
    transaction: &Transaction<'_>,
    actor: &Actor,
    rejected: &RejectedItem<'_>,
    link: &Link,
    changes: &mut Changes,
) -> Result<String, Error> {
    let Link { order_id, order_item_seq_id: line, ship_group_seq_id: old, .. } = link;
    let method = transaction
        .query_opt(
            "SELECT method.shipment_method_type_id, method.parent_type_id FROM order_item_ship_group AS own \
             JOIN shipment_method_type AS method USING (shipment_method_type_id) \
             WHERE own.order_id = $1 AND own.ship_group_seq_id = $2",
            &[order_id, old],
        )
        .await?;
    let mut queue = QUEUE;
    if let Some(row) = &method {
        let (id, parent): (&str, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
        if id == PICKUP || parent == Some(PICKUP) {
            queue = PICKUP_QUEUE;
        }
    }
    let known = transaction
        .query_opt(
            "SELECT other.ship_group_seq_id FROM order_item_ship_group AS other \
             JOIN order_item_ship_group AS own ON own.order_id = other.order_id AND own.ship_group_seq_id = $2 \
             WHERE other.order_id = $1 AND other.facility_id = $3 \
               AND other.shipment_method_type_id IS NOT DISTINCT FROM own.shipment_method_type_id \
             ORDER BY other.ship_group_seq_id DESC LIMIT 1",
            &[order_id, old, &queue],
        )
        .await?;
    let new: String = match known {
        Some(row) => row.try_get(0)?,
        None => copy_group(transaction, order_id, old, queue, changes).await?,
    };
    transaction
        .execute(
            "UPDATE order_item SET ship_group_seq_id = $3, shipment_id = NULL, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE order_id = $1 AND order_item_seq_id = $2",
            &[order_id, line, &new],
        )
        .await?;
    transaction
        .execute(
            "UPDATE order_adjustment SET ship_group_seq_id = $4, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = $3",
            &[order_id, line, old, &new],
        )
        .await?;
    transaction
        .execute(
            // The one assignment that is not cancelled; in the new group there may be one of an earlier time, which is.
            "WITH old AS ( \
                 DELETE FROM order_item_ship_group_assoc \
                 WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id <> $3 \
                   AND coalesce(quantity, 1) > coalesce(cancel_quantity, 0) RETURNING * \
             ) \
             INSERT INTO order_item_ship_group_assoc \
             SELECT (jsonb_populate_record(NULL::order_item_ship_group_assoc, to_jsonb(old) || jsonb_build_object( \
                 'ship_group_seq_id', $3::text, 'last_updated_stamp', now(), 'last_updated_tx_stamp', now()))).* \
             FROM old ON CONFLICT (order_id, order_item_seq_id, ship_group_seq_id) DO UPDATE \
                SET quantity = excluded.quantity, cancel_quantity = excluded.cancel_quantity, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now()",
            &[order_id, line, &new],
        )
        .await?;
    transaction
        .execute(
            "INSERT INTO order_facility_change (order_facility_change_id, order_id, order_item_seq_id, ship_group_seq_id, \
                 shipment_method_type_id, from_facility_id, facility_id, change_reason_enum_id, change_user_login, \
                 change_datetime, created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT 'Q' || nextval('orderql.entity_id'), $1::text, $2::text, $3::text, \
                    shipment_method_type_id, $4::text, $5::text, $6::text, $7::text, \
                    now(), now(), now(), now(), now() \
             FROM order_item_ship_group WHERE order_id = $1::text AND ship_group_seq_id = $3::text",
            &[order_id, line, &new, &rejected.facility_id, &queue, &rejected.reason, &actor.user_id],
        )
        .await?;
    Ok(new)
}

/// A group of the same kind at another facility, for an order whose rejected items have none yet.
async fn copy_group(
    transaction: &Transaction<'_>,
    order_id: &str,
    old: &str,
    facility_id: &str,
    changes: &mut Changes,
) -> Result<String, Error> {
    let highest = transaction
        .query_one(
            concat!("SELECT ", highest!("ship_group_seq_id"), " FROM order_item_ship_group WHERE order_id = $1"),
            &[&order_id],
        )
        .await?;
    let new = next_seq_id(highest.try_get(0)?);
    transaction
        .execute(
            "INSERT INTO order_item_ship_group SELECT (jsonb_populate_record(own, jsonb_build_object( \
                 'ship_group_seq_id', $3::text, 'facility_id', $4::text, 'tracking_number', NULL, \
                 'created_stamp', now(), 'created_tx_stamp', now(), \
                 'last_updated_stamp', now(), 'last_updated_tx_stamp', now()))).* \
             FROM order_item_ship_group AS own WHERE order_id = $1 AND ship_group_seq_id = $2",
            &[&order_id, &old, &new, &facility_id],
        )
        .await?;
    let facts = json!({ "orderId": order_id, "shipGroupSeqId": new, "facilityId": facility_id });
    changes.add("shipGroupMade", facts);
    Ok(new)
}

/// Gives back what was reserved for the line, then takes off what the reason says is not there.
async fn give_back(
    transaction: &Transaction<'_>,
    actor: &Actor,
    rejected: &RejectedItem<'_>,
    link: &Link,
    changes: &mut Changes,
) -> Result<(), Error> {
    let reservations = transaction
        .query(
            "DELETE FROM order_item_ship_grp_inv_res \
             WHERE order_id = $1 AND order_item_seq_id = $2 RETURNING inventory_item_id, coalesce(quantity, 0)",
            &[&link.order_id, &link.order_item_seq_id],
        )
        .await?;
    let stock = Stock { transaction, actor, link, reason: rejected.reason };
    for row in reservations {
        stock.release(row.try_get(0)?, row.try_get(1)?, changes).await?;
    }
    let Item { product_id: Some(product_id), .. } = &rejected.item else { return Ok(()) };
    stock.vary(product_id, rejected.facility_id, rejected.variance, changes).await
}

async fn cancel_picking(transaction: &Transaction<'_>, link: &Link) -> Result<(), Error> {
    transaction
        .execute(
            "UPDATE picklist_item SET item_status_id = 'PICKITEM_CANCELLED', \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = $3 \
               AND item_status_id IS DISTINCT FROM 'PICKITEM_CANCELLED'",
            &[&link.order_id, &link.order_item_seq_id, &link.ship_group_seq_id],
        )
        .await?;
    Ok(())
}
