//! An order's ship groups and items, and the facility changes of the groups.

use crate::sample::batch::row;
use crate::sample::calendar;
use crate::sample::customers;
use crate::sample::ids::{self, Id, SeqId};
use crate::sample::money::cents;
use crate::sample::orders::lifecycle::Fulfillment;
use crate::sample::orders::order::{Assignment, Order, OrderWriter, SampleItem};
use crate::sample::orders::shipments::ItemShipment;
use crate::sample::sample_time::SampleTime;
use crate::sample::vocabulary::GIFT_MESSAGES;

/// The reasons of rejections.
const REJECTIONS: &[&str] = &["NOT_IN_STOCK", "WORN_DISPLAY", "REJ_RSN_DAMAGED", "MISMATCH", "NO_VARIANCE_LOG"];

/// Writes the rows of the ship groups and items. `shipped` has each item's shipment, if there is one.
pub(in crate::sample) fn write(out: &mut OrderWriter<'_>, order: &Order, shipped: &[Option<ItemShipment>]) {
    let estimate = order.placed.after(i64::from(out.rng.between(1, 5)) * SampleTime::DAY).floor(SampleTime::DAY);
    for index in 0..order.groups.len() {
        write_group(out, order, index, estimate);
    }
    for (index, item) in order.items.iter().enumerate() {
        let shipment_id = shipped[index].map(|shipment| shipment.shipment_id);
        write_item(out, order, (index, item), estimate, shipment_id);
    }
}

fn write_group(out: &mut OrderWriter<'_>, order: &Order, index: usize, estimate: SampleTime) {
    let group = &order.groups[index];
    let is_gift = out.rng.percent(6);
    let is_shipped = matches!(group.fulfillment, Fulfillment::Shipped(_));
    out.batch.push(row!(order_item_ship_group {
        order_id: order.id(),
        ship_group_seq_id: SeqId::at(index),
        shipment_method_type_id: group.method,
        carrier_party_id: group.carrier,
        carrier_role_type_id: "CARRIER",
        facility_id: group.assignment,
        contact_mech_id: out.rng.percent(98).then(|| ids::address(order.recipient)),
        telecom_contact_mech_id: customers::has_telephone(order.recipient).then(|| ids::telephone(order.recipient)),
        tracking_number: is_shipped
            .then(|| Id::with_width("1Z", order.number.into(), 9).part(u32::from(SeqId::at(index) == SeqId(2)))),
        may_split: out.rng.percent(90),
        gift_message: (is_gift && out.rng.percent(70)).then(|| out.rng.pick(GIFT_MESSAGES)),
        is_gift,
        ship_after_date: out.rng.percent(3).then(|| order.placed.after(SampleTime::DAY)),
        ship_by_date: out.rng.percent(20).then(|| estimate.after(3 * SampleTime::DAY)),
        estimated_ship_date: out.rng.percent(85).then_some(estimate),
        estimated_delivery_date: out.rng.percent(60).then(|| estimate.after(4 * SampleTime::DAY)),
    }));
    // The group's first item came from the emptied group before it, or from the queue.
    let Some((item, _)) = order.items_of(index).next() else { return };
    let Some(assignment @ Assignment::Facility(_)) = group.assignment else { return };
    let before = index.checked_sub(1).map(|before| order.groups[before]);
    let emptied = before.filter(|before| before.fulfillment == Fulfillment::Emptied);
    if emptied.is_none() && !out.rng.percent(25) {
        return;
    }
    let from = emptied.map_or(Some(Assignment::Queue("_NA_")), |emptied| emptied.assignment);
    out.batch.push(row!(order_facility_change {
        order_facility_change_id: order.id().part(u32::try_from(index).unwrap_or_default()),
        order_id: order.id(),
        order_item_seq_id: SeqId::at(item),
        shipment_method_type_id: group.method,
        ship_group_seq_id: SeqId::at(index),
        facility_id: assignment,
        from_facility_id: from,
        change_datetime: calendar::within_hours(out.rng, order.placed, 24),
        change_user_login: out.rng.percent(70).then_some("sample"),
        change_reason_enum_id: if emptied.is_some() { out.rng.pick(REJECTIONS) } else { "BROKERED" },
        comments: emptied.is_some().then_some("Store rejected inventory"),
    }));
}

fn write_item(
    out: &mut OrderWriter<'_>,
    order: &Order,
    (index, item): (usize, &SampleItem),
    estimate: SampleTime,
    shipment_id: Option<Id>,
) {
    let fulfillment = order.fulfillment(item);
    let cancelled = matches!(fulfillment, Fulfillment::Cancelled(_)).then_some(item.quantity);
    out.batch.push(row!(order_item {
        order_id: order.id(),
        order_item_seq_id: SeqId::at(index),
        external_id: order.is_imported.then(|| Id::with_width("14", (order.number * 8 + item.line).into(), 11)),
        order_item_type_id: if item.pair.is_some() { "PRODUCT_ORDER_ITEM" } else { "WORK_ORDER_ITEM" },
        product_id: item.pair.map(|pair| ids::product(out.context.stock.product(pair))),
        quantity: item.quantity,
        cancel_quantity: cancelled,
        unit_price: cents(item.price),
        unit_list_price: out.rng.percent(80).then(|| cents(item.price + 500 * out.rng.below(2))),
        item_description: match item.pair {
            Some(_) => out.rng.percent(60).then_some("As shown in the shop"),
            None => Some("Gift wrapping"),
        },
        status_id: order.state.item_status_id(fulfillment),
        estimated_ship_date: out.rng.percent(50).then_some(estimate),
        estimated_delivery_date: out.rng.percent(30).then(|| estimate.after(4 * SampleTime::DAY)),
        auto_cancel_date: (!fulfillment.is_done() && out.rng.percent(20))
            .then(|| order.placed.after(30 * SampleTime::DAY)),
        ship_group_seq_id: SeqId::at(item.group),
        shipment_id,
    }));
    out.batch.push(row!(order_item_ship_group_assoc {
        order_id: order.id(),
        order_item_seq_id: SeqId::at(index),
        ship_group_seq_id: SeqId::at(item.group),
        quantity: item.quantity,
        cancel_quantity: cancelled,
    }));
}
