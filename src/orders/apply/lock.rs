//! Locks and reads the rows that an update depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::apply::shipment_data::{
    Grouping, LockedData, OrderItemKey, OrderItemLink, ShipGroupKey, Shipment, ShipmentItem, ShipmentItemKey, Variance,
};
use crate::orders::update_request::UpdateRequest;

/// Locks the orders and then the shipments of an update, and reads what its rules check.
pub(super) async fn lock(transaction: &Transaction<'_>, request: &UpdateRequest) -> Result<LockedData, DatabaseError> {
    let (shipments, order_statuses) = lock_shipments(transaction, request).await?;
    let order_item_parts = order_item_parts(transaction, &shipments).await?;
    let box_types = select_ids(
        transaction,
        "SELECT shipment_box_type_id FROM shipment_box_type WHERE shipment_box_type_id = ANY($1)",
        request.boxes.iter().map(|row| row.box_type_id.as_str()),
    )
    .await?;
    let reasons = reasons(transaction).await?;
    let unsplittable = unsplittable(transaction, &shipments).await?;
    Ok(LockedData { shipments, order_item_parts, box_types, reasons, order_statuses, unsplittable })
}

/// Locks the orders, then the shipments, each by id, and reads the shipments with their items, and the orders' statuses.
async fn lock_shipments(
    transaction: &Transaction<'_>,
    request: &UpdateRequest,
) -> Result<(BTreeMap<String, Shipment>, BTreeMap<String, Option<String>>), DatabaseError> {
    let mut ids: Vec<&str> = request.boxes.iter().map(|row| row.shipment_id.as_str()).collect();
    ids.extend(request.rejections.iter().map(|row| row.shipment_id.as_str()));
    ids.extend(request.moves.iter().flat_map(|row| [row.shipment_id.as_str(), row.new_shipment_id.as_str()]));
    ids.sort_unstable();
    ids.dedup();
    let mut orders: BTreeSet<String> = select_ids(
        transaction,
        "SELECT primary_order_id FROM shipment WHERE shipment_id = ANY($1) AND primary_order_id IS NOT NULL \
         UNION SELECT order_id FROM order_shipment WHERE shipment_id = ANY($1)",
        ids.iter().copied(),
    )
    .await?;
    loop {
        let locked: Vec<&str> = orders.iter().map(String::as_str).collect();
        let statuses = transaction
            .query(
                "SELECT order_id, status_id FROM order_header WHERE order_id = ANY($1) ORDER BY order_id \
                 FOR NO KEY UPDATE",
                &[&locked],
            )
            .await?;
        let shipments = read_shipments(transaction, &ids).await?;
        // An item of another order may have been moved into a shipment before the shipments were locked.
        let count = orders.len();
        orders.extend(shipments.values().flat_map(Shipment::order_ids).map(str::to_owned));
        if orders.len() == count {
            let statuses = statuses.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
            return Ok((shipments, statuses.collect::<Result<_, DatabaseError>>()?));
        }
    }
}

/// Locks the shipments by id, and reads them with their items.
async fn read_shipments(
    transaction: &Transaction<'_>,
    ids: &[&str],
) -> Result<BTreeMap<String, Shipment>, DatabaseError> {
    let rows = transaction
        .query(
            "SELECT shipment_id, primary_order_id, status_id, origin_facility_id, primary_ship_group_seq_id FROM shipment \
             WHERE shipment_id = ANY($1) ORDER BY shipment_id FOR NO KEY UPDATE",
            &[&ids],
        )
        .await?;
    let mut shipments = BTreeMap::new();
    for row in rows {
        let shipment = Shipment {
            primary_order_id: row.try_get(1)?,
            primary_ship_group_seq_id: row.try_get(4)?,
            status_id: row.try_get(2)?,
            facility_id: row.try_get(3)?,
            items: BTreeMap::new(),
        };
        shipments.insert(row.try_get(0)?, shipment);
    }
    let rows = transaction
        .query(
            "SELECT item.shipment_id, item.shipment_item_seq_id, item.product_id, link.order_id, \
                    link.order_item_seq_id, coalesce(line.ship_group_seq_id, link.ship_group_seq_id), \
                    coalesce(link.quantity, least(item.quantity, line.quantity), 0), \
                    EXISTS (SELECT FROM item_issuance AS issued WHERE issued.shipment_id = item.shipment_id \
                            AND issued.shipment_item_seq_id = item.shipment_item_seq_id) \
                    OR EXISTS (SELECT FROM shipment_receipt AS received WHERE received.shipment_id = item.shipment_id \
                               AND received.shipment_item_seq_id = item.shipment_item_seq_id), \
                    EXISTS (SELECT FROM order_item_ship_group AS own WHERE own.order_id = link.order_id \
                            AND own.ship_group_seq_id = coalesce(line.ship_group_seq_id, link.ship_group_seq_id)), \
                    (SELECT count(*) FROM order_item_ship_group_assoc AS assigned WHERE assigned.order_id = link.order_id \
                     AND assigned.order_item_seq_id = link.order_item_seq_id \
                     AND coalesce(assigned.quantity, 1) > coalesce(assigned.cancel_quantity, 0)), \
                    line.status_id \
             FROM shipment_item AS item \
             LEFT JOIN (order_shipment AS link JOIN order_item AS line USING (order_id, order_item_seq_id)) \
                    ON link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id \
             WHERE item.shipment_id = ANY($1) \
             ORDER BY item.shipment_id, item.shipment_item_seq_id, link.order_id, link.order_item_seq_id",
            &[&ids],
        )
        .await?;
    for row in rows {
        let shipment_id: &str = row.try_get(0)?;
        let Some(shipment) = shipments.get_mut(shipment_id) else { continue };
        let seq_id: String = row.try_get(1)?;
        let item = ShipmentItem {
            seq_id: seq_id.clone(),
            product_id: row.try_get(2)?,
            is_issued: row.try_get(7)?,
            links: Vec::new(),
        };
        let item = shipment.items.entry(seq_id).or_insert(item);
        if let Some(order_id) = row.try_get(3)? {
            item.links.push(OrderItemLink {
                order_id,
                order_item_seq_id: row.try_get(4)?,
                status_id: row.try_get(10)?,
                ship_group_seq_id: row.try_get(5)?,
                quantity: row.try_get(6)?,
                grouping: match (row.try_get(8)?, row.try_get::<_, i64>(9)?) {
                    (false, _) => Grouping::None,
                    (true, ..=1) => Grouping::One,
                    (true, _) => Grouping::Several,
                },
            });
        }
    }
    Ok(shipments)
}

/// Reads the parts of the shipments' order items in all shipments that are not cancelled.
async fn order_item_parts(
    transaction: &Transaction<'_>,
    shipments: &BTreeMap<String, Shipment>,
) -> Result<BTreeMap<OrderItemKey, Vec<ShipmentItemKey>>, DatabaseError> {
    let links = || shipments.values().flat_map(|shipment| shipment.items.values()).flat_map(|item| &item.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let order_items: Vec<&str> = links().map(|link| link.order_item_seq_id.as_str()).collect();
    let rows = transaction
        .query(
            "SELECT DISTINCT order_id, order_item_seq_id, shipment_id, shipment_item_seq_id \
             FROM unnest($1::text[], $2::text[]) AS line(order_id, order_item_seq_id) \
             JOIN order_shipment USING (order_id, order_item_seq_id) \
             JOIN shipment_item USING (shipment_id, shipment_item_seq_id) \
             JOIN shipment USING (shipment_id) \
             WHERE status_id IS DISTINCT FROM 'SHIPMENT_CANCELLED' \
             ORDER BY order_id, order_item_seq_id, shipment_id, shipment_item_seq_id",
            &[&orders, &order_items],
        )
        .await?;
    let mut parts: BTreeMap<OrderItemKey, Vec<ShipmentItemKey>> = BTreeMap::new();
    for row in rows {
        parts.entry((row.try_get(0)?, row.try_get(1)?)).or_default().push((row.try_get(2)?, row.try_get(3)?));
    }
    Ok(parts)
}

/// Reads the approved order items of those of the shipments' ship groups that may not be split.
async fn unsplittable(
    transaction: &Transaction<'_>,
    shipments: &BTreeMap<String, Shipment>,
) -> Result<BTreeMap<ShipGroupKey, Vec<String>>, DatabaseError> {
    let links = || shipments.values().flat_map(|shipment| shipment.items.values()).flat_map(|item| &item.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let groups: Vec<&str> = links().map(|link| link.ship_group_seq_id.as_str()).collect();
    let rows = transaction
        .query(
            // OFBiz's own order items are in a ship group through their assignment alone.
            "SELECT DISTINCT order_id, own.ship_group_seq_id, line.order_item_seq_id \
             FROM unnest($1::text[], $2::text[]) AS named(order_id, ship_group_seq_id) \
             JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id) \
             JOIN order_item AS line USING (order_id) \
             WHERE own.may_split = 'N' AND line.status_id = 'ITEM_APPROVED' \
               AND (line.ship_group_seq_id = own.ship_group_seq_id OR line.ship_group_seq_id IS NULL AND EXISTS ( \
                   SELECT FROM order_item_ship_group_assoc AS assigned \
                   WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id \
                     AND assigned.ship_group_seq_id = own.ship_group_seq_id)) \
             ORDER BY order_id, own.ship_group_seq_id, line.order_item_seq_id",
            &[&orders, &groups],
        )
        .await?;
    let mut unsplittable: BTreeMap<ShipGroupKey, Vec<String>> = BTreeMap::new();
    for row in rows {
        unsplittable.entry((row.try_get(0)?, row.try_get(1)?)).or_default().push(row.try_get(2)?);
    }
    Ok(unsplittable)
}

/// Runs a query whose parameter is an array of ids and whose result is ids.
async fn select_ids(
    transaction: &Transaction<'_>,
    query: &str,
    ids: impl Iterator<Item = &str>,
) -> Result<BTreeSet<String>, DatabaseError> {
    let ids: Vec<_> = ids.collect();
    transaction.query(query, &[&ids]).await?.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Reads the rejection reasons and their variances.
async fn reasons(transaction: &Transaction<'_>) -> Result<BTreeMap<String, Variance>, DatabaseError> {
    let rows = transaction
        .query(
            "SELECT enum_id, enum_type_id FROM enumeration \
             WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR')",
            &[],
        )
        .await?;
    let mut reasons = BTreeMap::new();
    for row in rows {
        let variance = match row.try_get(1)? {
            "REPORT_VAR" => Variance::Quantity,
            "REPORT_ALL_VAR" => Variance::All,
            _ => Variance::None,
        };
        reasons.insert(row.try_get(0)?, variance);
    }
    Ok(reasons)
}
