//! The outcome of an order update.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::database::wal_position::WalPosition;
use crate::orders::rejection::Rejection;
use crate::orders::update_row::UpdateRowKind;

/// The outcome of an order update.
#[derive(Debug)]
pub(crate) struct Updated {
    pub(crate) outcome: UpdateOutcome,
    /// A position in the write-ahead log behind the update, if it is wanted and could be found out.
    pub(crate) position: Option<WalPosition>,
}

/// The outcome of an order update. The same for a request and for its repeats with the same idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UpdateOutcome {
    /// All rows were applied, with what the client cannot tell from them.
    Applied(Vec<Note>),
    /// Nothing was changed.
    Rejected(Rejection),
}

/// An effect of an applied update beside its rows. Its JSON is stored; do not rename its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Note {
    /// A box was added, which is this shipment.
    NewBox { row: u32, shipment_id: String },
    /// An order item was rejected together with the items of a row, because its ship group may not be split.
    RejectedToo { row: u32, order_id: String, order_item_seq_id: String, ship_group_seq_id: String },
    /// An order item was rejected together with the items of a row, because it is of the same product.
    SameProduct { row: u32, order_id: String, order_item_seq_id: String, product_id: String },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewBox { row, shipment_id } => {
                write!(
                    f,
                    "row {row} of {}: the new box is the shipment {shipment_id}; it is empty until an item is moved there, and a row \
                     with {}_shipmentId_<n> removes it",
                    UpdateRowKind::NewBox,
                    UpdateRowKind::Removal
                )
            }
            Self::RejectedToo { row, order_id, order_item_seq_id, ship_group_seq_id } => write!(
                f,
                "row {row} of {}: the order item {order_item_seq_id} of the order {order_id} is rejected too, because its ship \
                 group {ship_group_seq_id} may not be split",
                UpdateRowKind::Rejection
            ),
            Self::SameProduct { row, order_id, order_item_seq_id, product_id } => write!(
                f,
                "row {row} of {}: the order item {order_item_seq_id} of the order {order_id} is rejected too, because it is of the \
                 same product {product_id}",
                UpdateRowKind::Rejection
            ),
        }
    }
}
