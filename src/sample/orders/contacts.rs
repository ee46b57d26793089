//! An order's contacts and notes.

use crate::sample::batch::{Batch, row};
use crate::sample::calendar;
use crate::sample::customers;
use crate::sample::ids::{self, Id};
use crate::sample::orders::order::Order;
use crate::sample::rng::SampleRng;
use crate::sample::vocabulary::NOTES;

/// Writes the rows of the contacts and notes.
pub(in crate::sample) fn write(batch: &mut Batch, rng: &mut SampleRng, order: &Order) {
    let order_id = order.id();
    let mut contact = |contact_mech_purpose_type_id: &str, contact_mech_id: Id| {
        batch.push(row!(order_contact_mech { order_id, contact_mech_purpose_type_id, contact_mech_id }));
    };
    contact("SHIPPING_LOCATION", ids::address(order.recipient));
    contact("ORDER_EMAIL", ids::email(order.customer));
    if customers::has_telephone(order.recipient) && rng.percent(40) {
        contact("PHONE_SHIPPING", ids::telephone(order.recipient));
    }
    let notes = rng.weighted(&[(93, 0), (5, 1), (2, 2)]);
    for part in 0..notes {
        let note_id = Id::new("SN", order.number.into()).part(part);
        batch.push(row!(note_data {
            note_id,
            note_info: rng.pick(NOTES),
            note_date_time: calendar::within_hours(rng, order.placed, 100),
            note_party: rng.percent(50).then(|| ids::party(order.customer)),
        }));
        batch.push(row!(order_header_note { order_id, note_id, internal_note: rng.percent(50) }));
    }
}
