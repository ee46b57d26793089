//! An order's amounts: adjustments, payment preferences and payments.

use crate::sample::batch::{Batch, row};
use crate::sample::ids::{self, Id, SeqId};
use crate::sample::money::cents;
use crate::sample::orders::lifecycle::{Fulfillment, OrderState};
use crate::sample::orders::order::{Order, SampleItem};
use crate::sample::rng::SampleRng;
use crate::sample::sample_time::SampleTime;

const PAYMENTS: &[(u32, &str)] =
    &[(70, "CREDIT_CARD"), (15, "EXT_PAYPAL"), (8, "GIFT_CARD"), (4, "EXT_COD"), (3, "EXT_OFFLINE")];

/// The totals of an order, in cents.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct OrderTotals {
    /// The sum of the items that are not cancelled.
    pub(in crate::sample) items: i64,
    /// The same with all adjustments.
    pub(in crate::sample) grand: i64,
}

/// When an order got its present state, and in which currency it is paid.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Paid {
    pub(in crate::sample) at: SampleTime,
    pub(in crate::sample) currency: &'static str,
}

/// How a part of an order is to be paid.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Share {
    preference: Id,
    means: &'static str,
    /// In cents.
    amount: i64,
}

/// Writes adjustments and payment preferences, and returns the order's totals and how they are to be paid.
pub(in crate::sample) fn write(batch: &mut Batch, rng: &mut SampleRng, order: &Order) -> (OrderTotals, Vec<Share>) {
    let is_sold = |item: &&SampleItem| !matches!(order.fulfillment(item), Fulfillment::Cancelled(_));
    let items: i64 =
        order.items.iter().filter(is_sold).map(|item| i64::from(item.price) * i64::from(item.quantity)).sum();
    let mut grand = items;
    let mut adjustments = 0;
    let mut adjust = |kind: &str, item: Option<usize>, group: Option<SeqId>, description: &str, amount: i64| {
        adjustments += 1;
        grand += amount;
        batch.push(row!(order_adjustment {
            order_adjustment_id: order.id().part(adjustments),
            order_adjustment_type_id: kind,
            order_id: order.id(),
            order_item_seq_id: item.map(SeqId::at),
            ship_group_seq_id: group,
            description,
            amount: cents(amount),
            created_date: order.placed,
        }));
    };
    if rng.percent(70) {
        adjust("SHIPPING_CHARGES", None, Some(SeqId::at(0)), "Shipping", rng.pick(&[495, 695, 995, 1_495]));
    }
    if rng.percent(60) {
        adjust("SALES_TAX", Some(0), None, "Sales tax", items * 8 / 100);
    }
    if rng.percent(15) {
        adjust("PROMOTION_ADJUSTMENT", None, None, "10 % off", -(items / 10));
    }
    let shares = preferences(batch, rng, order, grand);
    (OrderTotals { items, grand }, shares)
}

/// Writes the payments of an order that was approved: their moment is the moment of the order's completion, and null until then.
pub(in crate::sample) fn write_payments(batch: &mut Batch, order: &Order, shares: &[Share], paid: Paid) {
    let (status_id, effective_date) = match order.state {
        OrderState::Completed => ("PMNT_RECEIVED", Some(paid.at)),
        OrderState::Approved | OrderState::Sent => ("PMNT_NOT_PAID", None),
        _ => return,
    };
    for Share { preference, means, amount } in shares.iter().copied() {
        batch.push(row!(payment {
            payment_id: preference,
            payment_type_id: "CUSTOMER_PAYMENT",
            payment_method_type_id: means,
            payment_preference_id: preference,
            party_id_from: ids::party(order.customer),
            party_id_to: ids::COMPANY,
            status_id,
            effective_date,
            amount: cents(amount),
            currency_uom_id: paid.currency,
        }));
    }
}

/// Writes one payment preference, or two that share the total.
fn preferences(batch: &mut Batch, rng: &mut SampleRng, order: &Order, grand: i64) -> Vec<Share> {
    let shared = if rng.percent(7) { grand / 3 } else { 0 };
    let status_id = match order.state {
        OrderState::Completed => "PAYMENT_SETTLED",
        OrderState::Approved | OrderState::Sent => "PAYMENT_AUTHORIZED",
        OrderState::Cancelled | OrderState::Expired => "PAYMENT_CANCELLED",
        OrderState::Rejected => "PAYMENT_DECLINED",
        OrderState::Created | OrderState::Processing | OrderState::Authorized | OrderState::Hold | OrderState::Held => {
            "PAYMENT_NOT_AUTH"
        }
    };
    let mut shares = Vec::with_capacity(2);
    let mut pay = |part, means, amount: i64| {
        let preference = order.id().part(part);
        shares.push(Share { preference, means, amount });
        batch.push(row!(order_payment_preference {
            order_payment_preference_id: preference,
            order_id: order.id(),
            payment_method_type_id: means,
            max_amount: cents(amount),
            status_id,
            created_date: order.placed.after(SampleTime::SECOND),
        }));
    };
    pay(0, rng.weighted(PAYMENTS), grand - shared);
    if shared > 0 {
        pay(1, "GIFT_CARD", shared);
    }
    shares
}
