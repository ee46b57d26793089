//! An order's header, roles, status history and identifications.

use crate::sample::batch::row;
use crate::sample::calendar;
use crate::sample::ids::{self, Id};
use crate::sample::money::cents;
use crate::sample::orders::amounts::{OrderTotals, Paid};
use crate::sample::orders::lifecycle::OrderState;
use crate::sample::orders::order::{Order, OrderWriter};
use crate::sample::sample_time::SampleTime;
use crate::sample::vocabulary::ORDER_NAMES;

const CHANNELS: &[(u32, Option<&str>)] = &[
    (70, Some("WEB_SALES_CHANNEL")),
    (12, Some("POS_SALES_CHANNEL")),
    (8, Some("PHONE_SALES_CHANNEL")),
    (5, Some("EMAIL_SALES_CHANNEL")),
    (5, None),
];

/// Writes the rows of the header, roles, status history and identifications. Returns what its payments need.
pub(in crate::sample) fn write(out: &mut OrderWriter<'_>, order: &Order, totals: OrderTotals) -> Paid {
    let order_id = order.id();
    let entered = order.placed;
    let changed = write_status_history(out, order);
    let is_cancelled = matches!(order.state, OrderState::Cancelled | OrderState::Rejected | OrderState::Expired);
    let currency;
    out.batch.push(row!(order_header {
        order_id,
        order_type_id: "SALES_ORDER",
        order_name: match out.rng.below(100) {
            0..10 => None,
            10..35 => Some(out.rng.pick(ORDER_NAMES).to_owned()),
            _ => Some(format!("#{}", 1_000 + order.number)),
        },
        external_id: order.is_imported.then(|| channel_id(order.number)),
        sales_channel_enum_id: out.rng.weighted(CHANNELS),
        order_date: out.rng.percent(99).then_some(order.placed),
        priority: out.rng.percent(10).then(|| out.rng.pick(&["1", "2", "3"])),
        entry_date: entered,
        status_id: order.state.status_id(),
        created_by: out.rng.percent(90).then_some("sample"),
        currency_uom: {
            currency = if out.rng.percent(97) { "USD" } else { "EUR" };
            currency
        },
        origin_facility_id: out.rng.percent(12).then(|| ids::facility(out.rng.below(out.context.size.facilities))),
        product_store_id: out.rng.percent(98).then(|| ids::store(order.store)),
        remaining_sub_total: out.rng.percent(95).then(|| cents(if is_cancelled { 0 } else { totals.items })),
        grand_total: out.rng.percent(98).then(|| cents(totals.grand)),
        last_updated_stamp: changed,
        created_stamp: entered,
    }));
    let mut role = |party, role_type_id: &str| {
        out.batch.push(row!(order_role { order_id, party_id: ids::party(party), role_type_id, from_date: entered }));
    };
    // Some customers paid in cash and are unknown.
    if out.rng.per_mille(990) {
        role(order.customer, "BILL_TO_CUSTOMER");
    }
    role(order.recipient, "SHIP_TO_CUSTOMER");
    write_identifications(out, order);
    Paid { at: changed, currency }
}

/// The order's id at the sales channel.
fn channel_id(number: u32) -> Id {
    Id::with_width("51", number.into(), 11)
}

/// Writes the status history and returns the time of the current status.
fn write_status_history(out: &mut OrderWriter<'_>, order: &Order) -> SampleTime {
    let mut time = order.placed;
    let states = [OrderState::Created].iter().chain(order.state.history());
    for (part, state) in (0..).zip(states) {
        if part > 0 {
            time = calendar::within_hours(out.rng, time, if *state == OrderState::Completed { 90 } else { 6 });
        }
        let is_cancelled = matches!(state, OrderState::Cancelled | OrderState::Rejected);
        out.batch.push(row!(order_status {
            order_status_id: order.id().part(part),
            status_id: state.status_id(),
            order_id: order.id(),
            status_datetime: time,
            status_user_login: out.rng.percent(80).then_some("sample"),
            change_reason: (is_cancelled && out.rng.percent(60)).then_some("Customer asked for it"),
        }));
    }
    time
}

/// Writes the order's identifications at sales channels. A changed name has expired.
fn write_identifications(out: &mut OrderWriter<'_>, order: &Order) {
    if !order.is_imported {
        return;
    }
    let order_id = order.id();
    let mut identify = |kind: &str, id_value: Id, from_date: SampleTime, thru_date: Option<SampleTime>| {
        out.batch.push(row!(order_identification {
            order_identification_type_id: kind,
            order_id,
            id_value,
            from_date,
            thru_date,
        }));
    };
    identify("SHOPIFY_ORD_ID", channel_id(order.number), order.placed, None);
    let name = Id::with_width("#", (1_000 + order.number).into(), 1);
    let renamed = out.rng.percent(3).then(|| calendar::within_hours(out.rng, order.placed, 48));
    if let Some(renamed) = renamed {
        identify("SHOPIFY_ORD_NAME", name.part(0), order.placed, Some(renamed));
    }
    identify("SHOPIFY_ORD_NAME", name, renamed.unwrap_or(order.placed), None);
    // A market place reuses its numbers.
    if out.rng.percent(10) {
        identify("MKT_PLACE", Id::with_width("MP", out.rng.below(5_000).into(), 4), order.placed, None);
    }
}
