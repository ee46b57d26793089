//! The shipments of an update, as they are in the database.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::orders::ids::{OrderItemId, ShipmentItemId};

/// The data that the rules check. All of its orders and shipments are locked.
pub(super) struct LockedData {
    /// The shipments by id.
    pub(super) shipments: BTreeMap<String, Shipment>,
    /// The parts of each order item that occurs in one of the shipments, in all shipments that are not cancelled.
    pub(super) order_item_parts: BTreeMap<OrderItemPlace, Vec<OrderItemPart>>,
    /// The box types of the request that exist.
    pub(super) box_types: BTreeSet<String>,
    /// All rejection reasons.
    pub(super) reasons: BTreeMap<String, Variance>,
    /// The statuses of the shipments' orders, by id.
    pub(super) order_statuses: BTreeMap<String, Option<String>>,
    /// The shipments' ship groups that may not be split, by themselves or by a row, if something is rejected. All shipments of their
    /// order items are among `shipments`.
    pub(super) whole_groups: BTreeMap<ShipGroupKey, WholeGroup>,
    /// The order items that may be rejected because a row rejects their product. All of their shipments are among `shipments`.
    pub(super) same_product: Vec<OrderItem>,
    /// Whether `whole_groups` and `same_product` are incomplete, because an update by product would reject too many order items.
    pub(super) has_too_many_items: bool,
}

/// An order's id and a ship group's sequence id.
pub(super) type ShipGroupKey = (String, String);

/// The unit that moves as a whole: an order item, or on the tables of stock OFBiz its part in a ship group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderItemPlace {
    pub(super) order_item: OrderItemId,
    /// `None` where an order item is in one ship group.
    pub(super) ship_group_seq_id: Option<String>,
}

/// The shipment item that an order item, or a part of it, is in.
pub(super) struct OrderItemPart {
    pub(super) id: ShipmentItemId,
    /// The shipment's status.
    pub(super) status_id: Option<String>,
    /// The facility that the shipment leaves, or nothing.
    pub(super) facility_id: String,
    /// Whether the shipment is of no other order.
    pub(super) is_of_same_order: bool,
    /// Whether the caller sees the shipment.
    pub(super) is_seen: bool,
}

/// A ship group that is rejected as a whole.
#[derive(Default)]
pub(super) struct WholeGroup {
    /// Whether the ship group may be split, and a row says otherwise.
    pub(super) may_split: bool,
    /// The approved order items.
    pub(super) items: Vec<OrderItem>,
}

/// An order item, with all of its quantity.
pub(super) struct OrderItem {
    pub(super) product_id: Option<String>,
    pub(super) link: OrderItemLink,
}

pub(super) struct Shipment {
    pub(super) primary_order_id: Option<String>,
    pub(super) primary_ship_group_seq_id: Option<String>,
    pub(super) status_id: Option<String>,
    pub(super) facility_id: Option<String>,
    /// The items by sequence id.
    pub(super) items: BTreeMap<String, ShipmentItem>,
}

/// An item of a shipment.
#[derive(Debug)]
pub(super) struct ShipmentItem {
    pub(super) seq_id: String,
    pub(super) product_id: Option<String>,
    /// Whether it was issued or received already.
    pub(super) is_issued: bool,
    /// The order items that it is for.
    pub(super) links: Vec<OrderItemLink>,
}

/// The part of an order item in a shipment item.
#[derive(Debug)]
pub(super) struct OrderItemLink {
    pub(super) order_id: String,
    pub(super) order_item_seq_id: String,
    /// The order item's status.
    pub(super) status_id: Option<String>,
    /// The order item's ship group.
    pub(super) ship_group_seq_id: String,
    pub(super) quantity: Decimal,
    pub(super) grouping: ItemGrouping,
    /// Whether the database lets an order item be in several ship groups.
    pub(super) may_be_split: bool,
}

impl OrderItemLink {
    pub(super) fn id(&self) -> OrderItemId {
        OrderItemId { order_id: self.order_id.clone(), seq_id: self.order_item_seq_id.clone() }
    }

    pub(super) fn place(&self) -> OrderItemPlace {
        OrderItemPlace {
            order_item: self.id(),
            ship_group_seq_id: self.may_be_split.then(|| self.ship_group_seq_id.clone()),
        }
    }

    /// The ship group of what moves, if not all of the order item does.
    pub(super) fn part(&self) -> Option<&str> {
        self.may_be_split.then_some(self.ship_group_seq_id.as_str())
    }

    pub(super) fn ship_group(&self) -> ShipGroupKey {
        (self.order_id.clone(), self.ship_group_seq_id.clone())
    }
}

/// The number of ship groups that an order item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemGrouping {
    One,
    /// None: the ship group does not exist.
    None,
    /// Several, as stock OFBiz allows.
    Several,
}

/// By how much a rejection lowers available-to-promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variance {
    /// Not at all.
    None,
    /// By the rejected quantity.
    Quantity,
    /// By everything that was counted.
    All,
}

impl ItemGrouping {
    pub(super) fn new(exists: bool, count: i64) -> Self {
        match (exists, count) {
            (false, _) => Self::None,
            (true, ..=1) => Self::One,
            (true, _) => Self::Several,
        }
    }
}

impl Shipment {
    /// An item, or all items.
    pub(super) fn items_of(&self, seq_id: Option<&str>) -> impl Iterator<Item = &ShipmentItem> {
        let all = seq_id.is_none().then(|| self.items.values());
        all.into_iter().flatten().chain(seq_id.and_then(|seq_id| self.items.get(seq_id)))
    }

    /// The order items of all items.
    pub(super) fn links(&self) -> impl Iterator<Item = &OrderItemLink> {
        self.items.values().flat_map(|item| &item.links)
    }

    /// The shipment's order: the primary one, or else the only one of its items.
    pub(super) fn order_id(&self) -> Option<&str> {
        if self.primary_order_id.is_some() {
            return self.primary_order_id.as_deref();
        }
        let mut orders = self.order_ids();
        let first = orders.next()?;
        orders.all(|other| other == first).then_some(first)
    }

    /// The ship groups of the items, or the primary one of an empty shipment.
    pub(super) fn ship_groups(&self) -> BTreeSet<&str> {
        let groups: BTreeSet<_> = self.links().map(|link| link.ship_group_seq_id.as_str()).collect();
        if groups.is_empty() { self.primary_ship_group_seq_id.as_deref().into_iter().collect() } else { groups }
    }

    /// The primary order and the orders of the items.
    pub(super) fn order_ids(&self) -> impl Iterator<Item = &str> {
        self.primary_order_id.as_deref().into_iter().chain(self.links().map(|link| link.order_id.as_str()))
    }
}
