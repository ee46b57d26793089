//! A shipment's state, and the labels of its packages.

use serde_json::json;
use tokio_postgres::{Error, Transaction};

use crate::orders::apply::{Actor, Changes};

/// Where a shipment goes back to when what it holds has changed.
const INPUT: &str = "SHIPMENT_INPUT";
const CANCELLED: &str = "SHIPMENT_CANCELLED";

/// Brings a shipment that has lost or gained items to its state: cancelled where it is empty, else back to the beginning,
/// its labels void.
pub(super) async fn settle(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    changes: &mut Changes,
) -> Result<(), Error> {
    let items = transaction
        .query_one("SELECT EXISTS (SELECT FROM shipment_item WHERE shipment_id = $1)", &[&shipment_id])
        .await?;
    if items.try_get(0)? {
        reinitialize(transaction, actor, shipment_id, changes).await
    } else {
        void_labels(transaction, shipment_id).await?;
        set_status(transaction, actor, shipment_id, CANCELLED, changes).await
    }
}

/// Back to the beginning: what is printed on its labels is no longer true.
pub(super) async fn reinitialize(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    changes: &mut Changes,
) -> Result<(), Error> {
    void_labels(transaction, shipment_id).await?;
    set_status(transaction, actor, shipment_id, INPUT, changes).await
}

async fn void_labels(transaction: &Transaction<'_>, shipment_id: &str) -> Result<(), Error> {
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

/// Sets a state and tells it in the history. Nothing is told where it is that already.
async fn set_status(
    transaction: &Transaction<'_>,
    actor: &Actor,
    shipment_id: &str,
    status_id: &str,
    changes: &mut Changes,
) -> Result<(), Error> {
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
    // A shipment has one row for each state, which tells when it last came to it.
    let known = transaction
        .execute(
            "UPDATE shipment_status SET status_date = now(), change_by_user_login_id = $3, \
                    last_updated_stamp = now(), last_updated_tx_stamp = now() \
             WHERE shipment_id = $1 AND status_id = $2",
            &[&shipment_id, &status_id, &actor.user_id],
        )
        .await?;
    if known == 0 {
        transaction
            .execute(
                "INSERT INTO shipment_status (status_id, shipment_id, status_date, change_by_user_login_id, \
                     created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp) \
                 VALUES ($2, $1, now(), $3, now(), now(), now(), now())",
                &[&shipment_id, &status_id, &actor.user_id],
            )
            .await?;
    }
    changes.add("shipmentStatus", json!({ "shipmentId": shipment_id, "statusId": status_id }));
    Ok(())
}
