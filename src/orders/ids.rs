//! The ids of parts of orders and shipments. Their texts are how messages name them.

use std::fmt;

/// Identifies an order item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct OrderItemId {
    pub(crate) order_id: String,
    pub(crate) seq_id: String,
}

impl fmt::Display for OrderItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the order item {} of the order {}", self.seq_id, self.order_id)
    }
}

/// Identifies an item of a shipment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ShipmentItemId {
    pub(crate) shipment_id: String,
    pub(crate) seq_id: String,
}

impl ShipmentItemId {
    pub(crate) fn new(shipment_id: &str, seq_id: &str) -> Self {
        Self { shipment_id: shipment_id.to_owned(), seq_id: seq_id.to_owned() }
    }
}

impl fmt::Display for ShipmentItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the item {} of the shipment {}", self.seq_id, self.shipment_id)
    }
}
