//! The box type of a shipment's packages.

use serde_json::json;
use tokio_postgres::{Error, Transaction};

use crate::orders::apply::{Actor, Changes, shipment};
use crate::orders::command::BoxRow;

/// Sets the box type. Where it differs, the labels are void, for carriers charge by the box.
pub(super) async fn change(
    transaction: &Transaction<'_>,
    actor: &Actor,
    row: &BoxRow,
    changes: &mut Changes,
) -> Result<(), Error> {
    let changed = transaction
        .execute(
            "UPDATE shipment_package SET shipment_box_type_id = $2, last_updated_stamp = now(), \
                    last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND shipment_box_type_id IS DISTINCT FROM $2",
            &[&row.shipment_id, &row.box_type_id],
        )
        .await?;
    let made = transaction
        .execute(
            "INSERT INTO shipment_package (shipment_id, shipment_package_seq_id, shipment_box_type_id, date_created, \
                 created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
             SELECT $1::text, '00001', $2::text, now(), now(), now(), now(), now() \
             WHERE NOT EXISTS (SELECT FROM shipment_package WHERE shipment_id = $1::text)",
            &[&row.shipment_id, &row.box_type_id],
        )
        .await?;
    if changed + made > 0 {
        let facts = json!({ "shipmentId": row.shipment_id, "shipmentBoxTypeId": row.box_type_id });
        changes.add("boxType", facts);
        shipment::reinitialize(transaction, actor, &row.shipment_id, changes).await?;
    }
    Ok(())
}
