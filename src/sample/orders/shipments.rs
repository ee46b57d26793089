//! The shipments of an order's ship groups: items, packages, route segments and status history.

use rust_decimal::Decimal;

use crate::sample::batch::row;
use crate::sample::calendar;
use crate::sample::ids::{self, Id, SeqId};
use crate::sample::money::cents;
use crate::sample::orders::lifecycle::{self, Fulfillment};
use crate::sample::orders::order::{Assignment, Order, OrderWriter, SampleItem, ShipGroup};
use crate::sample::sample_time::SampleTime;

const PACKAGE_NAMES: [&str; 2] = ["A", "B"];

/// The shipment of an order item.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct ItemShipment {
    pub(in crate::sample) shipment_id: Id,
    pub(in crate::sample) item_seq_id: SeqId,
    /// The time of the shipment's current status.
    pub(in crate::sample) status_time: SampleTime,
}

/// A shipment to be written.
struct PlannedShipment<'a> {
    id: Id,
    status: &'static str,
    group: &'a ShipGroup,
    group_seq_id: SeqId,
    facility: u32,
    /// The items with their indexes in the order.
    items: Vec<(usize, &'a SampleItem)>,
    created: SampleTime,
}

/// Writes the rows of the shipments and returns the shipment of each order item.
pub(in crate::sample) fn write(out: &mut OrderWriter<'_>, order: &Order) -> Vec<Option<ItemShipment>> {
    let mut shipped = vec![None; order.items.len()];
    for (index, group) in order.groups.iter().enumerate() {
        let (Some(status), Some(Assignment::Facility(facility))) =
            (group.fulfillment.shipment_status(), group.assignment)
        else {
            continue;
        };
        let mut items: Vec<_> = order.items_of(index).filter(|(_, item)| !item.is_cancelled).collect();
        // Some groups have two shipments.
        let second = if items.len() > 1 && out.rng.percent(8) { items.split_off(items.len() / 2) } else { Vec::new() };
        for (number, items) in (0..).zip([items, second]).filter(|(_, items)| !items.is_empty()) {
            let id = ids::shipment(order.number, u32::try_from(index).unwrap_or_default(), number);
            let created = calendar::within_hours(out.rng, order.placed, 30);
            let group_seq_id = SeqId::at(index);
            let planned = PlannedShipment { id, status, group, group_seq_id, facility, items, created };
            let status_time = write_shipment(out, order, &planned);
            for (index, (item, _)) in planned.items.iter().enumerate() {
                shipped[*item] = Some(ItemShipment { shipment_id: id, item_seq_id: SeqId::at(index), status_time });
            }
        }
    }
    shipped
}

fn write_shipment(out: &mut OrderWriter<'_>, order: &Order, planned: &PlannedShipment<'_>) -> SampleTime {
    let PlannedShipment { id: shipment_id, status, group, facility, created, .. } = *planned;
    // Many shipments are planned for the same day, some for none.
    let ship_date = created.after(i64::from(out.rng.below(4)) * SampleTime::DAY).floor(SampleTime::DAY);
    out.batch.push(row!(shipment {
        shipment_id,
        shipment_type_id: "SALES_SHIPMENT",
        status_id: out.rng.per_mille(995).then_some(status),
        primary_order_id: order.id(),
        primary_ship_group_seq_id: planned.group_seq_id,
        estimated_ship_date: out.rng.percent(92).then_some(ship_date),
        estimated_arrival_date: out.rng.percent(70).then(|| ship_date.after(3 * SampleTime::DAY)),
        estimated_ship_cost: out.rng.percent(50).then(|| cents(out.rng.pick(&[495, 695, 1_250]))),
        origin_facility_id: ids::facility(facility),
        destination_facility_id: (group.method == "SHIP_TO_STORE")
            .then(|| ids::facility(out.rng.below(out.context.size.facilities))),
        origin_contact_mech_id: ids::origin(facility),
        destination_contact_mech_id: ids::address(order.recipient),
        party_id_to: ids::party(order.recipient),
        created_date: created,
        external_id: out.rng.percent(40).then(|| Id::with_width("53", order.number.into(), 8).part(out.rng.below(2))),
        carrier_party_id: group.carrier,
        shipment_method_type_id: group.method,
    }));
    let status_time = write_status_history(out, shipment_id, status, created);
    for (index, (item_index, item)) in planned.items.iter().enumerate() {
        out.batch.push(row!(shipment_item {
            shipment_id,
            shipment_item_seq_id: SeqId::at(index),
            product_id: item.pair.map(|pair| ids::product(out.context.stock.product(pair))),
            quantity: item.quantity,
        }));
        out.batch.push(row!(order_shipment {
            order_id: order.id(),
            order_item_seq_id: SeqId::at(*item_index),
            ship_group_seq_id: planned.group_seq_id,
            shipment_id,
            shipment_item_seq_id: SeqId::at(index),
            quantity: item.quantity,
        }));
    }
    write_packages(out, order, planned, status_time);
    status_time
}

/// Writes a shipment's status history and returns the time of the current status.
pub(in crate::sample) fn write_status_history(
    out: &mut OrderWriter<'_>,
    shipment_id: Id,
    status: &str,
    created: SampleTime,
) -> SampleTime {
    let mut time = created;
    for (step, status_id) in lifecycle::shipment_history(status).iter().enumerate() {
        if step > 0 {
            time = calendar::within_hours(out.rng, time, 30);
        }
        let shipment_status_id = format!("{shipment_id}.{step}");
        out.batch.push(row!(shipment_status { shipment_status_id, status_id, shipment_id, status_date: time }));
    }
    time
}

/// Writes the route segment and the packages.
fn write_packages(out: &mut OrderWriter<'_>, order: &Order, planned: &PlannedShipment<'_>, status_time: SampleTime) {
    let PlannedShipment { id: shipment_id, status, group, facility, created, .. } = *planned;
    let is_shipped = matches!(group.fulfillment, Fulfillment::Shipped(_));
    let is_labelled = is_shipped || matches!(status, "SHIPMENT_PACKED" | "PICKUP_SCHEDULED");
    let tracking = Id::with_width("1Z", order.number.into(), 9);
    out.batch.push(row!(shipment_route_segment {
        shipment_id,
        shipment_route_segment_id: SeqId(1),
        origin_facility_id: ids::facility(facility),
        origin_contact_mech_id: ids::origin(facility),
        dest_contact_mech_id: ids::address(order.recipient),
        carrier_party_id: group.carrier,
        shipment_method_type_id: group.method,
        carrier_service_status_id: match status {
            "SHIPMENT_CANCELLED" => "SHRSCS_VOIDED",
            _ if is_shipped => "SHRSCS_ACCEPTED",
            _ if is_labelled => "SHRSCS_CONFIRMED",
            _ => "SHRSCS_NOT_STARTED",
        },
        actual_start_date: is_shipped.then_some(status_time),
        actual_arrival_date: (status == "SHIPMENT_DELIVERED").then(|| status_time.after(SampleTime::HOUR)),
        tracking_id_number: is_labelled.then_some(tracking),
    }));
    let count = if planned.items.len() > 2 && out.rng.percent(35) { 2 } else { 1 };
    for (package, name) in PACKAGE_NAMES.iter().enumerate().take(count) {
        let is_pickup = group.method == "STOREPICKUP";
        out.batch.push(row!(shipment_package {
            shipment_id,
            shipment_package_seq_id: SeqId::at(package),
            shipment_box_type_id: out.rng.percent(95).then_some(if is_pickup { "BOPISPACKNG" } else { "YOURPACKNG" }),
            date_created: created.after(30 * SampleTime::MINUTE),
            weight: out.rng.percent(90).then(|| Decimal::new(out.rng.between(25, 2_500).into(), 2)),
            weight_uom_id: "WT_lb",
            package_name: name,
        }));
        let code = tracking.part(u32::try_from(package).unwrap_or_default());
        out.batch.push(row!(shipment_package_route_seg {
            shipment_id,
            shipment_package_seq_id: SeqId::at(package),
            shipment_route_segment_id: SeqId(1),
            tracking_code: is_labelled.then_some(code),
            label_image_url: is_labelled.then(|| format!("https://labels.example/{}/{package}.png", order.number)),
        }));
    }
    for (index, (_, item)) in planned.items.iter().enumerate() {
        out.batch.push(row!(shipment_package_content {
            shipment_id,
            shipment_package_seq_id: SeqId::at(index % count),
            shipment_item_seq_id: SeqId::at(index),
            quantity: item.quantity,
        }));
    }
}
