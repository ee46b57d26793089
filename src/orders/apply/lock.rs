//! Locks and reads the rows that an update depends on.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::apply::shipment_data::{
    ItemGrouping, LockedData, OrderItem, OrderItemLink, OrderItemPart, OrderItemPlace, ShipGroupKey, Shipment,
    ShipmentItem, Variance,
};
use crate::orders::ids::{OrderItemId, ShipmentItemId};
use crate::orders::update_request::UpdateRequest;

const ORDERS_OF_SHIPMENTS: &str = "SELECT primary_order_id FROM shipment WHERE shipment_id = ANY($1) AND primary_order_id IS NOT NULL \
     UNION SELECT order_id FROM order_shipment WHERE shipment_id = ANY($1)";
const LOCK_ORDERS: &str = "SELECT order_id, status_id FROM order_header WHERE order_id = ANY($1) ORDER BY order_id \
     FOR NO KEY UPDATE";
const LOCK_SHIPMENTS: &str = "SELECT shipment_id, primary_order_id, status_id, origin_facility_id, primary_ship_group_seq_id FROM shipment \
     WHERE shipment_id = ANY($1) ORDER BY shipment_id FOR NO KEY UPDATE";

/// SQL for the number of ship groups that the order item `line` is assigned to, where it should be in one.
macro_rules! group_count {
    () => {
        "CASE WHEN NOT orderql.items_have_groups() THEN 1 ELSE (SELECT count(*) FROM order_item_ship_group_assoc AS assigned WHERE assigned.order_id = line.order_id \
          AND assigned.order_item_seq_id = line.order_item_seq_id \
          AND coalesce(assigned.quantity, 1) > coalesce(assigned.cancel_quantity, 0)) END"
    };
}

/// SQL for the ship group of the order item `line`, null where the table has no such column.
macro_rules! own_group {
    () => {
        "to_jsonb(line) ->> 'ship_group_seq_id'"
    };
}

const ITEMS: &str = concat!(
    "SELECT item.shipment_id, item.shipment_item_seq_id, item.product_id, \
            EXISTS (SELECT FROM item_issuance AS issued WHERE issued.shipment_id = item.shipment_id \
                    AND issued.shipment_item_seq_id = item.shipment_item_seq_id) \
            OR EXISTS (SELECT FROM shipment_receipt AS received WHERE received.shipment_id = item.shipment_id \
                       AND received.shipment_item_seq_id = item.shipment_item_seq_id), \
            link.order_id, link.order_item_seq_id, line.status_id, \
            coalesce(",
    own_group!(),
    ", link.ship_group_seq_id), \
            coalesce(link.quantity, least(item.quantity, line.quantity), 0), \
            EXISTS (SELECT FROM order_item_ship_group AS own WHERE own.order_id = link.order_id \
                    AND own.ship_group_seq_id = coalesce(",
    own_group!(),
    ", link.ship_group_seq_id)), ",
    group_count!(),
    ", NOT orderql.items_have_groups() \
     FROM shipment_item AS item \
     LEFT JOIN (order_shipment AS link JOIN order_item AS line USING (order_id, order_item_seq_id)) \
            ON link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id \
     WHERE item.shipment_id = ANY($1) \
     ORDER BY item.shipment_id, item.shipment_item_seq_id, link.order_id, link.order_item_seq_id"
);
const PARTS: &str = "SELECT DISTINCT order_id, order_item_seq_id, shipment_id, shipment_item_seq_id, status_id, \
            CASE WHEN NOT orderql.items_have_groups() THEN order_shipment.ship_group_seq_id END, \
            coalesce(origin_facility_id, ''), coalesce(primary_order_id, order_id) = order_id \
     FROM unnest($1::text[], $2::text[]) AS line(order_id, order_item_seq_id) \
     JOIN order_shipment USING (order_id, order_item_seq_id) \
     JOIN shipment_item USING (shipment_id, shipment_item_seq_id) \
     JOIN shipment USING (shipment_id) \
     WHERE status_id IS DISTINCT FROM 'SHIPMENT_CANCELLED' \
     ORDER BY order_id, order_item_seq_id, shipment_id, shipment_item_seq_id";
// OFBiz's own order items are in a ship group through their assignment alone.
const UNSPLITTABLE: &str = concat!(
    "SELECT line.product_id, line.order_id, line.order_item_seq_id, line.status_id, own.ship_group_seq_id, \
            coalesce(CASE WHEN orderql.items_have_groups() THEN line.quantity ELSE ( \
                SELECT assigned.quantity FROM order_item_ship_group_assoc AS assigned \
                WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id \
                  AND assigned.ship_group_seq_id = own.ship_group_seq_id) END, 0), true, ",
    group_count!(),
    ", NOT orderql.items_have_groups() \
     FROM (SELECT DISTINCT order_id, ship_group_seq_id FROM unnest($1::text[], $2::text[]) \
            AS named(order_id, ship_group_seq_id)) AS named \
     JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id) \
     JOIN order_item AS line ON line.order_id = own.order_id \
     WHERE own.may_split = 'N' AND line.status_id = 'ITEM_APPROVED' \
       AND (",
    own_group!(),
    " = own.ship_group_seq_id OR ",
    own_group!(),
    " IS NULL AND EXISTS ( \
           SELECT FROM order_item_ship_group_assoc AS assigned \
           WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id \
             AND assigned.ship_group_seq_id = own.ship_group_seq_id)) \
     ORDER BY line.order_id, own.ship_group_seq_id, line.order_item_seq_id"
);

/// Locks the orders and then the shipments of an update, and reads what its rules check.
pub(super) async fn lock(transaction: &Transaction<'_>, request: &UpdateRequest) -> Result<LockedData, DatabaseError> {
    let box_types = request.boxes.iter().chain(&request.new_boxes).map(|row| row.box_type_id.clone()).collect();
    let box_types = select_ids(
        transaction,
        "SELECT shipment_box_type_id FROM shipment_box_type WHERE shipment_box_type_id = ANY($1)",
        &box_types,
    )
    .await?;
    let reasons = reasons(transaction).await?;
    let mut shipment_ids = request.shipment_ids();
    let mut orders = select_ids(transaction, ORDERS_OF_SHIPMENTS, &shipment_ids).await?;
    loop {
        let order_statuses = lock_orders(transaction, &orders).await?;
        let shipments = lock_shipments(transaction, &shipment_ids).await?;
        let links = || shipments.values().flat_map(Shipment::links);
        let unsplittable =
            if request.rejections.is_empty() { BTreeMap::new() } else { unsplittable(transaction, links()).await? };
        let with_others = links().chain(unsplittable.values().flatten().map(|item| &item.link));
        let order_item_parts = order_item_parts(transaction, with_others).await?;
        // An item of another order may have been moved into a shipment before the shipments were locked, and what may not be split
        // may be in further shipments.
        let count = orders.len() + shipment_ids.len();
        orders.extend(shipments.values().flat_map(Shipment::order_ids).map(str::to_owned));
        for OrderItem { link, .. } in unsplittable.values().flatten() {
            let parts = order_item_parts.get(&link.place()).into_iter().flatten();
            shipment_ids.extend(parts.map(|part| part.id.shipment_id.clone()));
        }
        if orders.len() + shipment_ids.len() == count {
            return Ok(LockedData { shipments, order_item_parts, box_types, reasons, order_statuses, unsplittable });
        }
    }
}

/// Locks the orders by id, and reads their statuses.
async fn lock_orders(
    transaction: &Transaction<'_>,
    ids: &BTreeSet<String>,
) -> Result<BTreeMap<String, Option<String>>, DatabaseError> {
    let ids: Vec<&String> = ids.iter().collect();
    let rows = transaction.query(LOCK_ORDERS, &[&ids]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Locks the shipments by id, and reads them with their items.
async fn lock_shipments(
    transaction: &Transaction<'_>,
    ids: &BTreeSet<String>,
) -> Result<BTreeMap<String, Shipment>, DatabaseError> {
    let ids: Vec<&String> = ids.iter().collect();
    let mut shipments = BTreeMap::new();
    for row in transaction.query(LOCK_SHIPMENTS, &[&ids]).await? {
        let shipment = Shipment {
            primary_order_id: row.try_get(1)?,
            primary_ship_group_seq_id: row.try_get(4)?,
            status_id: row.try_get(2)?,
            facility_id: row.try_get(3)?,
            items: BTreeMap::new(),
        };
        shipments.insert(row.try_get(0)?, shipment);
    }
    for row in transaction.query(ITEMS, &[&ids]).await? {
        let shipment_id: &str = row.try_get(0)?;
        let Some(shipment) = shipments.get_mut(shipment_id) else { continue };
        let seq_id: String = row.try_get(1)?;
        let (product_id, is_issued) = (row.try_get(2)?, row.try_get(3)?);
        let item = ShipmentItem { seq_id: seq_id.clone(), product_id, is_issued, links: Vec::new() };
        let item = shipment.items.entry(seq_id).or_insert(item);
        if row.try_get::<_, Option<&str>>(4)?.is_some() {
            item.links.push(link(&row, 4)?);
        }
    }
    Ok(shipments)
}

/// Reads an order item from eight columns of a row.
fn link(row: &Row, first: usize) -> Result<OrderItemLink, DatabaseError> {
    Ok(OrderItemLink {
        may_be_split: row.try_get(first + 7)?,
        order_id: row.try_get(first)?,
        order_item_seq_id: row.try_get(first + 1)?,
        status_id: row.try_get(first + 2)?,
        ship_group_seq_id: row.try_get(first + 3)?,
        quantity: row.try_get(first + 4)?,
        grouping: ItemGrouping::new(row.try_get(first + 5)?, row.try_get(first + 6)?),
    })
}

/// Reads the parts of order items in all shipments that are not cancelled.
async fn order_item_parts<'a>(
    transaction: &Transaction<'_>,
    links: impl Iterator<Item = &'a OrderItemLink>,
) -> Result<BTreeMap<OrderItemPlace, Vec<OrderItemPart>>, DatabaseError> {
    let (orders, order_items): (Vec<&str>, Vec<&str>) =
        links.map(|link| (link.order_id.as_str(), link.order_item_seq_id.as_str())).unzip();
    let mut parts: BTreeMap<OrderItemPlace, Vec<OrderItemPart>> = BTreeMap::new();
    for row in transaction.query(PARTS, &[&orders, &order_items]).await? {
        let order_item = OrderItemId { order_id: row.try_get(0)?, seq_id: row.try_get(1)? };
        let id = ShipmentItemId { shipment_id: row.try_get(2)?, seq_id: row.try_get(3)? };
        let place = OrderItemPlace { order_item, ship_group_seq_id: row.try_get(5)? };
        let (status_id, facility_id, is_of_same_order) = (row.try_get(4)?, row.try_get(6)?, row.try_get(7)?);
        let part = OrderItemPart { id, status_id, facility_id, is_of_same_order, is_seen: true };
        parts.entry(place).or_default().push(part);
    }
    Ok(parts)
}

/// Reads the approved order items of the ship groups that may not be split.
async fn unsplittable<'a>(
    transaction: &Transaction<'_>,
    links: impl Iterator<Item = &'a OrderItemLink>,
) -> Result<BTreeMap<ShipGroupKey, Vec<OrderItem>>, DatabaseError> {
    let (orders, groups): (Vec<&str>, Vec<&str>) =
        links.map(|link| (link.order_id.as_str(), link.ship_group_seq_id.as_str())).unzip();
    let mut unsplittable: BTreeMap<ShipGroupKey, Vec<OrderItem>> = BTreeMap::new();
    for row in transaction.query(UNSPLITTABLE, &[&orders, &groups]).await? {
        let item = OrderItem { product_id: row.try_get(0)?, link: link(&row, 1)? };
        unsplittable.entry(item.link.ship_group()).or_default().push(item);
    }
    Ok(unsplittable)
}

/// Runs a query with an array of ids as its parameter, and returns ids.
async fn select_ids(
    transaction: &Transaction<'_>,
    query: &str,
    ids: &BTreeSet<String>,
) -> Result<BTreeSet<String>, DatabaseError> {
    let ids: Vec<&String> = ids.iter().collect();
    transaction.query(query, &[&ids]).await?.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Reads the rejection reasons and their variances.
async fn reasons(transaction: &Transaction<'_>) -> Result<BTreeMap<String, Variance>, DatabaseError> {
    let reasons = "SELECT enum_id, enum_type_id FROM enumeration \
                   WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR')";
    let variance = |enum_type| match enum_type {
        "REPORT_VAR" => Variance::Quantity,
        "REPORT_ALL_VAR" => Variance::All,
        _ => Variance::None,
    };
    let rows = transaction.query(reasons, &[]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, variance(row.try_get(1)?)))).collect()
}
