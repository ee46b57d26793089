//! Violations of the rules of an order update, by row.

use std::fmt;

use thiserror::Error;

use crate::orders::update_row::RowId;

/// A violation of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The row.
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
        /// The reason in the request.
        reason: String,
        /// The existing reasons, separated by commas.
        known: String,
    },
    /// The item is not in the shipment.
    #[error("there is no item {item} in the shipment {shipment}")]
    ItemNotInShipment {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// The row means all items of a shipment without items.
    #[error("the shipment {0} has no items")]
    EmptyShipment(String),
    /// The shipment starts at another facility.
    #[error("the shipment {shipment} starts at {}, not at {requested}", .actual.as_deref().unwrap_or("no facility"))]
    OtherFacility {
        /// The shipment.
        shipment: String,
        /// The shipment's facility.
        actual: Option<String>,
        /// The facility in the request.
        requested: String,
    },
    /// The shipment is not in progress.
    #[error("the shipment {shipment} is {}, and no longer in progress", .status.as_deref().unwrap_or("without a status"))]
    NotInProgress {
        /// The shipment.
        shipment: String,
        /// The shipment's status.
        status: Option<String>,
    },
    /// The order is completed, cancelled or rejected.
    #[error("the order {order} is {status}, and no longer in progress")]
    OrderNotInProgress {
        /// The order.
        order: String,
        /// The order's status.
        status: String,
    },
    /// The order item is not approved.
    #[error(
        "the order item {order_item} of the order {order} is {}, and only approved ones can be rejected or moved",
        .status.as_deref().unwrap_or("without a status")
    )]
    NotApproved {
        /// The order.
        order: String,
        /// The order item's sequence id.
        order_item: String,
        /// The order item's status.
        status: Option<String>,
    },
    /// Some order items of a ship group that may not be split are rejected, and this one is not.
    #[error(
        "the ship group {ship_group} of the order {order} may not be split, so its order item {order_item} must be \
         rejected in the same request"
    )]
    WouldSplit {
        /// The order.
        order: String,
        /// The ship group's sequence id.
        ship_group: String,
        /// The sequence id of the order item that is not rejected.
        order_item: String,
    },
    /// The item and its new shipment belong to different ship groups, which have addresses and methods of their own.
    #[error(
        "the item {item} of the shipment {from} is of the ship group {ship_group}, and the shipment {to} of {to_ship_group}"
    )]
    OtherShipGroup {
        /// The item's shipment.
        from: String,
        /// The item's sequence id.
        item: String,
        /// The item's ship group.
        ship_group: String,
        /// The new shipment.
        to: String,
        /// The new shipment's ship group.
        to_ship_group: String,
    },
    /// The shipments belong to different orders.
    #[error("the shipments {from} and {to} are not of the same order")]
    OtherOrder {
        /// The item's shipment.
        from: String,
        /// The new shipment.
        to: String,
    },
    /// The item of a shipment belongs to no order item.
    #[error("the item {item} of the shipment {shipment} belongs to no order item")]
    NoOrderItem {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// The item was issued from or received at the facility already.
    #[error("the item {item} of the shipment {shipment} has been issued or received already")]
    Issued {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
    },
    /// The order item is in no ship group.
    #[error("the order item {order_item} of the order {order} is in no ship group")]
    NoShipGroup {
        /// The order.
        order: String,
        /// The order item's sequence id.
        order_item: String,
    },
    /// The order item is in several ship groups, so it cannot move as a whole.
    #[error("the order item {order_item} of the order {order} is spread over several ship groups; split it first")]
    SeveralShipGroups {
        /// The order.
        order: String,
        /// The order item's sequence id.
        order_item: String,
    },
    /// A part of the order item is in another shipment's item that is not rejected, so it cannot move as a whole.
    #[error(
        "the order item {order_item} of the order {order} is in the item {item} of the shipment {shipment} too, and can \
         only be rejected together with it"
    )]
    PartElsewhere {
        /// The order.
        order: String,
        /// The order item's sequence id.
        order_item: String,
        /// The other shipment.
        shipment: String,
        /// The other shipment's item.
        item: String,
    },
    /// Another row changes the same item.
    #[error("the item {item} of the shipment {shipment} is in the row {other} already")]
    DuplicateItem {
        /// The shipment.
        shipment: String,
        /// The item's sequence id.
        item: String,
        /// The other row.
        other: RowId,
    },
}

impl Violation {
    /// Whether the row names something that does not exist. A missing item is a conflict instead: it may have existed when
    /// the client read the shipment, and another update removed it.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(
            self.cause,
            ViolationCause::UnknownShipment(_)
                | ViolationCause::UnknownBoxType(_)
                | ViolationCause::UnknownReason { .. }
        )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} of {}: {}", self.row.index, self.row.kind, self.cause)
    }
}
