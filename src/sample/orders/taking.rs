//! What an order takes from stock: reservations while it is in progress, issuances once it has left.

use crate::sample::batch::Batch;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Id, Seq, Time};
use crate::sample::ids;
use crate::sample::orders::lines::seq;
use crate::sample::orders::shipments::Sent;
use crate::sample::orders::{Item, Order, World};
use crate::sample::tables::{InventoryItemDetail, ItemIssuance, OrderItemShipGrpInvRes};

/// Writes it, and counts it off the stock. `sent` tells of each item's shipment, where it has one.
pub(in crate::sample) fn write(
    batch: &mut Batch,
    world: &mut World,
    draw: &mut Draw,
    order: &Order,
    sent: &[Option<Sent>],
) {
    for (at, item) in order.items.iter().enumerate() {
        let Some(pair) = item.pair else { continue };
        let flow = order.flow(item);
        let taken = world.stock.taken(pair);
        if flow.is_reserved() {
            taken.reserved += i64::from(item.quantity);
            reserve(batch, draw, order, (at, item, pair), sent[at]);
        } else if flow.is_issued() {
            issue(batch, order, (at, item, pair), sent[at]);
            if order.is_after_count {
                taken.issued += i64::from(item.quantity);
                tell_issue(batch, order, (at, item, pair), sent[at]);
            }
        }
    }
}

fn reserve(
    batch: &mut Batch,
    draw: &mut Draw,
    order: &Order,
    (at, item, pair): (usize, &Item, u32),
    sent: Option<Sent>,
) {
    let when = order.placed.after(Time::SECOND);
    let quantity = i64::from(item.quantity);
    batch.push(&OrderItemShipGrpInvRes {
        order_id: order.id(),
        ship_group_seq_id: seq(item.group),
        order_item_seq_id: seq(at),
        inventory_item_id: ids::inventory_item(pair),
        quantity: Decimal::whole(quantity),
        quantity_not_available: draw.percent(90).then(|| Decimal::whole(i64::from(draw.percent(5)))),
        reserved_datetime: when,
        created_datetime: when,
        promised_datetime: draw.percent(80).then(|| order.placed.after(5 * Time::DAY).floor(Time::DAY)),
        shipment_id: sent.map(|sent| sent.shipment_id),
    });
    batch.push(&InventoryItemDetail {
        quantity_on_hand_diff: Decimal::whole(0),
        available_to_promise_diff: Decimal::whole(-quantity),
        ..detail(order, (at, item, pair), when)
    });
}

fn issue(batch: &mut Batch, order: &Order, (at, item, pair): (usize, &Item, u32), sent: Option<Sent>) {
    batch.push(&ItemIssuance {
        item_issuance_id: issuance(order, at),
        order_id: order.id(),
        order_item_seq_id: seq(at),
        ship_group_seq_id: seq(item.group),
        inventory_item_id: ids::inventory_item(pair),
        shipment_id: sent.map(|sent| sent.shipment_id),
        shipment_item_seq_id: sent.map(|sent| sent.item),
        issued_date_time: issued_at(order, sent),
        quantity: Decimal::whole(item.quantity.into()),
    });
}

fn tell_issue(batch: &mut Batch, order: &Order, (at, item, pair): (usize, &Item, u32), sent: Option<Sent>) {
    let quantity = i64::from(item.quantity);
    batch.push(&InventoryItemDetail {
        quantity_on_hand_diff: Decimal::whole(-quantity),
        available_to_promise_diff: Decimal::whole(-quantity),
        shipment_id: sent.map(|sent| sent.shipment_id),
        item_issuance_id: Some(issuance(order, at)),
        ..detail(order, (at, item, pair), issued_at(order, sent))
    });
}

fn issuance(order: &Order, at: usize) -> Id {
    Id::new("SU", order.number.into()).part(u32::try_from(at).unwrap_or_default())
}

fn issued_at(order: &Order, sent: Option<Sent>) -> Time {
    sent.map_or(order.placed.after(Time::MINUTE), |sent| sent.at)
}

/// What every change of stock for an item tells.
fn detail(order: &Order, (at, item, pair): (usize, &Item, u32), when: Time) -> InventoryItemDetail {
    let Seq(place) = seq(at);
    InventoryItemDetail {
        inventory_item_id: ids::inventory_item(pair),
        inventory_item_detail_seq_id: Id::new("SD", order.number.into()).part(place),
        effective_date: when,
        quantity_on_hand_diff: Decimal::whole(0),
        available_to_promise_diff: Decimal::whole(0),
        accounting_quantity_diff: Decimal::whole(0),
        order_id: Some(order.id()),
        order_item_seq_id: Some(seq(at)),
        ship_group_seq_id: Some(seq(item.group)),
        shipment_id: None,
        return_id: None,
        return_item_seq_id: None,
        item_issuance_id: None,
        receipt_id: None,
        description: None,
    }
}
