//! An order's header, its roles, the way of its states, and what it is known by elsewhere.

use std::borrow::Cow;

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Id, Time};
use crate::sample::ids;
use crate::sample::orders::flow::State;
use crate::sample::orders::{Order, World};
use crate::sample::tables::{OrderHeader, OrderIdentification, OrderRole, OrderStatus};
use crate::sample::words::ORDER_NAMES;

const CHANNELS: &[(u32, Option<&str>)] = &[
    (70, Some("WEB_SALES_CHANNEL")),
    (12, Some("POS_SALES_CHANNEL")),
    (8, Some("PHONE_SALES_CHANNEL")),
    (5, Some("EMAIL_SALES_CHANNEL")),
    (5, None),
];
/// What stores let open of the total: what is in cents.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Totals {
    /// Of the items that are not cancelled.
    pub(in crate::sample) items: i64,
    /// The same, with all adjustments.
    pub(in crate::sample) grand: i64,
}

/// Writes them. `totals` are in cents.
pub(in crate::sample) fn write(batch: &mut Batch, world: &World, draw: &mut Draw, order: &Order, totals: Totals) {
    let order_id = order.id();
    let entered = order.placed;
    let changed = states(batch, draw, order);
    let is_over = matches!(order.state, State::Cancelled | State::Rejected | State::Expired);
    batch.push(&OrderHeader {
        order_id,
        order_type_id: "SALES_ORDER",
        order_name: match draw.below(100) {
            0..10 => None,
            10..35 => Some(Cow::Borrowed(draw.pick(ORDER_NAMES))),
            _ => Some(Cow::Owned(format!("#{}", 1_000 + order.number))),
        },
        external_id: order.is_imported.then(|| channel_id(order.number)),
        sales_channel_enum_id: draw.weighted(CHANNELS),
        order_date: draw.percent(99).then_some(order.placed),
        priority: draw.percent(10).then(|| draw.pick(&["1", "2", "3"])),
        entry_date: entered,
        status_id: order.state.id(),
        created_by: draw.percent(90).then_some("sample"),
        currency_uom: if draw.percent(97) { "USD" } else { "EUR" },
        origin_facility_id: draw.percent(12).then(|| ids::facility(draw.below(world.size.facilities))),
        product_store_id: draw.percent(98).then(|| ids::store(order.store)),
        remaining_sub_total: draw.percent(95).then(|| Decimal::cents(if is_over { 0 } else { totals.items })),
        grand_total: draw.percent(98).then(|| Decimal::cents(totals.grand)),
        last_updated_stamp: changed,
        last_updated_tx_stamp: changed,
        created_stamp: entered,
        created_tx_stamp: entered,
    });
    let mut role = |party, role_type_id| {
        batch.push(&OrderRole { order_id, party_id: ids::party(party), role_type_id });
    };
    // Somebody paid in cash, and did not say who they were.
    if draw.per_mille(990) {
        role(order.customer, "BILL_TO_CUSTOMER");
    }
    role(order.recipient, "SHIP_TO_CUSTOMER");
    identifications(batch, draw, order);
}

/// The sales channel's id of an order.
fn channel_id(number: u32) -> Id {
    Id::wide("51", number.into(), 11)
}

/// Writes how the order came to its state, and returns when that was.
fn states(batch: &mut Batch, draw: &mut Draw, order: &Order) -> Time {
    let mut at = order.placed;
    let all = [State::Created].iter().chain(order.state.way());
    for (part, state) in (0..).zip(all) {
        if part > 0 {
            at = calendar::within(draw, at, if *state == State::Completed { 90 } else { 6 });
        }
        let is_over = matches!(state, State::Cancelled | State::Rejected);
        batch.push(&OrderStatus {
            order_status_id: order.id().part(part),
            status_id: state.id(),
            order_id: order.id(),
            order_item_seq_id: None,
            order_payment_preference_id: None,
            status_datetime: at,
            status_user_login: draw.percent(80).then_some("sample"),
            change_reason: (is_over && draw.percent(60)).then_some("Customer asked for it"),
        });
    }
    at
}

/// What the sales channel calls the order. Some names were changed: the old one is over.
fn identifications(batch: &mut Batch, draw: &mut Draw, order: &Order) {
    if !order.is_imported {
        return;
    }
    let order_id = order.id();
    let mut known = |order_identification_type_id, id_value, from_date, thru_date| {
        batch.push(&OrderIdentification { order_identification_type_id, order_id, id_value, from_date, thru_date });
    };
    known("SHOPIFY_ORD_ID", channel_id(order.number), order.placed, None);
    let name = Id::wide("#", (1_000 + order.number).into(), 1);
    let renamed = draw.percent(3).then(|| calendar::within(draw, order.placed, 48));
    if let Some(renamed) = renamed {
        known("SHOPIFY_ORD_NAME", name.part(0), order.placed, Some(renamed));
    }
    known("SHOPIFY_ORD_NAME", name, renamed.unwrap_or(order.placed), None);
    // A market place's numbers come round again.
    if draw.percent(10) {
        known("MKT_PLACE", Id::wide("MP", draw.below(5_000).into(), 4), order.placed, None);
    }
}
