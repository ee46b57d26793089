//! Applies an update inside one transaction: locks all rows it depends on, checks the rules, then writes.

pub(super) mod error;

mod audit;
mod change_set;
mod change_writer;
mod lock;
mod rules;
mod scope;
mod seq_id;
mod shipment_data;
mod stamps;

mod move_item;
mod new_box;
mod order_items;
mod package;
mod reject_item;
mod rejection_history;
mod rejection_queue;
mod shipment_status;
mod stock;

use std::collections::BTreeSet;

use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::change_writer::ChangeWriter;
use crate::orders::apply::error::ApplyError;
use crate::orders::apply::shipment_data::Shipment;
use crate::orders::apply::stamps::{insert, update};
use crate::orders::options::UpdateOptions;
use crate::orders::outcome::Note;
use crate::orders::update_request::UpdateRequest;

// OFBiz's history rows reference its login for the user, which is disabled.
const CREATE_LOGIN: &str =
    concat!(insert!("user_login", "user_login_id, enabled", VALUES "$1, 'N'"), " ON CONFLICT DO NOTHING");
// Programs that poll the orders by stamp notice what happened to their items and shipments.
const STAMP_ORDERS: &str = update!("order_header", "order_id = ANY($1)");

/// Applies an update. Writes nothing if the caller does not see one of its rows, or the rules reject any.
pub(super) async fn apply(
    transaction: &Transaction<'_>,
    options: UpdateOptions,
    actor: &Actor,
    request: &UpdateRequest,
) -> Result<Vec<Note>, ApplyError> {
    let mut locked = lock::lock(transaction, request, &actor.scope).await?;
    scope::check(transaction, &actor.scope, request, &mut locked).await?;
    let mut change_set = rules::check(request, &locked).map_err(ApplyError::Rejected)?;
    let mut writer = ChangeWriter::new(transaction, options, actor);
    writer.execute(CREATE_LOGIN, &[&actor.user_id]).await?;
    let mut changed = change_set.changed_shipments.clone();
    let is_approved = |shipment_id: &str| {
        let status = locked.shipments.get(shipment_id).and_then(|shipment| shipment.status_id.as_deref());
        status == Some(shipment_status::APPROVED)
    };
    for row in change_set.boxes {
        // Of a shipment that loses or gains items the status is set below.
        let is_approved =
            is_approved(&row.shipment_id) && !change_set.changed_shipments.contains(row.shipment_id.as_str());
        if package::change_box(&mut writer, row, is_approved).await? {
            changed.insert(&row.shipment_id);
        }
    }
    for new_box in &change_set.new_boxes {
        let shipment_id = new_box::add(&mut writer, new_box).await?;
        change_set.notes.push(Note::NewBox { row: new_box.row.index, shipment_id });
        changed.insert(&new_box.row.shipment_id);
    }
    for item_move in &change_set.moves {
        move_item::move_item(&mut writer, item_move).await?;
    }
    reject_item::reject(&mut writer, &change_set.rejections).await?;
    let places = change_set.rejections.iter().filter_map(|rejection| rejection.place);
    let rejected_of: BTreeSet<&str> = places.map(|(shipment_id, _)| shipment_id).collect();
    for shipment_id in &change_set.changed_shipments {
        // The store goes on with the items that are left. Its app lists approved shipments alone, and does not approve them itself.
        let is_approved = rejected_of.contains(shipment_id) && is_approved(shipment_id);
        shipment_status::update(&mut writer, shipment_id, is_approved).await?;
    }
    for shipment_id in change_set.removals {
        writer.record(UpdateChange::BoxRemoved { shipment_id: shipment_id.to_owned() });
        shipment_status::cancel(&mut writer, shipment_id).await?;
        changed.insert(shipment_id);
    }
    let shipments = changed.iter().filter_map(|shipment_id| locked.shipments.get(*shipment_id));
    let mut orders: BTreeSet<&str> = shipments.flat_map(Shipment::order_ids).collect();
    // Rejected order items may be in no shipment.
    orders.extend(change_set.rejections.iter().flat_map(ItemRejection::order_ids));
    let orders: Vec<&str> = orders.into_iter().collect();
    writer.execute(STAMP_ORDERS, &[&orders]).await?;
    writer.finish(request).await?;
    Ok(change_set.notes)
}
