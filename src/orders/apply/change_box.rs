//! Changes the box type of a shipment's packages.

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::{Change, ChangeLog};
use crate::orders::apply::shipment_status;
use crate::orders::update_row::BoxRow;

/// Sets the box type. If it differs, the labels become void, because carriers charge by the box.
pub(super) async fn change(
    transaction: &Transaction<'_>,
    actor: &Actor,
    row: &BoxRow,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let updated = transaction
        .execute(
            "UPDATE shipment_package SET shipment_box_type_id = $2, last_updated_stamp = now(), \
                    last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND shipment_box_type_id IS DISTINCT FROM $2",
            &[&row.shipment_id, &row.box_type_id],
        )
        .await?;
    let inserted = transaction
        .execute(
            "INSERT INTO shipment_package (shipment_id, shipment_package_seq_id, shipment_box_type_id, date_created, \
                 created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT $1::text, '00001', $2::text, now(), now(), now(), now(), now() \
             WHERE NOT EXISTS (SELECT FROM shipment_package WHERE shipment_id = $1::text)",
            &[&row.shipment_id, &row.box_type_id],
        )
        .await?;
    if updated + inserted > 0 {
        log.add(Change::BoxType {
            shipment_id: row.shipment_id.clone(),
            shipment_box_type_id: row.box_type_id.clone(),
        });
        shipment_status::reset(transaction, actor, &row.shipment_id, log).await?;
    }
    Ok(())
}
