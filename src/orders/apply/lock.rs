//! Locks and reads the rows that an update depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::UpdateScope;
use crate::orders::apply::order_items::{self, ProductPlace, group_count, link, own_group};
use crate::orders::apply::shipment_data::{
    LockedData, OrderItem, OrderItemLink, OrderItemPart, OrderItemPlace, ShipGroupKey, Shipment, ShipmentItem,
    Variance, WholeGroup,
};
use crate::orders::error::MAX_ROWS;
use crate::orders::ids::{OrderItemId, ShipmentItemId};
use crate::orders::update_request::UpdateRequest;
use crate::orders::update_row::RejectionRow;

const ORDERS_OF_SHIPMENTS: &str = "SELECT primary_order_id FROM shipment WHERE shipment_id = ANY($1) AND primary_order_id IS NOT NULL \
     UNION SELECT order_id FROM order_shipment WHERE shipment_id = ANY($1)";
const LOCK_ORDERS: &str = "SELECT order_id, status_id FROM order_header WHERE order_id = ANY($1) ORDER BY order_id \
     FOR NO KEY UPDATE";
const LOCK_SHIPMENTS: &str = "SELECT shipment_id, primary_order_id, status_id, origin_facility_id, primary_ship_group_seq_id FROM shipment \
     WHERE shipment_id = ANY($1) ORDER BY shipment_id FOR NO KEY UPDATE";

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

/// Locks the orders and then the shipments of an update, and reads what its rules check.
pub(super) async fn lock(
    transaction: &Transaction<'_>,
    request: &UpdateRequest,
    scope: &UpdateScope,
) -> Result<LockedData, DatabaseError> {
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
    let cascades = request.first_cascade().is_some();
    if cascades {
        transaction.batch_execute("SAVEPOINT unlocked").await?;
    }
    loop {
        let order_statuses = lock_orders(transaction, &orders).await?;
        let shipments = lock_shipments(transaction, &shipment_ids).await?;
        let together = rejected_together(transaction, request, scope, &shipments).await?;
        let RejectedTogether { same_product, whole_groups, has_too_many_items } = together;
        let others = || same_product.iter().chain(whole_groups.values().flat_map(|group| &group.items));
        let links = shipments.values().flat_map(Shipment::links).chain(others().map(|item| &item.link));
        let order_item_parts = order_item_parts(transaction, links).await?;
        // An item of another order may have been moved into a shipment before the shipments were locked, and what is rejected too may
        // be of other orders and in further shipments.
        let (order_count, count) = (orders.len(), orders.len() + shipment_ids.len());
        orders.extend(shipments.values().flat_map(Shipment::order_ids).map(str::to_owned));
        for OrderItem { link, .. } in others() {
            orders.insert(link.order_id.clone());
            let parts = order_item_parts.get(&link.place()).into_iter().flatten();
            shipment_ids.extend(parts.map(|part| part.id.shipment_id.clone()));
        }
        if orders.len() + shipment_ids.len() == count {
            return Ok(LockedData {
                shipments,
                order_item_parts,
                box_types,
                reasons,
                order_statuses,
                whole_groups,
                same_product,
                has_too_many_items,
            });
        }
        // Another update may have locked the further orders, and wait for these. So all are locked again, by id.
        if cascades && orders.len() > order_count {
            transaction.batch_execute("ROLLBACK TO SAVEPOINT unlocked").await?;
        }
    }
}

/// The order items that may be rejected together with the items of the rows.
#[derive(Default)]
struct RejectedTogether {
    same_product: Vec<OrderItem>,
    whole_groups: BTreeMap<ShipGroupKey, WholeGroup>,
    has_too_many_items: bool,
}

/// Reads the order items that may be rejected together with the items of the rows. If there are too many, reads none.
async fn rejected_together(
    transaction: &Transaction<'_>,
    request: &UpdateRequest,
    scope: &UpdateScope,
    shipments: &BTreeMap<String, Shipment>,
) -> Result<RejectedTogether, DatabaseError> {
    if request.rejections.is_empty() {
        return Ok(RejectedTogether::default());
    }
    let too_many = || RejectedTogether { has_too_many_items: true, ..RejectedTogether::default() };
    let limit = request.first_cascade().map(|_| MAX_ROWS + 1);
    let products = cascading_products(request, scope, shipments);
    let mut same_product = Vec::new();
    if !products.is_empty() {
        let place = ProductPlace { facility_id: &request.facility_id, stores: scope.stores.as_deref() };
        match order_items::same_product(transaction, place, &products, MAX_ROWS).await? {
            Some(items) => same_product = items,
            None => return Ok(too_many()),
        }
    }
    let groups = ship_groups(request, shipments, &same_product);
    let whole_groups = order_items::whole_groups(transaction, &groups, limit).await?;
    let count: usize = whole_groups.values().map(|group| group.items.len()).sum();
    if limit.is_some_and(|limit| count >= limit) {
        return Ok(too_many());
    }
    Ok(RejectedTogether { same_product, whole_groups, has_too_many_items: false })
}

/// The products of which rows reject all order items at the facility, if the caller sees the facility.
fn cascading_products<'a>(
    request: &'a UpdateRequest,
    scope: &UpdateScope,
    shipments: &'a BTreeMap<String, Shipment>,
) -> Vec<&'a str> {
    if scope.facilities.as_ref().is_some_and(|facilities| !facilities.contains(&request.facility_id)) {
        return Vec::new();
    }
    let products: BTreeSet<&str> = rejected_items(request, shipments)
        .filter(|(row, _)| row.options.cascades)
        .filter_map(|(_, item)| item.product_id.as_deref())
        .collect();
    products.into_iter().collect()
}

/// The items of the rows that reject.
fn rejected_items<'a>(
    request: &'a UpdateRequest,
    shipments: &'a BTreeMap<String, Shipment>,
) -> impl Iterator<Item = (&'a RejectionRow, &'a ShipmentItem)> {
    request.rejections.iter().flat_map(|row| {
        let items = shipments
            .get(&row.shipment_id)
            .into_iter()
            .flat_map(|shipment| shipment.items_of(row.item_seq_id.as_deref()));
        items.map(move |item| (row, item))
    })
}

/// The ship groups that may have to be rejected as a whole, and whether a row says so. A ship group is left out if all of its rows say
/// otherwise: nothing else of it is rejected.
fn ship_groups(
    request: &UpdateRequest,
    shipments: &BTreeMap<String, Shipment>,
    same_product: &[OrderItem],
) -> BTreeMap<ShipGroupKey, bool> {
    let mut named: BTreeMap<ShipGroupKey, Vec<Option<bool>>> = BTreeMap::new();
    let mut products = BTreeSet::new();
    for (row, item) in rejected_items(request, shipments) {
        // Of several rows of a product the first one rejects all of it.
        let is_first = row.options.cascades && products.insert(&item.product_id);
        let of_product = same_product.iter().filter(|other| is_first && other.product_id == item.product_id);
        for link in item.links.iter().chain(of_product.map(|other| &other.link)) {
            named.entry(link.ship_group()).or_default().push(row.options.may_split);
        }
    }
    let all = shipments.values().flat_map(Shipment::links).map(|link| (link.ship_group(), false));
    let mut groups: BTreeMap<ShipGroupKey, bool> = all.collect();
    for (ship_group, may_split) in named {
        if may_split.iter().all(|may_split| *may_split == Some(true)) {
            groups.remove(&ship_group);
        } else {
            groups.insert(ship_group, may_split.contains(&Some(false)));
        }
    }
    groups
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
