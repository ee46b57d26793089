//! Rejects items: removes them from their shipment, moves their order items to the queue of rejected items, releases
//! their stock, and writes the history.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::{Change, ChangeLog};
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::move_item::delete_item;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};
use crate::orders::apply::shipment_data::OrderItemLink;
use crate::orders::apply::stock::{self, StockUpdate};
use crate::orders::options::UpdateOptions;

/// The facility of rejected items that wait to be brokered again.
const QUEUE: &str = "REJECTED_ITM_PARKING";
/// The facility of rejected items that a customer was to pick up.
const PICKUP_QUEUE: &str = "PICKUP_REJECTED";
const PICKUP: &str = "STOREPICKUP";

/// The reasons that say that items are not there at all, rather than not fit to be sent.
const NOT_ON_HAND: [&str; 2] = ["NOT_IN_STOCK", "MISMATCH"];

/// The comment of a rejection's facility change, which the store's app gives to all of them.
const COMMENT: &str = "Store Rejected Inventory";

/// Rejects items. Locks the stock of all of them in one order before the first change.
pub(super) async fn reject(
    transaction: &Transaction<'_>,
    options: UpdateOptions,
    actor: &Actor,
    rejections: &[ItemRejection<'_>],
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let inventory_items = stock::lock(transaction, rejections).await?;
    // The new ship groups of the order items. Several parts of an order item move together.
    let mut moved: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for rejection in rejections {
        for link in &rejection.item.links {
            release_stock(transaction, options, actor, rejection, link, log).await?;
            let ship_group_seq_id = match moved.entry((&link.order_id, &link.order_item_seq_id)) {
                Entry::Occupied(group) => group.get().clone(),
                Entry::Vacant(entry) => {
                    let group = move_order_item(transaction, actor, rejection, link, log).await?;
                    add_order_status(transaction, actor, rejection, link).await?;
                    if let Some(exclusion) = options.exclusion {
                        exclude_facility(transaction, rejection, link, exclusion).await?;
                    }
                    cancel_picking(transaction, link).await?;
                    entry.insert(group).clone()
                }
            };
            log.add(Change::ItemRejected {
                shipment_id: rejection.shipment_id.to_owned(),
                shipment_item_seq_id: rejection.item.seq_id.clone(),
                order_id: link.order_id.clone(),
                order_item_seq_id: link.order_item_seq_id.clone(),
                from_ship_group_seq_id: link.ship_group_seq_id.clone(),
                ship_group_seq_id,
                reason: rejection.reason.to_owned(),
            });
        }
        transaction
            .execute(
                "DELETE FROM order_shipment WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
                &[&rejection.shipment_id, &rejection.item.seq_id],
            )
            .await?;
        delete_item(transaction, rejection.shipment_id, &rejection.item.seq_id).await?;
    }
    stock::update_last_counts(transaction, &inventory_items).await
}

/// Moves the order item to the ship group of the order's rejected items, and records the facility change. Returns the ship
/// group.
async fn move_order_item(
    transaction: &Transaction<'_>,
    actor: &Actor,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
    log: &mut ChangeLog,
) -> Result<String, DatabaseError> {
    let OrderItemLink { order_id, order_item_seq_id, ship_group_seq_id: old, .. } = link;
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
    let existing = transaction
        .query_opt(
            "SELECT other.ship_group_seq_id FROM order_item_ship_group AS other \
             JOIN order_item_ship_group AS own ON own.order_id = other.order_id AND own.ship_group_seq_id = $2 \
             WHERE other.order_id = $1 AND other.facility_id = $3 \
               AND other.shipment_method_type_id IS NOT DISTINCT FROM own.shipment_method_type_id \
             ORDER BY other.ship_group_seq_id DESC LIMIT 1",
            &[order_id, old, &queue],
        )
        .await?;
    let new: String = match existing {
        Some(row) => row.try_get(0)?,
        None => copy_group(transaction, order_id, old, queue, log).await?,
    };
    transaction
        .execute(
            "UPDATE order_item SET ship_group_seq_id = $3, shipment_id = NULL, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE order_id = $1 AND order_item_seq_id = $2",
            &[order_id, order_item_seq_id, &new],
        )
        .await?;
    transaction
        .execute(
            "UPDATE order_adjustment SET ship_group_seq_id = $4, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE order_id = $1 AND order_item_seq_id = $2 AND ship_group_seq_id = $3",
            &[order_id, order_item_seq_id, old, &new],
        )
        .await?;
    transaction
        .execute(
            // The only assignment that is not cancelled. The new group may have an earlier, cancelled one.
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
            &[order_id, order_item_seq_id, &new],
        )
        .await?;
    transaction
        .execute(
            "INSERT INTO order_facility_change (order_facility_change_id, order_id, order_item_seq_id, ship_group_seq_id, \
                 shipment_method_type_id, from_facility_id, facility_id, change_reason_enum_id, change_user_login, \
                 change_datetime, comments, created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT 'Q' || nextval('orderql.entity_id'), $1::text, $2::text, $3::text, \
                    shipment_method_type_id, $4::text, $5::text, $6::text, $7::text, \
                    now(), $8::text, now(), now(), now(), now() \
             FROM order_item_ship_group WHERE order_id = $1::text AND ship_group_seq_id = $3::text",
            &[
                order_id,
                order_item_seq_id,
                &new,
                &rejection.facility_id,
                &queue,
                &rejection.reason,
                &actor.user_id,
                &COMMENT,
            ],
        )
        .await?;
    Ok(new)
}

/// Records the rejection in the order's history. The order item's status does not change: it is to be sent from elsewhere.
async fn add_order_status(
    transaction: &Transaction<'_>,
    actor: &Actor,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
) -> Result<(), DatabaseError> {
    transaction
        .execute(
            "INSERT INTO order_status (order_status_id, status_id, order_id, order_item_seq_id, status_datetime, \
                 status_user_login, change_reason, change_reason_enum_id, \
                 created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             VALUES ('Q' || nextval('orderql.entity_id'), $1, $2, $3, now(), $4, $5, $6, now(), now(), now(), now())",
            &[&link.status_id, &link.order_id, &link.order_item_seq_id, &actor.user_id, &COMMENT, &rejection.reason],
        )
        .await?;
    Ok(())
}

/// Records that the order item is not to be sent from the facility for a while.
async fn exclude_facility(
    transaction: &Transaction<'_>,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
    exclusion: Duration,
) -> Result<(), DatabaseError> {
    transaction
        .execute(
            "INSERT INTO excluded_order_facility (order_id, order_item_seq_id, ship_group_seq_id, facility_id, from_date, \
                 thru_date, created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             VALUES ($1, $2, $3, $4, now(), now() + make_interval(secs => $5), now(), now(), now(), now())",
            &[
                &link.order_id,
                &link.order_item_seq_id,
                &link.ship_group_seq_id,
                &rejection.facility_id,
                &exclusion.as_secs_f64(),
            ],
        )
        .await?;
    Ok(())
}

/// Copies a ship group to another facility, for an order without a group for rejected items. Returns the copy.
async fn copy_group(
    transaction: &Transaction<'_>,
    order_id: &str,
    old: &str,
    facility_id: &str,
    log: &mut ChangeLog,
) -> Result<String, DatabaseError> {
    let highest = transaction
        .query_one(
            concat!("SELECT ", highest_seq_id!("ship_group_seq_id"), " FROM order_item_ship_group WHERE order_id = $1"),
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
    log.add(Change::ShipGroupCreated {
        order_id: order_id.to_owned(),
        ship_group_seq_id: new.clone(),
        facility_id: facility_id.to_owned(),
    });
    Ok(new)
}

/// Releases the order item's reservations, then subtracts what the rejection reason reports as missing.
async fn release_stock(
    transaction: &Transaction<'_>,
    options: UpdateOptions,
    actor: &Actor,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let reservations = transaction
        .query(
            "DELETE FROM order_item_ship_grp_inv_res \
             WHERE order_id = $1 AND order_item_seq_id = $2 RETURNING inventory_item_id, coalesce(quantity, 0)",
            &[&link.order_id, &link.order_item_seq_id],
        )
        .await?;
    let lowers_quantity_on_hand = options.rejections_lower_quantity_on_hand && NOT_ON_HAND.contains(&rejection.reason);
    let stock = StockUpdate { transaction, actor, link, reason: rejection.reason, lowers_quantity_on_hand };
    for row in reservations {
        stock.release(row.try_get(0)?, row.try_get(1)?, log).await?;
    }
    let Some(product_id) = &rejection.item.product_id else { return Ok(()) };
    stock.apply_variance(product_id, rejection.facility_id, rejection.variance, log).await
}

async fn cancel_picking(transaction: &Transaction<'_>, link: &OrderItemLink) -> Result<(), DatabaseError> {
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
