//! Moves an item to another shipment of the same order.

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::apply::audit::{Change, ChangeLog};
use crate::orders::apply::change_set::ItemMove;
use crate::orders::apply::seq_id::{highest_seq_id, next_seq_id};

/// Copies the item into the new shipment, updates all references to it, and deletes the original.
pub(super) async fn move_item(
    transaction: &Transaction<'_>,
    item_move: &ItemMove<'_>,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let ItemMove { from, item, to } = item_move;
    let old = &item.seq_id;
    let highest = transaction
        .query_one(
            // A deleted item may have left links and contents, which must not become the new item's.
            concat!(
                "SELECT ",
                highest_seq_id!("shipment_item_seq_id"),
                " FROM (SELECT shipment_id, shipment_item_seq_id FROM shipment_item \
                        UNION ALL SELECT shipment_id, shipment_item_seq_id FROM order_shipment \
                        UNION ALL SELECT shipment_id, shipment_item_seq_id FROM shipment_package_content) AS taken \
                 WHERE shipment_id = $1"
            ),
            &[to],
        )
        .await?;
    let new = next_seq_id(highest.try_get(0)?);
    // Copies all columns except the key, including columns that this program does not know.
    transaction
        .execute(
            "INSERT INTO shipment_item SELECT (jsonb_populate_record(item, jsonb_build_object( \
                 'shipment_id', $3::text, 'shipment_item_seq_id', $4::text, \
                 'last_updated_stamp', now(), 'last_updated_tx_stamp', now()))).* \
             FROM shipment_item AS item WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
            &[from, old, to, &new],
        )
        .await?;
    transaction
        .execute(
            "UPDATE order_shipment SET shipment_id = $3, shipment_item_seq_id = $4, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND shipment_item_seq_id = $2",
            &[from, old, to, &new],
        )
        .await?;
    let package = first_package(transaction, to).await?;
    transaction
        .execute(
            "INSERT INTO shipment_package_content (shipment_id, shipment_package_seq_id, shipment_item_seq_id, quantity, \
                 created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT $3::text, $5::text, $4::text, sum(quantity), now(), now(), now(), now() \
             FROM shipment_package_content WHERE shipment_id = $1 AND shipment_item_seq_id = $2 \
             HAVING count(*) > 0",
            &[from, old, to, &new, &package],
        )
        .await?;
    for link in &item.links {
        for table in ["order_item_ship_grp_inv_res", "order_item"] {
            transaction
                .execute(
                    &format!(
                        "UPDATE {table} SET shipment_id = $4, last_updated_stamp = now(), last_updated_tx_stamp = now() \
                         WHERE order_id = $1 AND order_item_seq_id = $2 AND shipment_id = $3"
                    ),
                    &[&link.order_id, &link.order_item_seq_id, from, to],
                )
                .await?;
        }
    }
    delete_item(transaction, from, old).await?;
    log.add(Change::ItemMoved {
        shipment_id: (*from).to_owned(),
        shipment_item_seq_id: old.clone(),
        new_shipment_id: (*to).to_owned(),
        new_shipment_item_seq_id: new,
    });
    Ok(())
}

/// Deletes an item from its shipment and its packages.
pub(super) async fn delete_item(
    transaction: &Transaction<'_>,
    shipment_id: &str,
    seq_id: &str,
) -> Result<(), DatabaseError> {
    for table in ["shipment_package_content", "shipment_item"] {
        transaction
            .execute(
                &format!("DELETE FROM {table} WHERE shipment_id = $1 AND shipment_item_seq_id = $2"),
                &[&shipment_id, &seq_id],
            )
            .await?;
    }
    Ok(())
}

/// The package for a moved item: the shipment's first, which is created if there is none.
async fn first_package(transaction: &Transaction<'_>, shipment_id: &str) -> Result<String, DatabaseError> {
    transaction
        .execute(
            "INSERT INTO shipment_package (shipment_id, shipment_package_seq_id, date_created, created_stamp, \
                 created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT $1::text, '00001', now(), now(), now(), now(), now() \
             WHERE NOT EXISTS (SELECT FROM shipment_package WHERE shipment_id = $1::text)",
            &[&shipment_id],
        )
        .await?;
    let first = transaction
        .query_one("SELECT min(shipment_package_seq_id) FROM shipment_package WHERE shipment_id = $1", &[&shipment_id])
        .await?;
    Ok(first.try_get(0)?)
}
