//! The changes that an update makes, after its rules were checked.

use std::collections::BTreeSet;

use crate::orders::apply::shipment_data::{ShipmentItem, Variance};
use crate::orders::update_row::BoxRow;

/// The changes of an update.
pub(super) struct ChangeSet<'a> {
    /// Box types to set.
    pub(super) boxes: Vec<&'a BoxRow>,
    /// Items to move, without those that are in their new shipment already.
    pub(super) moves: Vec<ItemMove<'a>>,
    /// Items to reject.
    pub(super) rejections: Vec<ItemRejection<'a>>,
    /// The shipments that lose or gain an item.
    pub(super) changed_shipments: BTreeSet<&'a str>,
}

/// An item to move.
pub(super) struct ItemMove<'a> {
    /// The item's shipment.
    pub(super) from: &'a str,
    pub(super) item: &'a ShipmentItem,
    /// The new shipment.
    pub(super) to: &'a str,
}

/// An item to reject.
pub(super) struct ItemRejection<'a> {
    /// The row's index.
    pub(super) row_index: u32,
    pub(super) shipment_id: &'a str,
    pub(super) facility_id: &'a str,
    pub(super) item: &'a ShipmentItem,
    pub(super) reason: &'a str,
    pub(super) variance: Variance,
}
