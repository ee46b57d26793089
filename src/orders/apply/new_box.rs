//! Adds a box to an order: a shipment beside another one, with the same way to the same customer, and a package.

use crate::database::error::DatabaseError;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_set::NewBox;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::stamps::insert;
use crate::orders::apply::{package, shipment_status};

const SHIPMENT: &str = insert!(
    "shipment",
    "shipment_id, shipment_type_id, status_id, primary_order_id, primary_ship_group_seq_id, picklist_bin_id, \
     estimated_ready_date, estimated_ship_date, estimated_arrival_date, latest_cancel_date, currency_uom_id, \
     handling_instructions, origin_facility_id, destination_facility_id, origin_contact_mech_id, origin_telecom_number_id, \
     destination_contact_mech_id, destination_telecom_number_id, party_id_to, party_id_from, carrier_party_id, \
     shipment_method_type_id, created_date, created_by_user_login",
    SELECT "$2::text, shipment_type_id, NULL, $3::text, $4::text, picklist_bin_id, \
     estimated_ready_date, estimated_ship_date, estimated_arrival_date, latest_cancel_date, currency_uom_id, \
     handling_instructions, origin_facility_id, destination_facility_id, origin_contact_mech_id, origin_telecom_number_id, \
     destination_contact_mech_id, destination_telecom_number_id, party_id_to, party_id_from, carrier_party_id, \
     shipment_method_type_id, now(), $5::text",
    "FROM shipment WHERE shipment_id = $1::text"
);

const ROUTE_SEGMENTS: &str = insert!(
    "shipment_route_segment",
    "shipment_id, shipment_route_segment_id, origin_facility_id, dest_facility_id, origin_contact_mech_id, \
     origin_telecom_number_id, dest_contact_mech_id, dest_telecom_number_id, carrier_party_id, shipment_method_type_id, \
     carrier_service_status_id",
    SELECT "$2::text, shipment_route_segment_id, origin_facility_id, dest_facility_id, origin_contact_mech_id, \
     origin_telecom_number_id, dest_contact_mech_id, dest_telecom_number_id, carrier_party_id, shipment_method_type_id, \
     'SHRSCS_NOT_STARTED'",
    "FROM shipment_route_segment WHERE shipment_id = $1::text"
);

const PACKAGE_ROUTE_SEGMENTS: &str = insert!(
    "shipment_package_route_seg",
    "shipment_id, shipment_package_seq_id, shipment_route_segment_id",
    SELECT "shipment_id, shipment_package_seq_id, shipment_route_segment_id",
    "FROM shipment_package JOIN shipment_route_segment USING (shipment_id) WHERE shipment_id = $1"
);

/// Adds a box. Returns its shipment's id.
pub(super) async fn add(writer: &mut ChangeWriter<'_>, new_box: &NewBox<'_>) -> Result<String, DatabaseError> {
    let NewBox { row, order_id, ship_group_seq_id } = new_box;
    let (beside, new) = (&row.shipment_id, writer.new_id().await?);
    let user_id = &writer.actor.user_id;
    writer.execute(SHIPMENT, &[beside, &new, order_id, ship_group_seq_id, user_id]).await?;
    writer.execute(ROUTE_SEGMENTS, &[beside, &new]).await?;
    package::create_first(writer, &new, Some(&row.box_type_id)).await?;
    writer.execute(PACKAGE_ROUTE_SEGMENTS, &[&new]).await?;
    writer.record(UpdateChange::BoxAdded {
        shipment_id: beside.clone(),
        new_shipment_id: new.clone(),
        shipment_box_type_id: row.box_type_id.clone(),
    });
    shipment_status::reset(writer, &new).await?;
    Ok(new)
}
