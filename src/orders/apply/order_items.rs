//! Reads the order items that may be rejected together with the items of the rows.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::apply::shipment_data::{ItemGrouping, OrderItem, OrderItemLink, ShipGroupKey, WholeGroup};
use crate::orders::violation::IN_PROGRESS;

/// SQL for the number of ship groups that the order item `line` is assigned to, where it should be in one.
macro_rules! group_count {
    () => {
        "CASE WHEN NOT orderql.items_have_groups() THEN 1 ELSE (SELECT count(*) FROM order_item_ship_group_assoc AS assigned WHERE assigned.order_id = line.order_id \
          AND assigned.order_item_seq_id = line.order_item_seq_id \
          AND coalesce(assigned.quantity, 1) > coalesce(assigned.cancel_quantity, 0)) END"
    };
}
pub(super) use group_count;

/// SQL for the ship group of the order item `line`, null where the table has no such column.
macro_rules! own_group {
    () => {
        "to_jsonb(line) ->> 'ship_group_seq_id'"
    };
}
pub(super) use own_group;

/// SQL for the columns of an [`OrderItem`]: the order item `line` in the ship group `own`. OFBiz's own order items are in a ship group
/// through their assignment alone.
macro_rules! order_item {
    () => {
        concat!(
            "line.product_id, line.order_id, line.order_item_seq_id, line.status_id, own.ship_group_seq_id, \
            coalesce(CASE WHEN orderql.items_have_groups() THEN line.quantity ELSE ( \
                SELECT assigned.quantity FROM order_item_ship_group_assoc AS assigned \
                WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id \
                  AND assigned.ship_group_seq_id = own.ship_group_seq_id) END, 0), true, ",
            group_count!(),
            ", NOT orderql.items_have_groups()"
        )
    };
}

const WHOLE_GROUPS: &str = concat!(
    "SELECT ",
    order_item!(),
    ", own.may_split IS DISTINCT FROM 'N' \
     FROM unnest($1::text[], $2::text[], $3::boolean[]) AS named(order_id, ship_group_seq_id, is_whole) \
     JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id) \
     JOIN order_item AS line ON line.order_id = own.order_id \
     WHERE (named.is_whole OR own.may_split = 'N') AND line.status_id = 'ITEM_APPROVED' \
       AND (",
    own_group!(),
    " = own.ship_group_seq_id OR ",
    own_group!(),
    " IS NULL AND EXISTS ( \
           SELECT FROM order_item_ship_group_assoc AS assigned \
           WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id \
             AND assigned.ship_group_seq_id = own.ship_group_seq_id)) \
     ORDER BY line.order_id, own.ship_group_seq_id, line.order_item_seq_id LIMIT $4"
);
/// The most approved order items of the products at the facility, packed ones included, among which those that are not packed are looked for.
const MAX_CANDIDATES: i64 = 5000;

// By product, since `= ANY` with a limit can make PostgreSQL read all approved order items of the facility and compare their products.
const CANDIDATES: &str = "SELECT count(*) FROM ( \
         SELECT FROM unnest($2::text[]) AS product(id) CROSS JOIN LATERAL ( \
             SELECT FROM orderql.order_item \
             WHERE facility_id = $1 AND status_id = 'ITEM_APPROVED' AND product_id = product.id LIMIT $3 \
         ) AS item LIMIT $3 \
     ) AS candidate";

// An order item of which a part is packed, or leaves from elsewhere, is none that the store still has to pack.
const SAME_PRODUCT: &str = concat!(
    "SELECT ",
    order_item!(),
    " FROM orderql.order_item AS place \
     JOIN order_header AS header ON header.order_id = place.order_id \
     JOIN order_item AS line ON line.order_id = place.order_id AND line.order_item_seq_id = place.order_item_seq_id \
     JOIN order_item_ship_group AS own ON own.order_id = place.order_id AND own.ship_group_seq_id = place.ship_group_seq_id \
     WHERE place.facility_id = $1 AND place.status_id = 'ITEM_APPROVED' AND place.product_id = ANY($2) \
       AND orderql.is_order_open(header.order_type_id, header.status_id) \
       AND ($3::text[] IS NULL OR place.product_store_id = ANY($3)) \
       AND NOT EXISTS ( \
           SELECT FROM order_shipment AS link \
           JOIN shipment_item USING (shipment_id, shipment_item_seq_id) \
           JOIN shipment USING (shipment_id) \
           WHERE link.order_id = place.order_id AND link.order_item_seq_id = place.order_item_seq_id \
             AND (orderql.items_have_groups() OR link.ship_group_seq_id = place.ship_group_seq_id) \
             AND shipment.status_id IS DISTINCT FROM 'SHIPMENT_CANCELLED' \
             AND (shipment.status_id = ANY($4) AND shipment.origin_facility_id = $1) IS NOT TRUE) \
     ORDER BY place.product_id, place.order_id, place.order_item_seq_id, place.ship_group_seq_id LIMIT $5"
);

/// Where order items of the same product are looked for.
pub(super) struct ProductPlace<'a> {
    pub(super) facility_id: &'a str,
    /// The stores whose orders the caller sees; `None` for all.
    pub(super) stores: Option<&'a [String]>,
}

/// Reads the approved order items of ship groups that are rejected as a whole: those that may not be split, and those that are marked in
/// `groups`. Reads `limit` order items at most.
pub(super) async fn whole_groups(
    transaction: &Transaction<'_>,
    groups: &BTreeMap<ShipGroupKey, bool>,
    limit: Option<usize>,
) -> Result<BTreeMap<ShipGroupKey, WholeGroup>, DatabaseError> {
    let orders: Vec<&str> = groups.keys().map(|(order_id, _)| order_id.as_str()).collect();
    let ship_groups: Vec<&str> = groups.keys().map(|(_, ship_group)| ship_group.as_str()).collect();
    let are_whole: Vec<bool> = groups.values().copied().collect();
    let mut whole: BTreeMap<ShipGroupKey, WholeGroup> = BTreeMap::new();
    for row in transaction.query(WHOLE_GROUPS, &[&orders, &ship_groups, &are_whole, &rows(limit)]).await? {
        let item = order_item(&row)?;
        let group = whole.entry(item.link.ship_group()).or_default();
        group.may_split = row.try_get(9)?;
        group.items.push(item);
    }
    Ok(whole)
}

/// Reads the order items of products that are approved and not yet packed. `None` if these are more than `most`, or too many to look for them.
pub(super) async fn same_product(
    transaction: &Transaction<'_>,
    ProductPlace { facility_id, stores }: ProductPlace<'_>,
    products: &[&str],
    most: usize,
) -> Result<Option<Vec<OrderItem>>, DatabaseError> {
    let candidates = transaction.query_one(CANDIDATES, &[&facility_id, &products, &(MAX_CANDIDATES + 1)]).await?;
    if candidates.try_get::<_, i64>(0)? > MAX_CANDIDATES {
        return Ok(None);
    }
    let in_progress = &IN_PROGRESS[..];
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&facility_id, &products, &stores, &in_progress, &rows(Some(most + 1))];
    let found = transaction.query(SAME_PRODUCT, &parameters).await?;
    if found.len() > most {
        return Ok(None);
    }
    found.iter().map(order_item).collect::<Result<_, _>>().map(Some)
}

/// The parameter of a `LIMIT`.
fn rows(limit: Option<usize>) -> Option<i64> {
    limit.and_then(|limit| i64::try_from(limit).ok())
}

fn order_item(row: &Row) -> Result<OrderItem, DatabaseError> {
    Ok(OrderItem { product_id: row.try_get(0)?, link: link(row, 1)? })
}

/// Reads an order item from eight columns of a row.
pub(super) fn link(row: &Row, first: usize) -> Result<OrderItemLink, DatabaseError> {
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
