//! Violations of the rules of an order update, by row.

use std::fmt;

use thiserror::Error;

use crate::error::code::ErrorCode;
use crate::orders::error::MAX_ROWS;
use crate::orders::ids::{OrderItemId, ShipmentItemId};
use crate::orders::rejection::Rejection;
use crate::orders::update_row::RowId;

/// The statuses of shipments before packing. `SHIPMENT_APPROVED` is not in stock OFBiz.
pub(super) const IN_PROGRESS: [&str; 4] =
    ["SHIPMENT_INPUT", "SHIPMENT_SCHEDULED", "SHIPMENT_PICKED", "SHIPMENT_APPROVED"];

const PACKED: &str = "SHIPMENT_PACKED";

/// A violation of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpdateViolation {
    pub(crate) row: RowId,
    /// The violated rule.
    pub(crate) cause: ViolationCause,
}

/// The violated rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Error)]
pub(crate) enum ViolationCause {
    /// The shipment does not exist.
    #[error("there is no shipment {0}")]
    UnknownShipment(String),
    /// The box type does not exist.
    #[error("there is no box type {0}")]
    UnknownBoxType(String),
    /// The rejection reason does not exist.
    #[error("there is no rejection reason {reason}; there are {known}")]
    UnknownReason {
        reason: String,
        /// The existing reasons, separated by commas.
        known: String,
    },
    /// The item is not in the shipment.
    #[error("there is no item {item} in the shipment {shipment}")]
    ItemNotInShipment { shipment: String, item: String },
    /// The row means all items of a shipment without items.
    #[error("the shipment {0} has no items")]
    EmptyShipment(String),
    /// The shipment starts at another facility.
    #[error("the shipment {shipment} starts at {}, not at {requested}", .actual.as_deref().unwrap_or("no facility"))]
    OtherFacility { shipment: String, actual: Option<String>, requested: String },
    /// The shipment is not in progress.
    #[error(
        "the shipment {shipment} is {}, and no longer in progress{}",
        .status.as_deref().unwrap_or("without a status"), if status.as_deref() == Some(PACKED) { "; unpack it first" } else { "" }
    )]
    NotInProgress { shipment: String, status: Option<String> },
    /// The order is sent, completed, cancelled, rejected or expired.
    #[error("the order {order} is {status}, and no longer in progress")]
    OrderNotInProgress { order: String, status: String },
    /// The order item is not approved.
    #[error(
        "{order_item} is {}, and only approved ones can be rejected or moved",
        .status.as_deref().unwrap_or("without a status")
    )]
    NotApproved { order_item: OrderItemId, status: Option<String> },
    /// The item and its new shipment belong to different ship groups, which have addresses and methods of their own.
    #[error("{item} is of the ship group {ship_group}, and the shipment {to} of {to_ship_group}")]
    OtherShipGroup { item: ShipmentItemId, ship_group: String, to: String, to_ship_group: String },
    /// The shipments belong to different orders.
    #[error("the shipments {from} and {to} are not of the same order")]
    OtherOrder { from: String, to: String },
    /// The item of a shipment belongs to no order item.
    #[error("{0} belongs to no order item")]
    NoOrderItem(ShipmentItemId),
    /// The item was issued from or received at the facility already.
    #[error("{0} has been issued or received already")]
    Issued(ShipmentItemId),
    /// The order item is in no ship group.
    #[error("{0} is in no ship group")]
    NoShipGroup(OrderItemId),
    /// The order item is in several ship groups, so it cannot move as a whole.
    #[error("{0} is spread over several ship groups; split it first")]
    SeveralShipGroups(OrderItemId),
    /// A part of the order item is in another shipment's item that is not rejected, so it cannot move as a whole.
    #[error("{order_item} is in {item} too{}", way_out(.status.as_deref()))]
    PartElsewhere {
        order_item: OrderItemId,
        item: ShipmentItemId,
        /// The other shipment's status.
        status: Option<String>,
    },
    /// A part of the order item is in another shipment, which the caller does not see.
    #[error("{order_item} is in another shipment too, which is not among those that your user groups may change")]
    PartUnseen { order_item: OrderItemId },
    /// More order items would be rejected by product, or with those, than one update may reject so.
    #[error(
        "with the approved items of the same product at {0}, more than {MAX_ROWS} order items would be rejected, or too many are \
         packed to look for the others; reject them in several updates, without cascadeRejectByProduct"
    )]
    TooManyOfProduct(String),
    /// The box to remove has items.
    #[error(
        "the shipment {0} has items, and only an empty one can be removed; it is cancelled when its last item is rejected or moved"
    )]
    NotEmpty(String),
    /// The box to remove is to get items.
    #[error("the row {other} moves items to the shipment {shipment}, so that it cannot be removed")]
    MoveTarget { shipment: String, other: RowId },
    /// Another row changes the same item.
    #[error("{item} is in the row {other} already")]
    DuplicateItem { item: ShipmentItemId, other: RowId },
}

/// Advice about a part of an order item that is in another shipment.
fn way_out(status: Option<&str>) -> String {
    match status {
        Some(status) if IN_PROGRESS.contains(&status) => "; reject both in the same request".to_owned(),
        Some(PACKED) => format!(", which is {PACKED}; unpack that shipment, then reject both in the same request"),
        status => format!(
            ", which is {}, so that it cannot be rejected any more; split the order item first",
            status.unwrap_or("without a status")
        ),
    }
}

impl From<&[UpdateViolation]> for Rejection {
    fn from(violations: &[UpdateViolation]) -> Self {
        let is_not_found = violations.iter().all(UpdateViolation::is_not_found);
        Self::new(if is_not_found { ErrorCode::NotFound } else { ErrorCode::Conflict }, violations)
    }
}

impl UpdateViolation {
    /// Whether the row names something that does not exist. A missing item is a conflict instead: it may have existed when
    /// the client read the shipment, and another update removed it.
    fn is_not_found(&self) -> bool {
        matches!(
            self.cause,
            ViolationCause::UnknownShipment(_)
                | ViolationCause::UnknownBoxType(_)
                | ViolationCause::UnknownReason { .. }
        )
    }
}

impl fmt::Display for UpdateViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} of {}: {}", self.row.index, self.row.kind, self.cause)
    }
}
