//! How to reach the customer of an order, and what was noted about it.

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::Draw;
use crate::sample::field::Id;
use crate::sample::ids;
use crate::sample::orders::Order;
use crate::sample::people;
use crate::sample::tables::{NoteData, OrderContactMech, OrderHeaderNote};
use crate::sample::words::NOTES;

/// Writes them.
pub(in crate::sample) fn write(batch: &mut Batch, draw: &mut Draw, order: &Order) {
    let order_id = order.id();
    let mut reach = |contact_mech_purpose_type_id, contact_mech_id| {
        batch.push(&OrderContactMech { order_id, contact_mech_purpose_type_id, contact_mech_id });
    };
    reach("SHIPPING_LOCATION", ids::address(order.recipient));
    reach("ORDER_EMAIL", ids::mailbox(order.customer));
    if people::has_telephone(order.recipient) && draw.percent(40) {
        reach("PHONE_SHIPPING", ids::telephone(order.recipient));
    }
    let notes = draw.weighted(&[(93, 0), (5, 1), (2, 2)]);
    for part in 0..notes {
        let note_id = Id::new("SN", order.number.into()).part(part);
        batch.push(&NoteData {
            note_id,
            note_info: draw.pick(NOTES),
            note_date_time: calendar::within(draw, order.placed, 100),
            note_party: draw.percent(50).then(|| ids::party(order.customer)),
        });
        batch.push(&OrderHeaderNote { order_id, note_id, internal_note: draw.percent(50) });
    }
}
