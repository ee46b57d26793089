//! The entries that a rejected order item leaves in the order's history.

use std::time::Duration;

use crate::database::error::DatabaseError;
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::rejection_queue::QueuePlace;
use crate::orders::apply::shipment_data::OrderItemLink;
use crate::orders::apply::stamps::insert;

/// The comment of a rejection whose row has none: what the store's app gives to all of them.
const COMMENT: &str = "Store Rejected Inventory";

const DAY: u64 = 24 * 60 * 60;

const FACILITY_CHANGE: &str = insert!(
    "order_facility_change",
    "order_facility_change_id, order_id, order_item_seq_id, ship_group_seq_id, shipment_method_type_id, from_facility_id, \
     facility_id, change_reason_enum_id, change_user_login, change_datetime, comments",
    SELECT "'Q' || nextval('orderql.entity_id'), $1::text, $2::text, $3::text, shipment_method_type_id, $4::text, $5::text, \
     $6::text, $7::text, now(), $8::text",
    "FROM order_item_ship_group WHERE order_id = $1::text AND ship_group_seq_id = $3::text"
);
// The order item's status does not change: it is to be sent from elsewhere.
const ORDER_STATUS: &str = insert!(
    "order_status",
    "order_status_id, status_id, order_id, order_item_seq_id, status_datetime, status_user_login, change_reason, \
     change_reason_enum_id",
    VALUES "'Q' || nextval('orderql.entity_id'), $1, $2, $3, now(), $4, $5, $6"
);
const EXCLUDED_FACILITY: &str = insert!(
    "excluded_order_facility",
    "order_id, order_item_seq_id, ship_group_seq_id, facility_id, from_date, thru_date",
    VALUES "$1, $2, $3, $4, now(), now() + make_interval(secs => $5)"
);

/// Records that the order item has left the facility, why, and that the facility is not to get it again for a while.
pub(super) async fn record(
    writer: &ChangeWriter<'_>,
    rejection: &ItemRejection<'_>,
    link: &OrderItemLink,
    place: &QueuePlace,
) -> Result<(), DatabaseError> {
    let OrderItemLink { order_id, order_item_seq_id, ship_group_seq_id: old, status_id, .. } = link;
    let ItemRejection { row, facility_id, reason, .. } = rejection;
    let comment = row.options.comment.as_deref().unwrap_or(COMMENT);
    let user_id = &writer.actor.user_id;
    let (group, queue) = (&place.ship_group_seq_id, &place.facility_id);
    writer
        .execute(FACILITY_CHANGE, &[order_id, order_item_seq_id, group, facility_id, queue, reason, user_id, &comment])
        .await?;
    writer.execute(ORDER_STATUS, &[status_id, order_id, order_item_seq_id, user_id, &comment, reason]).await?;
    let exclusion = match row.options.exclusion_days {
        Some(days) => Some(Duration::from_secs(u64::from(days) * DAY)).filter(|exclusion| !exclusion.is_zero()),
        None => writer.options.exclusion,
    };
    if let Some(exclusion) = exclusion {
        let seconds = exclusion.as_secs_f64();
        writer.execute(EXCLUDED_FACILITY, &[order_id, order_item_seq_id, old, facility_id, &seconds]).await?;
    }
    Ok(())
}
