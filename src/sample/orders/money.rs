//! What an order costs: adjustments, and how it is to be paid.

use crate::sample::batch::Batch;
use crate::sample::draw::Draw;
use crate::sample::field::{Decimal, Time};
use crate::sample::orders::flow::{Flow, State};
use crate::sample::orders::lines::seq;
use crate::sample::orders::rows::Totals;
use crate::sample::orders::{Item, Order};
use crate::sample::tables::{OrderAdjustment, OrderPaymentPreference};

const PAYMENTS: &[(u32, &str)] =
    &[(70, "CREDIT_CARD"), (15, "EXT_PAYPAL"), (8, "GIFT_CARD"), (4, "EXT_COD"), (3, "EXT_OFFLINE")];

/// Writes them, and returns the order's totals.
pub(in crate::sample) fn write(batch: &mut Batch, draw: &mut Draw, order: &Order) -> Totals {
    let is_sold = |item: &&Item| !matches!(order.flow(item), Flow::Cancelled(_));
    let items: i64 =
        order.items.iter().filter(is_sold).map(|item| i64::from(item.price) * i64::from(item.quantity)).sum();
    let mut grand = items;
    let mut adjustments = 0;
    let mut adjust = |order_adjustment_type_id, item: Option<usize>, group, description, cents: i64| {
        adjustments += 1;
        grand += cents;
        batch.push(&OrderAdjustment {
            order_adjustment_id: order.id().part(adjustments),
            order_adjustment_type_id,
            order_id: order.id(),
            order_item_seq_id: item.map(seq),
            ship_group_seq_id: group,
            comments: None,
            description,
            amount: Decimal::cents(cents),
            created_date: order.placed,
        });
    };
    if draw.percent(70) {
        adjust("SHIPPING_CHARGES", None, Some(seq(0)), Some("Shipping"), draw.pick(&[495, 695, 995, 1_495]));
    }
    if draw.percent(60) {
        adjust("SALES_TAX", Some(0), None, Some("Sales tax"), items * 8 / 100);
    }
    if draw.percent(15) {
        adjust("PROMOTION_ADJUSTMENT", None, None, Some("10 % off"), -(items / 10));
    }
    payments(batch, draw, order, grand);
    Totals { items, grand }
}

/// One way to pay, or two that share the total.
fn payments(batch: &mut Batch, draw: &mut Draw, order: &Order, grand: i64) {
    let shared = if draw.percent(7) { grand / 3 } else { 0 };
    let status_id = match order.state {
        State::Completed => "PAYMENT_SETTLED",
        State::Approved | State::Sent => "PAYMENT_AUTHORIZED",
        State::Cancelled | State::Expired => "PAYMENT_CANCELLED",
        State::Rejected => "PAYMENT_DECLINED",
        _ => "PAYMENT_NOT_AUTH",
    };
    let mut pay = |part, payment_method_type_id, cents| {
        batch.push(&OrderPaymentPreference {
            order_payment_preference_id: order.id().part(part),
            order_id: order.id(),
            payment_method_type_id,
            max_amount: Decimal::cents(cents),
            status_id,
            created_date: order.placed.after(Time::SECOND),
        });
    };
    pay(0, draw.weighted(PAYMENTS), grand - shared);
    if shared > 0 {
        pay(1, "GIFT_CARD", shared);
    }
}
