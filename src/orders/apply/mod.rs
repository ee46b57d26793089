//! The rows of an order update into tables, inside one transaction: everything is locked and held against the rules before
//! the first row is written.

mod boxes;
mod inventory;
mod moves;
mod reject;
mod rules;
mod shipment;

use std::fmt;

use serde_json::{Value, json};
use thiserror::Error;
use tokio_postgres::{Error, Transaction};

use crate::orders::command::{Kind, Update};
use crate::orders::idempotency::canonical;
use crate::orders::update_form::UpdateForm;

/// Who updates, and from where.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The user.
    pub user_id: String,
    /// The client's address, where it is known.
    pub address: Option<String>,
}

/// Why nothing was applied.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The rules forbid it: all that they have against it. Never empty.
    #[error("{} rows cannot be applied", .0.len())]
    Refused(Vec<Violation>),
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// What the rules have against a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The row's kind.
    pub kind: Kind,
    /// The row's index.
    pub index: u32,
    /// What stands against it.
    pub fault: Fault,
}

/// What stands against a row.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// No such shipment.
    #[error("there is no shipment {0}")]
    NoShipment(String),
    /// No such box type.
    #[error("there is no box type {0}")]
    NoBoxType(String),
    /// No such rejection reason.
    #[error("there is no rejection reason {reason}; there are {known}")]
    NoReason {
        /// What was given.
        reason: String,
        /// What there is, with commas between.
        known: String,
    },
    /// The item is not in the shipment.
    #[error("there is no item {item} in the shipment {shipment}")]
    NoItem {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// All items are meant, and there are none.
    #[error("the shipment {0} has no items")]
    Empty(String),
    /// The shipment starts elsewhere.
    #[error("the shipment {shipment} starts at {}, not at {asked}", .starts.as_deref().unwrap_or("no facility"))]
    OtherFacility {
        /// The shipment.
        shipment: String,
        /// Where it starts.
        starts: Option<String>,
        /// Where it was said to start.
        asked: String,
    },
    /// The shipment is not in progress.
    #[error("the shipment {shipment} is {}, and no longer in progress", .status.as_deref().unwrap_or("without a status"))]
    NotInProgress {
        /// The shipment.
        shipment: String,
        /// Its status.
        status: Option<String>,
    },
    /// The shipments belong to different orders.
    #[error("the shipments {from} and {to} are not of the same order")]
    OtherOrder {
        /// Where the item is.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// Nothing says which order item a shipment's item is.
    #[error("the item {item} of the shipment {shipment} belongs to no order item")]
    Unlinked {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// The item has left the facility already, or has come to it.
    #[error("the item {item} of the shipment {shipment} has been issued or received already")]
    Issued {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// The order item is in no ship group that it could be moved from.
    #[error("the order item {line} of the order {order} is in no ship group")]
    Ungrouped {
        /// The order.
        order: String,
        /// The order item's sequence id.
        line: String,
    },
    /// The order item is in several ship groups, and moves as a whole.
    #[error("the order item {line} of the order {order} is spread over several ship groups; split it first")]
    Spread {
        /// The order.
        order: String,
        /// The order item's sequence id.
        line: String,
    },
    /// The order item moves as a whole, and a part of it would stay behind.
    #[error(
        "the order item {line} of the order {order} is in the item {item} of the shipment {shipment} too, and can only be \
         rejected together with it"
    )]
    PartElsewhere {
        /// The order.
        order: String,
        /// The order item's sequence id.
        line: String,
        /// The other shipment.
        shipment: String,
        /// The other shipment's item.
        item: String,
    },
    /// Two rows want the same item.
    #[error("the item {item} of the shipment {shipment} is in the row {other} already")]
    Twice {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
        /// The other row, such as `rej 0`.
        other: String,
    },
}

impl Violation {
    /// Whether something does not exist, rather than standing in the way. An item that is not in its shipment may have been
    /// there when the client looked: somebody else was first, which is a conflict.
    pub fn is_absence(&self) -> bool {
        matches!(self.fault, Fault::NoShipment(_) | Fault::NoBoxType(_) | Fault::NoReason { .. })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} of {}: {}", self.index, self.kind, self.fault)
    }
}

/// Applies an update: all of it, or nothing where the rules are against any of it.
pub async fn apply(
    transaction: &Transaction<'_>,
    actor: &Actor,
    form: &UpdateForm,
    update: &Update,
) -> Result<(), ApplyError> {
    let work = rules::lock(transaction, update).await?;
    know_user(transaction, actor).await?;
    let mut changes = Changes::default();
    for change in &work.boxes {
        boxes::change(transaction, actor, change, &mut changes).await?;
    }
    for moved in &work.moves {
        moves::apply(transaction, moved, &mut changes).await?;
    }
    reject::apply(transaction, actor, &work.rejections, &mut changes).await?;
    for shipment_id in &work.touched {
        shipment::settle(transaction, actor, shipment_id, &mut changes).await?;
    }
    audit(transaction, actor, form, changes).await?;
    Ok(())
}

/// What was changed, for the audit.
#[derive(Debug, Default)]
struct Changes(Vec<Value>);

impl Changes {
    fn add(&mut self, what: &str, facts: Value) {
        let mut change = json!({ "change": what });
        if let (Value::Object(change), Value::Object(facts)) = (&mut change, facts) {
            change.extend(facts);
        }
        self.0.push(change);
    }
}

/// OFBiz's history rows refer to its own log-ins, so a user of ours has one there, which nobody can sign in with.
async fn know_user(transaction: &Transaction<'_>, actor: &Actor) -> Result<(), Error> {
    transaction
        .execute(
            "INSERT INTO user_login (user_login_id, enabled, created_stamp, created_tx_stamp, last_updated_stamp, \
             last_updated_tx_stamp) VALUES ($1, 'N', now(), now(), now(), now()) ON CONFLICT DO NOTHING",
            &[&actor.user_id],
        )
        .await?;
    Ok(())
}

async fn audit(transaction: &Transaction<'_>, actor: &Actor, form: &UpdateForm, changes: Changes) -> Result<(), Error> {
    let (request, changes) = (canonical(form), Value::Array(changes.0).to_string());
    transaction
        .execute(
            "INSERT INTO orderql.order_update (user_id, address, request, changes) \
             VALUES ($1, $2, to_jsonb($3::text), $4::text::jsonb)",
            &[&actor.user_id, &actor.address, &request, &changes],
        )
        .await?;
    Ok(())
}

/// The number after the highest of some sequence ids, as OFBiz writes it: five digits.
fn next_seq_id(highest: Option<i64>) -> String {
    format!("{:05}", highest.unwrap_or(0) + 1)
}

/// SQL for the highest of some sequence ids that are numbers.
macro_rules! highest {
    ($column:literal) => {
        concat!("max(", $column, "::bigint) FILTER (WHERE ", $column, " ~ '^[0-9]{1,18}$')")
    };
}
use highest;
