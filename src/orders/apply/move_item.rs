//! Moves an item to another shipment of the same order.

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_set::ItemMove;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::package;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};
use crate::orders::apply::stamps::{changed_copy, insert, update};

// A deleted item may have left links and contents, which must not become the new item's.
const HIGHEST_ITEM: &str = concat!(
    "SELECT ",
    highest_seq_id!("shipment_item_seq_id"),
    " FROM (SELECT shipment_id, shipment_item_seq_id FROM shipment_item \
            UNION ALL SELECT shipment_id, shipment_item_seq_id FROM order_shipment \
            UNION ALL SELECT shipment_id, shipment_item_seq_id FROM shipment_package_content) AS taken \
     WHERE shipment_id = $1"
);
const COPY_ITEM: &str = concat!(
    "INSERT INTO shipment_item SELECT ",
    changed_copy!("item", "", "'shipment_id', $3::text, 'shipment_item_seq_id', $4::text"),
    " FROM shipment_item AS item WHERE shipment_id = $1 AND shipment_item_seq_id = $2"
);
const MOVE_LINKS: &str = update!(
    "order_shipment",
    "shipment_id = $3, shipment_item_seq_id = $4",
    "shipment_id = $1 AND shipment_item_seq_id = $2"
);
const COPY_CONTENT: &str = insert!(
    "shipment_package_content",
    "shipment_id, shipment_package_seq_id, shipment_item_seq_id, quantity",
    SELECT "$3::text, $5::text, $4::text, sum(quantity)",
    "FROM shipment_package_content WHERE shipment_id = $1 AND shipment_item_seq_id = $2 HAVING count(*) > 0"
);
/// The rows that name the shipment of an order item.
const MOVE_ORDER_ITEM: [&str; 2] = [
    update!(
        "order_item_ship_grp_inv_res",
        "shipment_id = $4",
        "order_id = $1 AND order_item_seq_id = $2 AND shipment_id = $3"
    ),
    update!("order_item", "shipment_id = $4", "order_id = $1 AND order_item_seq_id = $2 AND shipment_id = $3"),
];
const DELETE_ITEM: [&str; 2] = [
    "DELETE FROM shipment_package_content WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
    "DELETE FROM shipment_item WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
];

/// Copies the item into the new shipment, updates all references to it, and deletes the original.
pub(super) async fn move_item(writer: &mut ChangeWriter<'_>, item_move: &ItemMove<'_>) -> Result<(), DatabaseError> {
    let ItemMove { from, item, to } = item_move;
    let old = &item.seq_id;
    let new = next_seq_id(writer.query_one(HIGHEST_ITEM, &[to]).await?.try_get(0)?);
    writer.execute(COPY_ITEM, &[from, old, to, &new]).await?;
    writer.execute(MOVE_LINKS, &[from, old, to, &new]).await?;
    let package = package::first(writer, to).await?;
    writer.execute(COPY_CONTENT, &[from, old, to, &new, &package]).await?;
    for link in &item.links {
        for sql in MOVE_ORDER_ITEM {
            writer.execute(sql, &[&link.order_id, &link.order_item_seq_id, from, to]).await?;
        }
    }
    delete_item(writer, from, old).await?;
    writer.record(UpdateChange::ItemMoved {
        shipment_id: (*from).to_owned(),
        shipment_item_seq_id: old.clone(),
        new_shipment_id: (*to).to_owned(),
        new_shipment_item_seq_id: new,
    });
    Ok(())
}

/// Deletes an item from its shipment and its packages.
pub(super) async fn delete_item(
    writer: &ChangeWriter<'_>,
    shipment_id: &str,
    seq_id: &str,
) -> Result<(), DatabaseError> {
    for sql in DELETE_ITEM {
        writer.execute(sql, &[&shipment_id, &seq_id]).await?;
    }
    Ok(())
}
