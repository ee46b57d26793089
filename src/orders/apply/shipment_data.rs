//! The shipments of an update, as they are in the database.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

/// The data that the rules check. All of its orders and shipments are locked.
pub(super) struct LockedData {
    /// The shipments by id.
    pub(super) shipments: BTreeMap<String, Shipment>,
    /// The shipment items of each order item that occurs in one of the shipments, in all shipments that are not cancelled.
    pub(super) order_item_parts: BTreeMap<OrderItemKey, Vec<ShipmentItemKey>>,
    /// Those of the request's box types that exist.
    pub(super) box_types: BTreeSet<String>,
    /// All rejection reasons.
    pub(super) reasons: BTreeMap<String, Variance>,
    /// The statuses of the shipments' orders, by id.
    pub(super) order_statuses: BTreeMap<String, Option<String>>,
    /// The sequence ids of the approved order items of each ship group that may not be split.
    pub(super) unsplittable: BTreeMap<ShipGroupKey, Vec<String>>,
}

/// An order's id and an order item's sequence id.
pub(super) type OrderItemKey = (String, String);

/// An order's id and a ship group's sequence id.
pub(super) type ShipGroupKey = (String, String);

/// A shipment's id and a shipment item's sequence id.
pub(super) type ShipmentItemKey = (String, String);

/// A shipment.
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
    pub(super) grouping: Grouping,
}

/// The number of ship groups that an order item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// One.
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

impl Shipment {
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
        let links = self.items.values().flat_map(|item| &item.links);
        let groups: BTreeSet<_> = links.map(|link| link.ship_group_seq_id.as_str()).collect();
        if groups.is_empty() { self.primary_ship_group_seq_id.as_deref().into_iter().collect() } else { groups }
    }

    /// The primary order and the orders of the items.
    pub(super) fn order_ids(&self) -> impl Iterator<Item = &str> {
        let links = self.items.values().flat_map(|item| &item.links).map(|link| link.order_id.as_str());
        self.primary_order_id.as_deref().into_iter().chain(links)
    }
}
