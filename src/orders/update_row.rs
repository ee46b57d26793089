//! The typed rows of an order update.

use std::fmt;

/// The kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum UpdateRowKind {
    /// `box`: sets a box type.
    Box,
    /// `add`: adds a box.
    NewBox,
    /// `rej`: rejects items.
    Rejection,
    /// `rtp` (ready to pack): moves items to another shipment.
    Move,
    /// `rem`: removes an empty box.
    Removal,
}

impl UpdateRowKind {
    /// All kinds.
    pub(crate) const ALL: [Self; 5] = [Self::Box, Self::NewBox, Self::Rejection, Self::Move, Self::Removal];

    /// The kind's prefix in parameter names.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::NewBox => "add",
            Self::Rejection => "rej",
            Self::Move => "rtp",
            Self::Removal => "rem",
        }
    }
}

impl fmt::Display for UpdateRowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix())
    }
}

/// Identifies a row of a request. Its text is `rej 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RowId {
    /// The row's kind.
    pub(crate) kind: UpdateRowKind,
    /// The row's index, which is unique within its kind.
    pub(crate) index: u32,
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.index)
    }
}

/// Sets the box type of a shipment's packages, or adds a box of the type beside the shipment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BoxRow {
    /// The row's index.
    pub(crate) index: u32,
    /// The shipment.
    pub(crate) shipment_id: String,
    /// The box type.
    pub(crate) box_type_id: String,
}

/// Rejects an item or all items of a shipment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RejectionRow {
    /// The row's index.
    pub(crate) index: u32,
    /// The shipment.
    pub(crate) shipment_id: String,
    /// The item's sequence id. `None` means every item.
    pub(crate) item_seq_id: Option<String>,
    /// The rejection reason.
    pub(crate) reason: String,
    pub(crate) options: RejectionOptions,
}

impl RejectionRow {
    pub(crate) const fn id(&self) -> RowId {
        RowId { kind: UpdateRowKind::Rejection, index: self.index }
    }
}

/// How the items of a row are rejected, and what is rejected with them. `None` leaves it to the ship group or the server's settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RejectionOptions {
    /// Whether the other items of the ship group stay where they are.
    pub(crate) may_split: Option<bool>,
    /// Whether the other order items of the same product at the facility are rejected, too.
    pub(crate) cascades: bool,
    /// Whether quantity on hand decreases if the reason says that the items are not there.
    pub(crate) lowers_quantity_on_hand: Option<bool>,
    /// For how many days the order items are not to be sent from the facility; 0 records nothing.
    pub(crate) exclusion_days: Option<u32>,
    pub(crate) comment: Option<String>,
}

/// Moves an item or all items of a shipment to another shipment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MoveRow {
    /// The row's index.
    pub(crate) index: u32,
    /// The item's shipment.
    pub(crate) shipment_id: String,
    /// The item's sequence id. `None` means every item.
    pub(crate) item_seq_id: Option<String>,
    /// The shipment to move to.
    pub(crate) new_shipment_id: String,
}

/// Removes a box without items.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemovalRow {
    /// The row's index.
    pub(crate) index: u32,
    /// The shipment.
    pub(crate) shipment_id: String,
}
