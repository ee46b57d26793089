//! The states of orders and ship groups, in OFBiz's statuses and the additional ones of stores. Transitions follow
//! `status_valid_change`.

use crate::sample::rng::SampleRng;

/// The state of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum OrderState {
    Created,
    Processing,
    Authorized,
    /// `ORDER_HOLD`, OFBiz's status.
    Hold,
    /// `ORDER_HELD`, the status that the API documents.
    Held,
    Approved,
    Sent,
    Completed,
    Cancelled,
    Rejected,
    Expired,
}

/// The fulfillment of a ship group's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Fulfillment {
    /// Not assigned to a facility.
    Waiting,
    /// Stock is reserved.
    Reserved,
    /// Stock is reserved and a shipment with this status is in progress or packed.
    Shipping(&'static str),
    /// Stock is issued with a shipment of this status.
    Shipped(&'static str),
    /// Stock is issued without a shipment: sold over the counter.
    HandedOver,
    /// Cancelled, with the status of a shipment if there was one.
    Cancelled(Option<&'static str>),
    /// All items were moved to another group.
    Emptied,
}

const RECENT_STATES: &[(u32, OrderState)] = &[
    (58, OrderState::Approved),
    (12, OrderState::Created),
    (3, OrderState::Processing),
    (5, OrderState::Held),
    (1, OrderState::Hold),
    (12, OrderState::Completed),
    (5, OrderState::Cancelled),
    (1, OrderState::Authorized),
    (1, OrderState::Sent),
    (1, OrderState::Rejected),
    (1, OrderState::Expired),
];
const OLD_STATES: &[(u32, OrderState)] = &[
    (860, OrderState::Completed),
    (85, OrderState::Cancelled),
    (30, OrderState::Approved),
    (10, OrderState::Rejected),
    (8, OrderState::Expired),
    (7, OrderState::Held),
];
const IN_PROGRESS: &[(u32, Fulfillment)] = &[
    (10, Fulfillment::Waiting),
    (28, Fulfillment::Reserved),
    (13, Fulfillment::Shipping("SHIPMENT_INPUT")),
    (16, Fulfillment::Shipping("SHIPMENT_APPROVED")),
    (5, Fulfillment::Shipping("SHIPMENT_SCHEDULED")),
    (7, Fulfillment::Shipping("SHIPMENT_PICKED")),
    (8, Fulfillment::Shipping("SHIPMENT_PACKED")),
    (4, Fulfillment::Shipping("PICKUP_SCHEDULED")),
    (7, Fulfillment::Shipped("SHIPMENT_SHIPPED")),
    (2, Fulfillment::Shipped("SHIPMENT_IN_TRANSIT")),
];
const RECENTLY_COMPLETED: &[(u32, Fulfillment)] = &[
    (40, Fulfillment::Shipped("SHIPMENT_SHIPPED")),
    (20, Fulfillment::Shipped("SHIPMENT_IN_TRANSIT")),
    (10, Fulfillment::Shipped("SHIPMENT_ARRIVED")),
    (5, Fulfillment::Shipped("SHIPMENT_EXCEPTION")),
    (25, Fulfillment::Shipped("SHIPMENT_DELIVERED")),
];
const COMPLETED: &[(u32, Fulfillment)] = &[
    (930, Fulfillment::Shipped("SHIPMENT_DELIVERED")),
    (45, Fulfillment::Shipped("SHIPMENT_SHIPPED")),
    (15, Fulfillment::Shipped("SHIPMENT_ARRIVED")),
    (10, Fulfillment::Shipped("SHIPMENT_EXCEPTION")),
];
const CANCELLED: &[(u32, Fulfillment)] =
    &[(75, Fulfillment::Cancelled(None)), (25, Fulfillment::Cancelled(Some("SHIPMENT_CANCELLED")))];

const METHODS: &[(u32, &str)] = &[
    (52, "STANDARD"),
    (10, "SECOND_DAY"),
    (8, "THIRD_DAY"),
    (10, "NEXT_DAY"),
    (13, "STOREPICKUP"),
    (4, "SHIP_TO_STORE"),
    (1, "NO_SHIPPING"),
    (2, "POS_COMPLETED"),
];
/// OFBiz's carrier for shipments without one.
pub(in crate::sample) const NO_CARRIER: &str = "_NA_";
/// The sample's carriers.
pub(in crate::sample) const CARRIERS: [&str; 3] = ["SAMPLE_EXPRESS", "SAMPLE_POST", "SAMPLE_FREIGHT"];

/// A random state of an order.
pub(in crate::sample) fn random_state(rng: &mut SampleRng, is_recent: bool) -> OrderState {
    rng.weighted(if is_recent { RECENT_STATES } else { OLD_STATES })
}

/// A random fulfillment of a ship group.
pub(in crate::sample) fn random_fulfillment(
    rng: &mut SampleRng,
    state: OrderState,
    method: &str,
    is_recent: bool,
) -> Fulfillment {
    let fulfillment = match state {
        OrderState::Created | OrderState::Processing | OrderState::Authorized | OrderState::Hold | OrderState::Held => {
            Fulfillment::Waiting
        }
        OrderState::Approved => rng.weighted(IN_PROGRESS),
        OrderState::Sent => Fulfillment::Reserved,
        OrderState::Completed => rng.weighted(if is_recent { RECENTLY_COMPLETED } else { COMPLETED }),
        OrderState::Cancelled | OrderState::Rejected | OrderState::Expired => rng.weighted(CANCELLED),
    };
    match fulfillment {
        Fulfillment::Shipped(_) if matches!(method, "NO_SHIPPING" | "POS_COMPLETED") => Fulfillment::HandedOver,
        other => other,
    }
}

/// A random shipment method and its carrier.
pub(in crate::sample) fn random_method(rng: &mut SampleRng) -> (&'static str, &'static str) {
    let method = rng.weighted(METHODS);
    let is_carried = matches!(method, "STANDARD" | "SECOND_DAY" | "THIRD_DAY" | "NEXT_DAY");
    (method, if is_carried && rng.percent(80) { rng.pick(&CARRIERS) } else { NO_CARRIER })
}

impl OrderState {
    pub(in crate::sample) fn status_id(self) -> &'static str {
        match self {
            Self::Created => "ORDER_CREATED",
            Self::Processing => "ORDER_PROCESSING",
            Self::Authorized => "ORDER_AUTHORIZED",
            Self::Hold => "ORDER_HOLD",
            Self::Held => "ORDER_HELD",
            Self::Approved => "ORDER_APPROVED",
            Self::Sent => "ORDER_SENT",
            Self::Completed => "ORDER_COMPLETED",
            Self::Cancelled => "ORDER_CANCELLED",
            Self::Rejected => "ORDER_REJECTED",
            Self::Expired => "ORDER_EXPIRED",
        }
    }

    /// The states after `Created`, up to this one.
    pub(in crate::sample) fn history(self) -> &'static [OrderState] {
        match self {
            Self::Created => &[],
            Self::Expired => &[Self::Expired],
            Self::Processing => &[Self::Processing],
            Self::Authorized => &[Self::Authorized],
            Self::Hold => &[Self::Approved, Self::Hold],
            Self::Held => &[Self::Approved, Self::Held],
            Self::Approved => &[Self::Approved],
            Self::Sent => &[Self::Approved, Self::Sent],
            Self::Completed => &[Self::Approved, Self::Completed],
            Self::Cancelled => &[Self::Approved, Self::Cancelled],
            Self::Rejected => &[Self::Rejected],
        }
    }

    /// The status of an item of an order in this state.
    pub(in crate::sample) fn item_status_id(self, fulfillment: Fulfillment) -> &'static str {
        match (self, fulfillment) {
            (Self::Rejected, _) => "ITEM_REJECTED",
            (Self::Expired, _) => "ITEM_EXPIRED",
            (_, Fulfillment::Cancelled(_)) => "ITEM_CANCELLED",
            (_, Fulfillment::Shipped(_) | Fulfillment::HandedOver) => "ITEM_COMPLETED",
            (Self::Held | Self::Hold, _) => "ITEM_HOLD",
            (Self::Created | Self::Processing | Self::Authorized, _) => "ITEM_CREATED",
            (Self::Approved | Self::Sent | Self::Completed | Self::Cancelled, _) => "ITEM_APPROVED",
        }
    }
}

impl Fulfillment {
    /// Whether no step remains.
    pub(in crate::sample) fn is_done(self) -> bool {
        matches!(self, Self::Shipped(_) | Self::HandedOver | Self::Cancelled(_) | Self::Emptied)
    }

    /// Whether stock is reserved for the items.
    pub(in crate::sample) fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Shipping(_))
    }

    /// Whether stock was issued for the items.
    pub(in crate::sample) fn is_issued(self) -> bool {
        matches!(self, Self::Shipped(_) | Self::HandedOver)
    }

    /// The status of the shipment, if there is one.
    pub(in crate::sample) fn shipment_status(self) -> Option<&'static str> {
        match self {
            Self::Shipping(status) | Self::Shipped(status) | Self::Cancelled(Some(status)) => Some(status),
            Self::Waiting | Self::Reserved | Self::HandedOver | Self::Cancelled(None) | Self::Emptied => None,
        }
    }
}

/// The statuses of a shipment up to this one.
pub(in crate::sample) fn shipment_history(status: &str) -> &'static [&'static str] {
    match status {
        "SHIPMENT_APPROVED" => &["SHIPMENT_INPUT", "SHIPMENT_APPROVED"],
        "SHIPMENT_SCHEDULED" => &["SHIPMENT_INPUT", "SHIPMENT_SCHEDULED"],
        "SHIPMENT_PICKED" => &["SHIPMENT_INPUT", "SHIPMENT_PICKED"],
        "SHIPMENT_PACKED" => &["SHIPMENT_INPUT", "SHIPMENT_APPROVED", "SHIPMENT_PACKED"],
        "PICKUP_SCHEDULED" => &["SHIPMENT_INPUT", "SHIPMENT_APPROVED", "SHIPMENT_PACKED", "PICKUP_SCHEDULED"],
        "SHIPMENT_SHIPPED" => &["SHIPMENT_INPUT", "SHIPMENT_PACKED", "SHIPMENT_SHIPPED"],
        "SHIPMENT_IN_TRANSIT" => &["SHIPMENT_INPUT", "SHIPMENT_PACKED", "SHIPMENT_SHIPPED", "SHIPMENT_IN_TRANSIT"],
        "SHIPMENT_EXCEPTION" => &["SHIPMENT_INPUT", "SHIPMENT_PACKED", "SHIPMENT_SHIPPED", "SHIPMENT_EXCEPTION"],
        "SHIPMENT_ARRIVED" => &["SHIPMENT_INPUT", "SHIPMENT_PACKED", "SHIPMENT_SHIPPED", "SHIPMENT_ARRIVED"],
        "SHIPMENT_DELIVERED" => &["SHIPMENT_INPUT", "SHIPMENT_PACKED", "SHIPMENT_SHIPPED", "SHIPMENT_DELIVERED"],
        "SHIPMENT_CANCELLED" => &["SHIPMENT_INPUT", "SHIPMENT_CANCELLED"],
        "PURCH_SHIP_SHIPPED" => &["PURCH_SHIP_CREATED", "PURCH_SHIP_SHIPPED"],
        "PURCH_SHIP_RECEIVED" => &["PURCH_SHIP_CREATED", "PURCH_SHIP_SHIPPED", "PURCH_SHIP_RECEIVED"],
        "PURCH_SHIP_CANCELLED" => &["PURCH_SHIP_CREATED", "PURCH_SHIP_CANCELLED"],
        "PURCH_SHIP_CREATED" => &["PURCH_SHIP_CREATED"],
        _ => &["SHIPMENT_INPUT"],
    }
}
