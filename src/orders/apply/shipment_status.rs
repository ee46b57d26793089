//! Updates the status of shipments, and voids the labels of their packages.

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::{Change, ChangeLog};

/// The status of a shipment after its content has changed.
const INPUT: &str = "SHIPMENT_INPUT";
const CANCELLED: &str = "SHIPMENT_CANCELLED";

/// Updates a shipment that has lost or gained items: cancelled if it is empty, otherwise back to the initial status. Voids
/// its labels.
pub(super) async fn update(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let items = transaction
        .query_one("SELECT EXISTS (SELECT FROM shipment_item WHERE shipment_id = $1)", &[&shipment_id])
        .await?;
    if items.try_get(0)? {
        reset(transaction, actor, shipment_id, log).await
    } else {
        void_labels(transaction, shipment_id).await?;
        set_status(transaction, actor, shipment_id, CANCELLED, log).await
    }
}

/// Sets a shipment back to the initial status and voids its labels, which are no longer right.
pub(super) async fn reset(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    void_labels(transaction, shipment_id).await?;
    set_status(transaction, actor, shipment_id, INPUT, log).await
}

async fn void_labels(transaction: &Transaction<'_>, shipment_id: &str) -> Result<(), DatabaseError> {
    transaction
        .execute(
            "UPDATE shipment_package_route_seg \
             SET tracking_code = NULL, label_image = NULL, label_image_url = NULL, label_html = NULL, \
                 label_printed = NULL, last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1",
            &[&shipment_id],
        )
        .await?;
    transaction
        .execute(
            "UPDATE shipment_route_segment \
             SET tracking_id_number = NULL, tracking_url = NULL, carrier_service_status_id = 'SHRSCS_NOT_STARTED', \
                 last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1",
            &[&shipment_id],
        )
        .await?;
    Ok(())
}

/// Sets a status and records it in the history. Does nothing if the shipment has the status already.
async fn set_status(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    status_id: &str,
    log: &mut ChangeLog,
) -> Result<(), DatabaseError> {
    let changed = transaction
        .execute(
            "UPDATE shipment SET status_id = $2, last_modified_date = now(), last_modified_by_user_login = $3, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND status_id IS DISTINCT FROM $2",
            &[&shipment_id, &status_id, &actor.user_id],
        )
        .await?;
    if changed == 0 {
        return Ok(());
    }
    // A shipment has one row for each status, with the time when it last had that status.
    let updated = transaction
        .execute(
            "UPDATE shipment_status SET status_date = now(), change_by_user_login_id = $3, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND status_id = $2",
            &[&shipment_id, &status_id, &actor.user_id],
        )
        .await?;
    if updated == 0 {
        transaction
            .execute(
                "INSERT INTO shipment_status (status_id, shipment_id, status_date, change_by_user_login_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($2, $1, now(), $3, now(), now(), now(), now())",
                &[&shipment_id, &status_id, &actor.user_id],
            )
            .await?;
    }
    log.add(Change::ShipmentStatus { shipment_id: shipment_id.to_owned(), status_id: status_id.to_owned() });
    Ok(())
}
