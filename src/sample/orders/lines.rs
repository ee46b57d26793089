//! An order's ship groups and items, how items came to their groups, and the stock that is kept for them or left.

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Id, Key, Seq, Time};
use crate::sample::ids;
use crate::sample::orders::flow::Flow;
use crate::sample::orders::shipments::Sent;
use crate::sample::orders::{Item, Order, Place, World};
use crate::sample::people;
use crate::sample::tables::{OrderFacilityChange, OrderItem, OrderItemShipGroup, OrderItemShipGroupAssoc};
use crate::sample::words::GIFT_MESSAGES;

/// The sequence id of what has this place in its order.
pub(in crate::sample) fn seq(place: usize) -> Seq {
    Seq(u32::try_from(place + 1).unwrap_or(u32::MAX))
}

impl Place {
    fn key(self) -> Key {
        match self {
            Self::Facility(facility) => Key::Made(ids::facility(facility)),
            Self::Queue(queue) => Key::Known(queue),
        }
    }
}

/// Writes them. `sent` tells of each item's shipment, where it has one.
pub(in crate::sample) fn write(
    batch: &mut Batch,
    world: &World,
    draw: &mut Draw,
    order: &Order,
    sent: &[Option<Sent>],
) {
    let estimate = order.placed.after(i64::from(draw.between(1, 5)) * Time::DAY).floor(Time::DAY);
    for at in 0..order.groups.len() {
        write_group(batch, draw, order, at, estimate);
    }
    for (at, item) in order.items.iter().enumerate() {
        write_item(batch, world, draw, order, (at, item), estimate, sent[at].map(|sent| sent.shipment_id));
    }
}

fn write_group(batch: &mut Batch, draw: &mut Draw, order: &Order, at: usize, estimate: Time) {
    let group = &order.groups[at];
    let is_gift = draw.percent(6);
    let is_shipped = matches!(group.flow, Flow::Shipped(_));
    batch.push(&OrderItemShipGroup {
        order_id: order.id(),
        ship_group_seq_id: seq(at),
        shipment_method_type_id: group.method,
        carrier_party_id: group.carrier,
        carrier_role_type_id: "CARRIER",
        facility_id: group.place.map(Place::key),
        contact_mech_id: draw.percent(98).then(|| ids::address(order.recipient)),
        telecom_contact_mech_id: people::has_telephone(order.recipient).then(|| ids::telephone(order.recipient)),
        tracking_number: is_shipped.then(|| Id::wide("1Z", order.number.into(), 9).part(u32::from(seq(at) == Seq(2)))),
        may_split: draw.percent(90),
        gift_message: (is_gift && draw.percent(70)).then(|| draw.pick(GIFT_MESSAGES)),
        is_gift,
        ship_after_date: draw.percent(3).then(|| order.placed.after(Time::DAY)),
        ship_by_date: draw.percent(20).then(|| estimate.after(3 * Time::DAY)),
        estimated_ship_date: draw.percent(85).then_some(estimate),
        estimated_delivery_date: draw.percent(60).then(|| estimate.after(4 * Time::DAY)),
    });
    // How the first item of the group came to it: from the group that was left before it, or from the queue.
    let Some((item, _)) = order.items_of(at).next() else { return };
    let Some(place @ Place::Facility(_)) = group.place else { return };
    let left = at.checked_sub(1).map(|before| order.groups[before]).filter(|before| before.flow == Flow::Left);
    if left.is_none() && !draw.percent(25) {
        return;
    }
    let from = left.map_or(Some(Place::Queue("_NA_")), |left| left.place);
    batch.push(&OrderFacilityChange {
        order_facility_change_id: order.id().part(u32::try_from(at).unwrap_or_default()),
        order_id: order.id(),
        order_item_seq_id: seq(item),
        shipment_method_type_id: group.method,
        ship_group_seq_id: seq(at),
        facility_id: place.key(),
        from_facility_id: from.map(Place::key),
        change_datetime: calendar::within(draw, order.placed, 24),
        change_user_login: draw.percent(70).then_some("sample"),
        change_reason_enum_id: if left.is_some() { draw.pick(REJECTIONS) } else { "BROKERED" },
        comments: left.is_some().then_some("Store rejected inventory"),
    });
}

const REJECTIONS: &[&str] = &["NOT_IN_STOCK", "WORN_DISPLAY", "REJ_RSN_DAMAGED", "MISMATCH", "NO_VARIANCE_LOG"];

fn write_item(
    batch: &mut Batch,
    world: &World,
    draw: &mut Draw,
    order: &Order,
    (at, item): (usize, &Item),
    estimate: Time,
    shipment_id: Option<Id>,
) {
    let flow = order.flow(item);
    let cancelled = matches!(flow, Flow::Cancelled(_)).then(|| Decimal::whole(item.quantity.into()));
    let quantity = Decimal::whole(item.quantity.into());
    batch.push(&OrderItem {
        order_id: order.id(),
        order_item_seq_id: seq(at),
        external_id: order.is_imported.then(|| Id::wide("14", (order.number * 8 + item.line).into(), 11)),
        order_item_type_id: if item.pair.is_some() { "PRODUCT_ORDER_ITEM" } else { "WORK_ORDER_ITEM" },
        product_id: item.pair.map(|pair| ids::product(world.stock.product(pair))),
        quantity,
        cancel_quantity: cancelled,
        unit_price: Decimal::cents(item.price.into()),
        unit_list_price: draw.percent(80).then(|| Decimal::cents((item.price + 500 * draw.below(2)).into())),
        item_description: match item.pair {
            Some(_) => draw.percent(60).then_some("As shown in the shop"),
            None => Some("Gift wrapping"),
        },
        status_id: Some(order.state.item(flow)),
        estimated_ship_date: draw.percent(50).then_some(estimate),
        estimated_delivery_date: draw.percent(30).then(|| estimate.after(4 * Time::DAY)),
        auto_cancel_date: (!flow.is_done() && draw.percent(20)).then(|| order.placed.after(30 * Time::DAY)),
        ship_group_seq_id: seq(item.group),
        shipment_id,
    });
    batch.push(&OrderItemShipGroupAssoc {
        order_id: order.id(),
        order_item_seq_id: seq(at),
        ship_group_seq_id: seq(item.group),
        quantity,
        cancel_quantity: cancelled,
    });
}
