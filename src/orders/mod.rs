//! The order update: what a store does all day to orders in progress, as one form and one transaction.
//!
//! [`form`] reads the body into parameters, [`command`] the parameters into typed rows, [`apply`] the rows into tables, all
//! of them or none, [`idempotency`] gives a repeat its first answer, and [`answer`] writes what the client sees.
//!
//! ## What each table sees
//!
//! **A rejected item** (`rej` row; every item of the shipment where no sequence id is given):
//!
//! | table | what happens |
//! |---|---|
//! | `shipment_package_content`, `order_shipment`, `shipment_item` | the item's rows are deleted |
//! | `order_item_ship_group` | the order's newest group at `REJECTED_ITM_PARKING` (`PICKUP_REJECTED` for store pickup) with the same shipping method takes the item; where there is none, the item's group is copied |
//! | `order_item`, `order_item_ship_group_assoc`, `order_adjustment` | the line and its own adjustments move to that group; its status stays. A line moves as a whole: one that is in other shipments too is rejected there in the same request or not at all, and one that is spread over several groups is refused |
//! | `order_facility_change` | a row keyed to the new group: from, to, reason, user, time |
//! | `order_item_ship_grp_inv_res` | the line's reservations are deleted |
//! | `inventory_item_detail`, `inventory_item` | available-to-promise gains what was reserved |
//! | `inventory_item_variance`, `inventory_item_detail`, `inventory_item` | by the reason's type, available-to-promise loses nothing (`REPORT_NO_VAR`), the quantity (`REPORT_VAR`) or all that was counted (`REPORT_ALL_VAR`); quantity on hand is for a stock count to change |
//! | `product_facility` | the last count of every pair whose stock has changed follows available-to-promise |
//! | `picklist_item` | the line's rows become `PICKITEM_CANCELLED` |
//! | `shipment`, `shipment_status` | back to `SHIPMENT_INPUT`, labels void; without items `SHIPMENT_CANCELLED` |
//!
//! **A changed box** (`box` row whose type differs): `shipment_package.shipment_box_type_id` is set (a shipment without a
//! package gets one), the labels in `shipment_package_route_seg` and the tracking number of `shipment_route_segment` are
//! cleared, and the shipment goes back to `SHIPMENT_INPUT`.
//!
//! **A moved item** (`rtp` row): the `shipment_item` is made anew in the other shipment under its next sequence id,
//! `order_shipment`, the reservation's shipment and the package contents follow, and both shipments go back to
//! `SHIPMENT_INPUT`; one left empty is cancelled.
//!
//! ## Locks
//!
//! Always in this order, and by id within each: the idempotency key, orders, shipments, the user's log-in where it is new,
//! inventory items, pairs of product and facility. Two updates of one order wait for each other and never deadlock; one
//! that meets a row which somebody else has made or taken away meanwhile is tried again, a bounded number of times.

pub mod answer;
pub mod apply;
pub mod command;
pub mod update_form;
pub mod idempotency;

use std::time::Duration;

use thiserror::Error;
use tokio_postgres::error::SqlState;

use crate::database::error::DatabaseError;
use crate::database::writer_pool::WriterPool;
use crate::orders::answer::Answer;
use crate::orders::apply::{Actor, ApplyError};
use crate::orders::command::Update;
use crate::orders::update_form::UpdateForm;

/// How often an update is tried that collides with others.
const MOST_ATTEMPTS: usize = 5;

/// How long an update waits for another one's locks before it gives way.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Why an update came to no answer. Nothing of it was applied.
#[derive(Debug, Error)]
pub enum UpdateError {
    /// The database is away, has no room, or other updates hold what this one needs.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An idempotency key that was used for other parameters.
    #[error("this Idempotency-Key was used with other parameters")]
    KeyReused,
    /// Rows that this program does not know of refer to what would be deleted.
    #[error("rows of {0} refer to what would be deleted")]
    Referred(String),
    /// A value that is known here and too long for a column there, such as a user's id.
    #[error("a value is too long for the database: {0}")]
    TooLong(String),
}

/// Applies an update in one transaction, or gives a repeat its first answer. Violations of the rules are answers too.
pub async fn update(
    writer: &WriterPool,
    actor: &Actor,
    key: Option<&str>,
    form: &UpdateForm,
    update: &Update,
) -> Result<Answer, UpdateError> {
    let mut attempt = 1;
    loop {
        match once(writer, actor, key, form, update).await {
            Err(UpdateError::Database(DatabaseError::Statement(error)))
                if attempt < MOST_ATTEMPTS && collided(&error) =>
            {
                attempt += 1;
            }
            Err(UpdateError::Database(DatabaseError::Statement(error))) => return Err(lasting(error)),
            outcome => return outcome,
        }
    }
}

/// What stays as it is, however often it is tried.
fn lasting(error: tokio_postgres::Error) -> UpdateError {
    let Some(cause) = error.as_db_error() else { return DatabaseError::from(error).into() };
    match *cause.code() {
        SqlState::FOREIGN_KEY_VIOLATION => UpdateError::Referred(cause.table().unwrap_or("a table").to_owned()),
        SqlState::STRING_DATA_RIGHT_TRUNCATION => UpdateError::TooLong(cause.message().to_owned()),
        _ => DatabaseError::from(error).into(),
    }
}

/// Whether an update gave way to others that held what it needs; it is worth trying again later.
pub fn gave_way(error: &tokio_postgres::Error) -> bool {
    collided(error) || error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

fn collided(error: &tokio_postgres::Error) -> bool {
    // A row that another update has made or taken away meanwhile is seen in the next attempt.
    let collisions = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
    ];
    error.code().is_some_and(|code| collisions.contains(code))
}

async fn once(
    writer: &WriterPool,
    actor: &Actor,
    key: Option<&str>,
    form: &UpdateForm,
    update: &Update,
) -> Result<Answer, UpdateError> {
    let mut connection = writer.connection().await?;
    if key.is_some() {
        idempotency::forget(&connection).await?;
    }
    let mut transaction = connection.transaction().await.map_err(DatabaseError::from)?;
    let lock_wait = format!("SET LOCAL lock_timeout = {}", LOCK_WAIT.as_millis());
    transaction.batch_execute(&lock_wait).await.map_err(DatabaseError::from)?;
    if let Some(key) = key
        && let Some(answer) = idempotency::claim(&transaction, actor, key, form).await?
    {
        return Ok(answer);
    }

    // What the rules refuse is undone, but its answer is kept for a repeat.
    let attempt = transaction.savepoint("attempt").await.map_err(DatabaseError::from)?;
    let answer = match apply::apply(&attempt, actor, form, update).await {
        Ok(()) => {
            attempt.commit().await.map_err(DatabaseError::from)?;
            answer::applied(form)
        }
        Err(ApplyError::Refused(violations)) => {
            attempt.rollback().await.map_err(DatabaseError::from)?;
            answer::refused(&violations)
        }
        Err(ApplyError::Database(error)) => return Err(DatabaseError::from(error).into()),
    };
    if let Some(key) = key {
        idempotency::keep(&transaction, actor, key, &answer).await?;
    }
    transaction.commit().await.map_err(DatabaseError::from)?;
    Ok(answer)
}
