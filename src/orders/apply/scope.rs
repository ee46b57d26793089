//! Whether an update stays among the rows that its caller sees.

use std::collections::BTreeSet;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::UpdateScope;
use crate::orders::apply::error::{ApplyError, UnseenShipment};
use crate::orders::apply::shipment_data::LockedData;
use crate::orders::update_request::UpdateRequest;

const ORDERS_OF_OTHER_STORES: &str =
    "SELECT order_id FROM order_header WHERE order_id = ANY($1) AND (product_store_id = ANY($2)) IS NOT TRUE";

/// Fails if a shipment that the update names, or may change with the named ones, leaves another facility, or is of an order of another
/// store. Marks the parts of order items in other shipments that the caller does not see.
pub(super) async fn check(
    transaction: &Transaction<'_>,
    scope: &UpdateScope,
    request: &UpdateRequest,
    locked: &mut LockedData,
) -> Result<(), ApplyError> {
    if scope.stores.is_none() && scope.facilities.is_none() {
        return Ok(());
    }
    let foreign = foreign_orders(transaction, scope, locked).await?;
    let is_seen = |shipment_id: &str| {
        locked.shipments.get(shipment_id).is_some_and(|shipment| {
            let is_there = |facilities: &Vec<String>| {
                shipment.facility_id.as_ref().is_some_and(|facility| facilities.contains(facility))
            };
            scope.facilities.as_ref().is_none_or(is_there)
                && !shipment.order_ids().any(|order_id| foreign.contains(order_id))
                && (scope.stores.is_none() || shipment.order_ids().next().is_some())
        })
    };
    let named = request.shipment_ids();
    let unseen: BTreeSet<_> = named
        .iter()
        .chain(locked.shipments.keys())
        .filter(|shipment_id| !is_seen(shipment_id))
        .map(|id| if named.contains(id) { UnseenShipment::Named(id.clone()) } else { UnseenShipment::Other })
        .collect();
    if !unseen.is_empty() {
        return Err(ApplyError::Unseen(unseen.into_iter().collect()));
    }
    for part in locked.order_item_parts.values_mut().flatten() {
        part.is_seen = scope.facilities.as_ref().is_none_or(|facilities| facilities.contains(&part.facility_id))
            && (scope.stores.is_none() || part.is_of_same_order);
    }
    Ok(())
}

/// The orders of the shipments that are of stores that the caller does not see.
async fn foreign_orders(
    transaction: &Transaction<'_>,
    scope: &UpdateScope,
    locked: &LockedData,
) -> Result<BTreeSet<String>, DatabaseError> {
    let Some(stores) = &scope.stores else { return Ok(BTreeSet::new()) };
    let orders: Vec<&String> = locked.order_statuses.keys().collect();
    let rows = transaction.query(ORDERS_OF_OTHER_STORES, &[&orders, stores]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}
