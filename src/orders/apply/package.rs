//! The packages of shipments.

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::shipment_status;
use crate::orders::apply::stamps::{insert, update};
use crate::orders::update_row::BoxRow;

/// Sets the box type of a shipment's packages. If it differs, the labels become void, because carriers charge by the box, and an
/// approved shipment is approved again. Returns whether it differs.
pub(super) async fn change_box(
    writer: &mut ChangeWriter<'_>,
    row: &BoxRow,
    is_approved: bool,
) -> Result<bool, DatabaseError> {
    let set = update!(
        "shipment_package",
        "shipment_box_type_id = $2",
        "shipment_id = $1 AND shipment_box_type_id IS DISTINCT FROM $2"
    );
    let changed = writer.execute(set, &[&row.shipment_id, &row.box_type_id]).await?
        + create_first(writer, &row.shipment_id, Some(&row.box_type_id)).await?;
    if changed == 0 {
        return Ok(false);
    }
    let (shipment_id, shipment_box_type_id) = (row.shipment_id.clone(), row.box_type_id.clone());
    writer.record(UpdateChange::BoxType { shipment_id, shipment_box_type_id });
    shipment_status::reset(writer, &row.shipment_id).await?;
    if is_approved {
        shipment_status::approve(writer, &row.shipment_id).await?;
    }
    Ok(true)
}

/// The package for a moved item: the shipment's first, which is created if there is none.
pub(super) async fn first(writer: &ChangeWriter<'_>, shipment_id: &str) -> Result<String, DatabaseError> {
    create_first(writer, shipment_id, None).await?;
    let first = "SELECT min(shipment_package_seq_id) FROM shipment_package WHERE shipment_id = $1";
    Ok(writer.query_one(first, &[&shipment_id]).await?.try_get(0)?)
}

/// Creates a package for a shipment that has none. Returns the number of packages that it creates.
pub(super) async fn create_first(
    writer: &ChangeWriter<'_>,
    shipment_id: &str,
    box_type_id: Option<&str>,
) -> Result<u64, DatabaseError> {
    let sql = insert!(
        "shipment_package",
        "shipment_id, shipment_package_seq_id, shipment_box_type_id, date_created",
        SELECT "$1::text, '00001', $2::text, now()",
        "WHERE NOT EXISTS (SELECT FROM shipment_package WHERE shipment_id = $1::text)"
    );
    writer.execute(sql, &[&shipment_id, &box_type_id]).await
}
