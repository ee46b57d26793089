//! Applies an update inside one transaction: locks all rows it depends on, checks the rules, then writes.

pub(super) mod error;

mod audit;
mod change_set;
mod lock;
mod rules;
mod seq_id;
mod shipment_data;

mod change_box;
mod move_item;
mod reject_item;
mod shipment_status;
mod stock;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::ChangeLog;
use crate::orders::apply::error::ApplyError;
use crate::orders::options::UpdateOptions;
use crate::orders::update_request::UpdateRequest;

/// Applies an update. Writes nothing if the rules reject any row.
pub(super) async fn apply(
    transaction: &Transaction<'_>,
    options: UpdateOptions,
    actor: &Actor,
    request: &UpdateRequest,
) -> Result<(), ApplyError> {
    let locked = lock::lock(transaction, request).await?;
    let change_set = rules::check(request, &locked).map_err(ApplyError::Rejected)?;
    ensure_login(transaction, actor).await?;
    let mut log = ChangeLog::default();
    for row in &change_set.boxes {
        change_box::change(transaction, actor, row, &mut log).await?;
    }
    for item_move in &change_set.moves {
        move_item::move_item(transaction, item_move, &mut log).await?;
    }
    reject_item::reject(transaction, options, actor, &change_set.rejections, &mut log).await?;
    for shipment_id in &change_set.changed_shipments {
        shipment_status::update(transaction, actor, shipment_id, &mut log).await?;
    }
    log.write(transaction, actor, request).await?;
    Ok(())
}

/// Creates OFBiz's login for the user, which OFBiz's history rows reference. It is disabled.
async fn ensure_login(transaction: &Transaction<'_>, actor: &Actor) -> Result<(), DatabaseError> {
    transaction
        .execute(
            "INSERT INTO user_login (user_login_id, enabled, created_stamp, created_tx_stamp, last_updated_stamp, \
             last_updated_tx_stamp) VALUES ($1, 'N', now(), now(), now(), now()) ON CONFLICT DO NOTHING",
            &[&actor.user_id],
        )
        .await?;
    Ok(())
}
