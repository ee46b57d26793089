//! Updates the status of shipments, and voids the labels of their packages.

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::stamps::{insert, update};

/// The status of a shipment after its content has changed.
const INPUT: &str = "SHIPMENT_INPUT";
pub(super) const APPROVED: &str = "SHIPMENT_APPROVED";
pub(super) const CANCELLED: &str = "SHIPMENT_CANCELLED";

const VOID_LABELS: &str = update!(
    "shipment_package_route_seg",
    "tracking_code = NULL, label_image = NULL, label_image_url = NULL, label_html = NULL, label_printed = NULL",
    "shipment_id = $1"
);
const VOID_TRACKING: &str = update!(
    "shipment_route_segment",
    "tracking_id_number = NULL, tracking_url = NULL, carrier_service_status_id = 'SHRSCS_NOT_STARTED'",
    "shipment_id = $1"
);
const SET_STATUS: &str = update!(
    "shipment",
    "status_id = $2, last_modified_date = now(), last_modified_by_user_login = $3",
    "shipment_id = $1 AND status_id IS DISTINCT FROM $2"
);
// A shipment has one row for each status, with the time when it last had that status.
const UPDATE_HISTORY: &str = update!(
    "shipment_status",
    "status_date = now(), change_by_user_login_id = $3",
    "shipment_id = $1 AND status_id = $2"
);
const ADD_HISTORY: &str = insert!(
    "shipment_status",
    "shipment_status_id, shipment_id, status_id, status_date, change_by_user_login_id",
    VALUES "'Q' || nextval('orderql.entity_id'), $1, $2, now(), $3"
);

/// Updates a shipment that has lost or gained items: cancelled if it is empty, otherwise back to the initial status, and from there
/// approved if `is_approved`. Voids its labels.
pub(super) async fn update(
    writer: &mut ChangeWriter<'_>,
    shipment_id: &str,
    is_approved: bool,
) -> Result<(), DatabaseError> {
    let has_items = "SELECT EXISTS (SELECT FROM shipment_item WHERE shipment_id = $1)";
    let has_items: bool = writer.query_one(has_items, &[&shipment_id]).await?.try_get(0)?;
    void_labels(writer, shipment_id).await?;
    if !has_items {
        return set_status(writer, shipment_id, CANCELLED).await;
    }
    set_status(writer, shipment_id, INPUT).await?;
    if is_approved { approve(writer, shipment_id).await } else { Ok(()) }
}

/// Cancels a shipment without items, and voids its labels.
pub(super) async fn cancel(writer: &mut ChangeWriter<'_>, shipment_id: &str) -> Result<(), DatabaseError> {
    void_labels(writer, shipment_id).await?;
    set_status(writer, shipment_id, CANCELLED).await
}

/// Sets a shipment back to the initial status and voids its labels, which are no longer right.
pub(super) async fn reset(writer: &mut ChangeWriter<'_>, shipment_id: &str) -> Result<(), DatabaseError> {
    void_labels(writer, shipment_id).await?;
    set_status(writer, shipment_id, INPUT).await
}

/// Approves a shipment, which then is to be packed.
pub(super) async fn approve(writer: &mut ChangeWriter<'_>, shipment_id: &str) -> Result<(), DatabaseError> {
    set_status(writer, shipment_id, APPROVED).await
}

async fn void_labels(writer: &ChangeWriter<'_>, shipment_id: &str) -> Result<(), DatabaseError> {
    writer.execute(VOID_LABELS, &[&shipment_id]).await?;
    writer.execute(VOID_TRACKING, &[&shipment_id]).await?;
    Ok(())
}

/// Sets a status and records it in the history. Does nothing if the shipment has the status already.
async fn set_status(writer: &mut ChangeWriter<'_>, shipment_id: &str, status_id: &str) -> Result<(), DatabaseError> {
    let user_id = &writer.actor.user_id;
    if writer.execute(SET_STATUS, &[&shipment_id, &status_id, user_id]).await? == 0 {
        return Ok(());
    }
    if writer.execute(UPDATE_HISTORY, &[&shipment_id, &status_id, user_id]).await? == 0 {
        writer.execute(ADD_HISTORY, &[&shipment_id, &status_id, user_id]).await?;
    }
    writer
        .record(UpdateChange::ShipmentStatus { shipment_id: shipment_id.to_owned(), status_id: status_id.to_owned() });
    Ok(())
}
