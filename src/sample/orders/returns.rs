//! The return of a shipped order, and its receipt.

use crate::sample::batch::row;
use crate::sample::calendar;
use crate::sample::ids::{self, COMPANY, Id, SeqId};
use crate::sample::money::cents;
use crate::sample::orders::lifecycle::OrderState;
use crate::sample::orders::order::{Order, OrderWriter, SampleItem};
use crate::sample::orders::shipments;
use crate::sample::sample_time::SampleTime;

/// The stage of a return.
#[derive(Clone, Copy)]
struct ReturnStage {
    /// The statuses after `RETURN_REQUESTED`, up to the current one.
    history: &'static [&'static str],
    shipment_status: &'static str,
    is_received: bool,
}

const STAGES: &[(u32, ReturnStage)] = &[
    (45, ReturnStage::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED", "RETURN_COMPLETED"])),
    (18, ReturnStage::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED"])),
    (4, ReturnStage::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED", "RETURN_MAN_REFUND"])),
    (12, ReturnStage::not_received(&["RETURN_ACCEPTED"], "PURCH_SHIP_SHIPPED")),
    (11, ReturnStage::not_received(&[], "PURCH_SHIP_CREATED")),
    (6, ReturnStage::not_received(&["RETURN_CANCELLED"], "PURCH_SHIP_CANCELLED")),
    (4, ReturnStage::not_received(&["RETURN_REJECTED"], "PURCH_SHIP_CANCELLED")),
];
const REQUESTED: &str = "RETURN_REQUESTED";
const REASONS: &[&str] = &["RTN_NOT_WANT", "RTN_NOT_WANT", "RTN_DEFECTIVE_ITEM", "RTN_MISSHIP_ITEM"];

impl ReturnStage {
    const fn received(history: &'static [&'static str]) -> Self {
        Self { history, shipment_status: "PURCH_SHIP_RECEIVED", is_received: true }
    }

    const fn not_received(history: &'static [&'static str], shipment_status: &'static str) -> Self {
        Self { history, shipment_status, is_received: false }
    }

    fn status(self) -> &'static str {
        self.history.last().copied().unwrap_or(REQUESTED)
    }
}

/// A return to be written.
struct Return<'a> {
    id: Id,
    order: &'a Order,
    /// Whether its rows reference the order.
    has_order: bool,
    stage: ReturnStage,
    facility: u32,
    entered: SampleTime,
    /// The time of the current status.
    status_time: SampleTime,
    shipment_id: Option<Id>,
}

/// Writes a return for one in eleven of the completed orders with issued items.
pub(in crate::sample) fn write(out: &mut OrderWriter<'_>, order: &Order) {
    let is_issued = |item: &SampleItem| item.pair.is_some() && order.fulfillment(item).is_issued();
    let issued: Vec<usize> = (0..order.items.len()).filter(|index| is_issued(&order.items[*index])).collect();
    if order.state != OrderState::Completed || issued.is_empty() || !out.rng.percent(9) {
        return;
    }
    let id = ids::returned(order.number);
    let entered = calendar::within_hours(out.rng, order.placed.after(6 * SampleTime::DAY), 400);
    let stage = out.rng.weighted(STAGES);
    let status_time = write_status_history(out, id, stage, entered);
    let shipment_id = out.rng.percent(50).then(|| Id::new("SRM", order.number.into()));
    let facility = out.rng.below(out.context.size.facilities);
    let has_order = out.rng.percent(95);
    let returned = Return { id, order, has_order, stage, facility, entered, status_time, shipment_id };
    write_header(out, &returned);
    if let Some(shipment_id) = shipment_id {
        write_shipment(out, &returned, shipment_id);
    }
    let count = if issued.len() > 1 && out.rng.percent(30) { 2 } else { 1 };
    for (index, item_index) in issued.into_iter().take(count).enumerate() {
        write_item(out, &returned, (index, item_index));
    }
    write_adjustments(out, &returned);
}

/// Writes the status history and returns the time of the current status.
fn write_status_history(
    out: &mut OrderWriter<'_>,
    return_id: Id,
    stage: ReturnStage,
    entered: SampleTime,
) -> SampleTime {
    let mut time = entered;
    for (part, status_id) in (0..).zip([REQUESTED].iter().chain(stage.history)) {
        if part > 0 {
            time = calendar::within_hours(out.rng, time, 72);
        }
        out.batch.push(row!(return_status {
            return_status_id: return_id.part(part),
            status_id,
            return_id,
            status_datetime: time,
        }));
    }
    time
}

fn write_header(out: &mut OrderWriter<'_>, returned: &Return<'_>) {
    let Return { id: return_id, order, stage, entered, status_time, .. } = *returned;
    let is_imported = out.rng.percent(60);
    out.batch.push(row!(return_header {
        return_id,
        return_header_type_id: "CUSTOMER_RETURN",
        status_id: out.rng.percent(96).then_some(stage.status()),
        from_party_id: out.rng.percent(97).then(|| ids::party(order.customer)),
        to_party_id: COMPANY,
        entry_date: out.rng.percent(95).then_some(entered),
        // Many return dates have no time of day; some are unknown.
        return_date: match out.rng.below(100) {
            0..10 => None,
            10..60 => Some(status_time.floor(SampleTime::DAY)),
            _ => Some(status_time),
        },
        origin_contact_mech_id: out.rng.percent(80).then(|| ids::address(order.recipient)),
        destination_facility_id: out.rng.percent(95).then(|| ids::facility(returned.facility)),
        needs_inventory_receive: !stage.is_received,
        currency_uom_id: "USD",
        external_id: is_imported.then(|| Id::with_width("61", order.number.into(), 11)),
    }));
    if is_imported {
        let mut identify = |kind: &str, id_value: Id, thru_date: Option<SampleTime>| {
            out.batch.push(row!(return_identification {
                return_identification_type_id: kind,
                return_id,
                id_value,
                from_date: entered,
                thru_date,
            }));
        };
        identify("SHOPIFY_RTN_ID", Id::with_width("61", order.number.into(), 11), None);
        if out.rng.percent(20) {
            let is_expired = out.rng.percent(30);
            identify(
                "RTN_MKT_PLACE",
                Id::with_width("MR", out.rng.below(500).into(), 3),
                is_expired.then_some(status_time.after(SampleTime::DAY)),
            );
        }
    }
}

fn write_shipment(out: &mut OrderWriter<'_>, returned: &Return<'_>, shipment_id: Id) {
    let Return { order, stage, facility, entered, .. } = *returned;
    out.batch.push(row!(shipment {
        shipment_id,
        shipment_type_id: "SALES_RETURN",
        status_id: stage.shipment_status,
        primary_return_id: returned.id,
        estimated_ship_date: out.rng.percent(60).then(|| entered.after(2 * SampleTime::DAY).floor(SampleTime::DAY)),
        destination_facility_id: ids::facility(facility),
        origin_contact_mech_id: ids::address(order.recipient),
        destination_contact_mech_id: ids::origin(facility),
        party_id_from: ids::party(order.customer),
        created_date: entered,
    }));
    shipments::write_status_history(out, shipment_id, stage.shipment_status, entered);
}

/// Writes a return item, with the full quantity or a part of it, and its receipt. `index` counts the return's items,
/// `item_index` the order's.
fn write_item(out: &mut OrderWriter<'_>, returned: &Return<'_>, (index, item_index): (usize, usize)) {
    let Return { id: return_id, order, has_order, stage, shipment_id, .. } = *returned;
    let SampleItem { quantity, price, pair: Some(pair), .. } = order.items[item_index] else { return };
    let quantity = i64::from(out.rng.between(1, quantity));
    let product_id = ids::product(out.context.stock.product(pair));
    out.batch.push(row!(return_item {
        return_id,
        return_item_seq_id: SeqId::at(index),
        return_reason_id: out.rng.pick(REASONS),
        return_type_id: if out.rng.percent(20) { "RTN_CREDIT" } else { "RTN_REFUND" },
        return_item_type_id: "RET_FPROD_ITEM",
        product_id,
        description: out.rng.percent(40).then_some("As it came"),
        order_id: has_order.then(|| order.id()),
        order_item_seq_id: has_order.then(|| SeqId::at(item_index)),
        status_id: stage.status(),
        return_quantity: quantity,
        received_quantity: stage.is_received.then_some(quantity),
        return_price: cents(price),
    }));
    if let Some(shipment_id) = shipment_id {
        out.batch.push(row!(shipment_item {
            shipment_id,
            shipment_item_seq_id: SeqId::at(index),
            product_id,
            quantity,
        }));
    }
    if stage.is_received {
        write_receipt(out, returned, &ReceivedItem { index, item_index, pair, quantity });
    }
}

/// A return item that has arrived.
struct ReceivedItem {
    /// Its index among the return's items.
    index: usize,
    /// Its index among the order's items.
    item_index: usize,
    pair: u32,
    quantity: i64,
}

/// Writes the receipt of a return item, which goes back to its inventory item. In one of twenty, one piece is rejected.
fn write_receipt(out: &mut OrderWriter<'_>, returned: &Return<'_>, item: &ReceivedItem) {
    let ReceivedItem { index, item_index, pair, quantity } = *item;
    let Return { id, order, has_order, status_time, shipment_id, .. } = *returned;
    let SeqId(part) = SeqId::at(index);
    let receipt_id = Id::new("SRR", order.number.into()).part(part);
    let inventory_item_id = ids::inventory_item(pair);
    let rejected = i64::from(out.rng.percent(5));
    let accepted = quantity - rejected;
    out.batch.push(row!(shipment_receipt {
        receipt_id,
        inventory_item_id,
        product_id: ids::product(out.context.stock.product(pair)),
        shipment_id,
        shipment_item_seq_id: shipment_id.map(|_| SeqId::at(index)),
        order_id: has_order.then(|| order.id()),
        order_item_seq_id: has_order.then(|| SeqId::at(item_index)),
        return_id: id,
        return_item_seq_id: SeqId::at(index),
        datetime_received: status_time,
        quantity_accepted: accepted,
        quantity_rejected: rejected,
    }));
    if !order.is_after_count {
        return;
    }
    out.context.stock.movements(pair).returned += accepted;
    out.batch.push(row!(inventory_item_detail {
        inventory_item_id,
        inventory_item_detail_seq_id: Id::new("SRD", order.number.into()).part(part),
        effective_date: status_time,
        quantity_on_hand_diff: accepted,
        available_to_promise_diff: accepted,
        accounting_quantity_diff: 0,
        shipment_id,
        return_id: id,
        return_item_seq_id: SeqId::at(index),
        receipt_id,
        description: "Came back",
    }));
}

fn write_adjustments(out: &mut OrderWriter<'_>, returned: &Return<'_>) {
    let Return { id: return_id, order, has_order, .. } = *returned;
    let mut adjust = |part, kind: &str, item: Option<SeqId>, description: &str, amount: i64| {
        out.batch.push(row!(return_adjustment {
            return_adjustment_id: return_id.part(part),
            return_adjustment_type_id: kind,
            return_id,
            return_item_seq_id: item,
            order_id: has_order.then(|| order.id()),
            description,
            amount: cents(amount),
        }));
    };
    if out.rng.percent(50) {
        adjust(0, "RET_SALES_TAX_ADJ", Some(SeqId(1)), "Tax", out.rng.between(20, 900).into());
    }
    if out.rng.percent(25) {
        adjust(1, "RET_SHIPPING_ADJ", None, "Label", -495);
    }
}
