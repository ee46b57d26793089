//! What came back of an order that was sent, and what was received of it.

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Id, Seq, Time};
use crate::sample::ids::{self, COMPANY};
use crate::sample::orders::flow::State;
use crate::sample::orders::lines::seq;
use crate::sample::orders::{Item, Order, World, shipments};
use crate::sample::tables::{
    InventoryItemDetail, ReturnAdjustment, ReturnHeader, ReturnIdentification, ReturnItem, ReturnStatus, Shipment,
    ShipmentItem, ShipmentReceipt,
};

/// Where a return stands, how it came there from `RETURN_REQUESTED`, the shipment that brings it, and whether the goods
/// are there.
#[derive(Clone, Copy)]
struct Standing {
    way: &'static [&'static str],
    shipment: &'static str,
    is_received: bool,
}

const STANDINGS: &[(u32, Standing)] = &[
    (45, Standing::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED", "RETURN_COMPLETED"])),
    (18, Standing::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED"])),
    (4, Standing::received(&["RETURN_ACCEPTED", "RETURN_RECEIVED", "RETURN_MAN_REFUND"])),
    (12, Standing::open(&["RETURN_ACCEPTED"], "PURCH_SHIP_SHIPPED")),
    (11, Standing::open(&[], "PURCH_SHIP_CREATED")),
    (6, Standing::open(&["RETURN_CANCELLED"], "PURCH_SHIP_CANCELLED")),
    (4, Standing::open(&["RETURN_REJECTED"], "PURCH_SHIP_CANCELLED")),
];
const REQUESTED: &str = "RETURN_REQUESTED";
const REASONS: &[&str] = &["RTN_NOT_WANT", "RTN_NOT_WANT", "RTN_DEFECTIVE_ITEM", "RTN_MISSHIP_ITEM"];

impl Standing {
    const fn received(way: &'static [&'static str]) -> Self {
        Self { way, shipment: "PURCH_SHIP_RECEIVED", is_received: true }
    }

    const fn open(way: &'static [&'static str], shipment: &'static str) -> Self {
        Self { way, shipment, is_received: false }
    }

    fn status(self) -> &'static str {
        self.way.last().copied().unwrap_or(REQUESTED)
    }
}

/// A return about to be written.
struct Return<'a> {
    id: Id,
    order: &'a Order,
    /// Whether it is known which order it is of.
    is_known: bool,
    standing: Standing,
    facility: u32,
    entered: Time,
    /// When it came to its status.
    reached: Time,
    shipment_id: Option<Id>,
}

/// Writes one return for one in eleven orders of which something was issued.
pub(in crate::sample) fn write(batch: &mut Batch, world: &mut World, draw: &mut Draw, order: &Order) {
    let is_issued = |item: &Item| item.pair.is_some() && order.flow(item).is_issued();
    let issued: Vec<usize> = (0..order.items.len()).filter(|at| is_issued(&order.items[*at])).collect();
    if order.state != State::Completed || issued.is_empty() || !draw.percent(9) {
        return;
    }
    let id = ids::returned(order.number);
    let entered = calendar::within(draw, order.placed.after(6 * Time::DAY), 400);
    let standing = draw.weighted(STANDINGS);
    let reached = statuses(batch, draw, id, standing, entered);
    let shipment_id = draw.percent(50).then(|| Id::new("SRM", order.number.into()));
    let facility = draw.below(world.size.facilities);
    let is_known = draw.percent(95);
    let returned = Return { id, order, is_known, standing, facility, entered, reached, shipment_id };
    header(batch, draw, &returned);
    if let Some(shipment_id) = shipment_id {
        shipment(batch, draw, &returned, shipment_id);
    }
    let count = if issued.len() > 1 && draw.percent(30) { 2 } else { 1 };
    for (place, at) in issued.into_iter().take(count).enumerate() {
        item(batch, world, draw, &returned, place, at);
    }
    adjustments(batch, draw, &returned);
}

fn statuses(batch: &mut Batch, draw: &mut Draw, return_id: Id, standing: Standing, entered: Time) -> Time {
    let mut at = entered;
    for (part, status_id) in (0..).zip([REQUESTED].iter().chain(standing.way)) {
        if part > 0 {
            at = calendar::within(draw, at, 72);
        }
        batch.push(&ReturnStatus {
            return_status_id: return_id.part(part),
            status_id,
            return_id,
            return_item_seq_id: None,
            status_datetime: at,
        });
    }
    at
}

fn header(batch: &mut Batch, draw: &mut Draw, returned: &Return<'_>) {
    let Return { id: return_id, order, standing, entered, reached, .. } = *returned;
    let is_imported = draw.percent(60);
    batch.push(&ReturnHeader {
        return_id,
        return_header_type_id: "CUSTOMER_RETURN",
        status_id: draw.percent(96).then_some(standing.status()),
        from_party_id: draw.percent(97).then(|| ids::party(order.customer)),
        to_party_id: COMPANY,
        entry_date: draw.percent(95).then_some(entered),
        // Many are told by the day; some not at all.
        return_date: match draw.below(100) {
            0..10 => None,
            10..60 => Some(reached.floor(Time::DAY)),
            _ => Some(reached),
        },
        origin_contact_mech_id: draw.percent(80).then(|| ids::address(order.recipient)),
        destination_facility_id: draw.percent(95).then(|| ids::facility(returned.facility)),
        needs_inventory_receive: !standing.is_received,
        currency_uom_id: "USD",
        external_id: is_imported.then(|| Id::wide("61", order.number.into(), 11)),
    });
    if is_imported {
        let mut known = |return_identification_type_id, id_value, thru_date| {
            batch.push(&ReturnIdentification {
                return_identification_type_id,
                return_id,
                id_value,
                from_date: entered,
                thru_date,
            });
        };
        known("SHOPIFY_RTN_ID", Id::wide("61", order.number.into(), 11), None);
        if draw.percent(20) {
            let is_over = draw.percent(30);
            known(
                "RTN_MKT_PLACE",
                Id::wide("MR", draw.below(500).into(), 3),
                is_over.then_some(reached.after(Time::DAY)),
            );
        }
    }
}

fn shipment(batch: &mut Batch, draw: &mut Draw, returned: &Return<'_>, shipment_id: Id) {
    let Return { order, standing, facility, entered, .. } = *returned;
    batch.push(&Shipment {
        shipment_id,
        shipment_type_id: "SALES_RETURN",
        status_id: Some(standing.shipment),
        primary_order_id: None,
        primary_return_id: Some(returned.id),
        primary_ship_group_seq_id: None,
        estimated_ship_date: draw.percent(60).then(|| entered.after(2 * Time::DAY).floor(Time::DAY)),
        estimated_arrival_date: None,
        estimated_ship_cost: None,
        origin_facility_id: None,
        destination_facility_id: Some(ids::facility(facility)),
        origin_contact_mech_id: Some(ids::address(order.recipient)),
        destination_contact_mech_id: Some(ids::origin(facility)),
        party_id_to: None,
        party_id_from: Some(ids::party(order.customer)),
        created_date: entered,
        external_id: None,
        carrier_party_id: None,
        shipment_method_type_id: None,
    });
    shipments::statuses(batch, draw, shipment_id, standing.shipment, entered);
}

/// Writes one item, sent back whole or in part, and what was received of it.
fn item(batch: &mut Batch, world: &mut World, draw: &mut Draw, returned: &Return<'_>, place: usize, at: usize) {
    let Return { id: return_id, order, is_known, standing, shipment_id, .. } = *returned;
    let Item { quantity, price, pair: Some(pair), .. } = order.items[at] else { return };
    let quantity = i64::from(draw.between(1, quantity));
    let product_id = ids::product(world.stock.product(pair));
    batch.push(&ReturnItem {
        return_id,
        return_item_seq_id: seq(place),
        return_reason_id: draw.pick(REASONS),
        return_type_id: if draw.percent(20) { "RTN_CREDIT" } else { "RTN_REFUND" },
        return_item_type_id: "RET_FPROD_ITEM",
        product_id: Some(product_id),
        description: draw.percent(40).then_some("As it came"),
        order_id: is_known.then(|| order.id()),
        order_item_seq_id: is_known.then(|| seq(at)),
        status_id: standing.status(),
        return_quantity: Decimal::whole(quantity),
        received_quantity: standing.is_received.then(|| Decimal::whole(quantity)),
        return_price: Decimal::cents(price.into()),
    });
    if let Some(shipment_id) = shipment_id {
        batch.push(&ShipmentItem {
            shipment_id,
            shipment_item_seq_id: seq(place),
            product_id: Some(product_id),
            quantity: Decimal::whole(quantity),
        });
    }
    if standing.is_received {
        receive(batch, world, draw, returned, (place, at), pair, quantity);
    }
}

/// It goes back to where it came from; one piece in twenty is of no use any more.
fn receive(
    batch: &mut Batch,
    world: &mut World,
    draw: &mut Draw,
    returned: &Return<'_>,
    (place, at): (usize, usize),
    pair: u32,
    quantity: i64,
) {
    let Return { id, order, is_known, reached, shipment_id, .. } = *returned;
    let Seq(part) = seq(place);
    let receipt_id = Id::new("SRR", order.number.into()).part(part);
    let inventory_item_id = ids::inventory_item(pair);
    let rejected = i64::from(draw.percent(5));
    let accepted = quantity - rejected;
    batch.push(&ShipmentReceipt {
        receipt_id,
        inventory_item_id,
        product_id: ids::product(world.stock.product(pair)),
        shipment_id,
        shipment_item_seq_id: shipment_id.map(|_| seq(place)),
        order_id: is_known.then(|| order.id()),
        order_item_seq_id: is_known.then(|| seq(at)),
        return_id: Some(id),
        return_item_seq_id: Some(seq(place)),
        datetime_received: reached,
        quantity_accepted: Decimal::whole(accepted),
        quantity_rejected: Decimal::whole(rejected),
    });
    if !order.is_after_count {
        return;
    }
    world.stock.taken(pair).returned += accepted;
    batch.push(&InventoryItemDetail {
        inventory_item_id,
        inventory_item_detail_seq_id: Id::new("SRD", order.number.into()).part(part),
        effective_date: reached,
        quantity_on_hand_diff: Decimal::whole(accepted),
        available_to_promise_diff: Decimal::whole(accepted),
        accounting_quantity_diff: Decimal::whole(0),
        order_id: None,
        order_item_seq_id: None,
        ship_group_seq_id: None,
        shipment_id,
        return_id: Some(id),
        return_item_seq_id: Some(seq(place)),
        item_issuance_id: None,
        receipt_id: Some(receipt_id),
        description: Some("Came back"),
    });
}

fn adjustments(batch: &mut Batch, draw: &mut Draw, returned: &Return<'_>) {
    let Return { id: return_id, order, is_known, .. } = *returned;
    let mut adjust = |part, return_adjustment_type_id, item, description, cents| {
        batch.push(&ReturnAdjustment {
            return_adjustment_id: return_id.part(part),
            return_adjustment_type_id,
            return_id,
            return_item_seq_id: item,
            order_id: is_known.then(|| order.id()),
            description,
            amount: Decimal::cents(cents),
        });
    };
    if draw.percent(50) {
        adjust(0, "RET_SALES_TAX_ADJ", Some(Seq(1)), Some("Tax"), draw.between(20, 900).into());
    }
    if draw.percent(25) {
        adjust(1, "RET_SHIPPING_ADJ", None, Some("Label"), -495);
    }
}
