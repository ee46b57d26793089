//! The changes that an update makes, after its rules were checked.

use std::collections::BTreeSet;

use crate::orders::apply::shipment_data::{OrderItemLink, ShipmentItem, Variance};
use crate::orders::outcome::Note;
use crate::orders::update_row::{BoxRow, RejectionRow};

/// The changes of an update.
pub(super) struct ChangeSet<'a> {
    /// Box types to set.
    pub(super) boxes: Vec<&'a BoxRow>,
    pub(super) new_boxes: Vec<NewBox<'a>>,
    /// Items to move, without items that are in their new shipment already.
    pub(super) moves: Vec<ItemMove<'a>>,
    pub(super) rejections: Vec<ItemRejection<'a>>,
    /// The empty boxes to remove.
    pub(super) removals: Vec<&'a str>,
    /// The shipments that lose or gain an item.
    pub(super) changed_shipments: BTreeSet<&'a str>,
    /// Facts that the client cannot tell from its rows.
    pub(super) notes: Vec<Note>,
}

/// A box to add beside a shipment.
pub(super) struct NewBox<'a> {
    pub(super) row: &'a BoxRow,
    /// The shipment's order.
    pub(super) order_id: Option<&'a str>,
    /// The shipment's ship group, if it has one.
    pub(super) ship_group_seq_id: Option<&'a str>,
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
    /// The row by which the item is rejected.
    pub(super) row: &'a RejectionRow,
    /// The shipment's id and the item's sequence id. An order item that is rejected with another one may be in no shipment.
    pub(super) place: Option<(&'a str, &'a str)>,
    pub(super) product_id: Option<&'a str>,
    /// The order items.
    pub(super) links: &'a [OrderItemLink],
    pub(super) facility_id: &'a str,
    pub(super) reason: &'a str,
    pub(super) variance: Variance,
}

impl<'a> ItemRejection<'a> {
    pub(super) fn order_ids(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.links.iter().map(|link| link.order_id.as_str())
    }
}
