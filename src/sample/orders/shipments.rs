//! The shipments of an order's groups: what is in them, in which packages, by what way, and how far they have come.

use std::borrow::Cow;

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Id, Seq, Time};
use crate::sample::ids;
use crate::sample::orders::flow::{self, Flow};
use crate::sample::orders::lines::seq;
use crate::sample::orders::{Group, Item, Order, Place, World};
use crate::sample::tables::{
    OrderShipment, Shipment, ShipmentItem, ShipmentPackage, ShipmentPackageContent, ShipmentPackageRouteSeg,
    ShipmentRouteSegment, ShipmentStatus,
};

const PACKAGES: [&str; 2] = ["A", "B"];

/// Where and when an item was sent, or is going to be.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Sent {
    pub(in crate::sample) shipment_id: Id,
    pub(in crate::sample) item: Seq,
    /// When the shipment came to its status.
    pub(in crate::sample) at: Time,
}

/// A shipment about to be written.
struct Parcel<'a> {
    id: Id,
    status: &'static str,
    group: &'a Group,
    seq: Seq,
    facility: u32,
    /// With their places in the order.
    items: Vec<(usize, &'a Item)>,
    created: Time,
}

/// Writes them, and returns for each item of the order where it is.
pub(in crate::sample) fn write(batch: &mut Batch, world: &World, draw: &mut Draw, order: &Order) -> Vec<Option<Sent>> {
    let mut sent = vec![None; order.items.len()];
    for (at, group) in order.groups.iter().enumerate() {
        let (Some(status), Some(Place::Facility(facility))) = (group.flow.shipment(), group.place) else { continue };
        let mut items: Vec<_> = order.items_of(at).filter(|(_, item)| !item.is_cancelled).collect();
        // Some are sent in two shipments, each in a box of its own.
        let second = if items.len() > 1 && draw.percent(8) { items.split_off(items.len() / 2) } else { Vec::new() };
        for (which, items) in (0..).zip([items, second]).filter(|(_, items)| !items.is_empty()) {
            let id = ids::shipment(order.number, u32::try_from(at).unwrap_or_default(), which);
            let created = calendar::within(draw, order.placed, 30);
            let parcel = Parcel { id, status, group, seq: seq(at), facility, items, created };
            let reached = write_one(batch, world, draw, order, &parcel);
            for (place, (item, _)) in parcel.items.iter().enumerate() {
                sent[*item] = Some(Sent { shipment_id: id, item: seq(place), at: reached });
            }
        }
    }
    sent
}

fn write_one(batch: &mut Batch, world: &World, draw: &mut Draw, order: &Order, parcel: &Parcel<'_>) -> Time {
    let Parcel { id: shipment_id, status, group, facility, created, .. } = *parcel;
    // Many are planned for the same day; some for none.
    let planned = created.after(i64::from(draw.below(4)) * Time::DAY).floor(Time::DAY);
    batch.push(&Shipment {
        shipment_id,
        shipment_type_id: "SALES_SHIPMENT",
        status_id: draw.per_mille(995).then_some(status),
        primary_order_id: Some(order.id()),
        primary_return_id: None,
        primary_ship_group_seq_id: Some(parcel.seq),
        estimated_ship_date: draw.percent(92).then_some(planned),
        estimated_arrival_date: draw.percent(70).then(|| planned.after(3 * Time::DAY)),
        estimated_ship_cost: draw.percent(50).then(|| Decimal::cents(draw.pick(&[495, 695, 1_250]))),
        origin_facility_id: Some(ids::facility(facility)),
        destination_facility_id: (group.method == "SHIP_TO_STORE")
            .then(|| ids::facility(draw.below(world.size.facilities))),
        origin_contact_mech_id: Some(ids::origin(facility)),
        destination_contact_mech_id: Some(ids::address(order.recipient)),
        party_id_to: Some(ids::party(order.recipient)),
        party_id_from: None,
        created_date: created,
        external_id: draw.percent(40).then(|| Id::wide("53", order.number.into(), 8).part(draw.below(2))),
        carrier_party_id: Some(group.carrier),
        shipment_method_type_id: Some(group.method),
    });
    let reached = statuses(batch, draw, shipment_id, status, created);
    for (place, (at, item)) in parcel.items.iter().enumerate() {
        let quantity = Decimal::whole(item.quantity.into());
        batch.push(&ShipmentItem {
            shipment_id,
            shipment_item_seq_id: seq(place),
            product_id: item.pair.map(|pair| ids::product(world.stock.product(pair))),
            quantity,
        });
        batch.push(&OrderShipment {
            order_id: order.id(),
            order_item_seq_id: seq(*at),
            ship_group_seq_id: parcel.seq,
            shipment_id,
            shipment_item_seq_id: seq(place),
            quantity,
        });
    }
    packages(batch, draw, order, parcel, reached);
    reached
}

/// Writes a shipment's way to its status, and returns when it came there.
pub(in crate::sample) fn statuses(
    batch: &mut Batch,
    draw: &mut Draw,
    shipment_id: Id,
    status: &str,
    created: Time,
) -> Time {
    let mut at = created;
    for (step, status_id) in flow::shipment_way(status).iter().enumerate() {
        if step > 0 {
            at = calendar::within(draw, at, 30);
        }
        batch.push(&ShipmentStatus { status_id, shipment_id, status_date: at });
    }
    at
}

fn packages(batch: &mut Batch, draw: &mut Draw, order: &Order, parcel: &Parcel<'_>, reached: Time) {
    let Parcel { id: shipment_id, status, group, facility, created, .. } = *parcel;
    let is_shipped = matches!(group.flow, Flow::Shipped(_));
    let is_labelled = is_shipped || matches!(status, "SHIPMENT_PACKED" | "PICKUP_SCHEDULED");
    let tracking = Id::wide("1Z", order.number.into(), 9);
    batch.push(&ShipmentRouteSegment {
        shipment_id,
        shipment_route_segment_id: Seq(1),
        origin_facility_id: Some(ids::facility(facility)),
        origin_contact_mech_id: Some(ids::origin(facility)),
        dest_contact_mech_id: Some(ids::address(order.recipient)),
        carrier_party_id: Some(group.carrier),
        shipment_method_type_id: Some(group.method),
        carrier_service_status_id: Some(match status {
            "SHIPMENT_CANCELLED" => "SHRSCS_VOIDED",
            _ if is_shipped => "SHRSCS_ACCEPTED",
            _ if is_labelled => "SHRSCS_CONFIRMED",
            _ => "SHRSCS_NOT_STARTED",
        }),
        actual_start_date: is_shipped.then_some(reached),
        actual_arrival_date: (status == "SHIPMENT_DELIVERED").then(|| reached.after(Time::HOUR)),
        tracking_id_number: is_labelled.then_some(tracking),
    });
    let count = if parcel.items.len() > 2 && draw.percent(35) { 2 } else { 1 };
    for (package, name) in PACKAGES.iter().enumerate().take(count) {
        let is_pickup = group.method == "STOREPICKUP";
        batch.push(&ShipmentPackage {
            shipment_id,
            shipment_package_seq_id: seq(package),
            shipment_box_type_id: draw.percent(95).then_some(if is_pickup { "BOPISPACKNG" } else { "YOURPACKNG" }),
            date_created: created.after(30 * Time::MINUTE),
            weight: draw.percent(90).then(|| Decimal::cents(draw.between(25, 2_500).into())),
            weight_uom_id: Some("WT_lb"),
            package_name: name,
        });
        let code = tracking.part(u32::try_from(package).unwrap_or_default());
        batch.push(&ShipmentPackageRouteSeg {
            shipment_id,
            shipment_package_seq_id: seq(package),
            shipment_route_segment_id: Seq(1),
            tracking_code: is_labelled.then_some(code),
            label_image_url: is_labelled
                .then(|| Cow::Owned(format!("https://labels.example/{}/{package}.png", order.number))),
        });
    }
    for (place, (_, item)) in parcel.items.iter().enumerate() {
        batch.push(&ShipmentPackageContent {
            shipment_id,
            shipment_package_seq_id: seq(place % count),
            shipment_item_seq_id: seq(place),
            quantity: Decimal::whole(item.quantity.into()),
        });
    }
}
