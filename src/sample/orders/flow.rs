//! How far orders and their groups have come, in OFBiz's statuses and those that stores have beside them. What follows
//! what is told by the rows of `status_valid_change`.

use crate::sample::draw::Draw;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum State {
    Created,
    Processing,
    Authorized,
    /// Two ids: OFBiz's own, and the one that clients of the API know.
    Hold,
    Held,
    Approved,
    Sent,
    Completed,
    Cancelled,
    Rejected,
    Expired,
}

/// How far the items of a group have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Flow {
    /// Nobody has them yet.
    Waiting,
    /// Stock is reserved.
    Reserved,
    /// Stock is reserved, and a shipment is in progress or packed: its status.
    Shipping(&'static str),
    /// The stock is gone with a shipment: its status.
    Shipped(&'static str),
    /// The stock is gone without one: over the counter.
    HandedOver,
    /// Nothing will come of them; perhaps a shipment was begun, which has this status.
    Cancelled(Option<&'static str>),
    /// The group has no items any more.
    Left,
}

const RECENT: &[(u32, State)] = &[
    (58, State::Approved),
    (12, State::Created),
    (3, State::Processing),
    (5, State::Held),
    (1, State::Hold),
    (12, State::Completed),
    (5, State::Cancelled),
    (1, State::Authorized),
    (1, State::Sent),
    (1, State::Rejected),
    (1, State::Expired),
];
const OLD: &[(u32, State)] = &[
    (860, State::Completed),
    (85, State::Cancelled),
    (30, State::Approved),
    (10, State::Rejected),
    (8, State::Expired),
    (7, State::Held),
];
const IN_PROGRESS: &[(u32, Flow)] = &[
    (10, Flow::Waiting),
    (28, Flow::Reserved),
    (13, Flow::Shipping("SHIPMENT_INPUT")),
    (16, Flow::Shipping("SHIPMENT_APPROVED")),
    (5, Flow::Shipping("SHIPMENT_SCHEDULED")),
    (7, Flow::Shipping("SHIPMENT_PICKED")),
    (8, Flow::Shipping("SHIPMENT_PACKED")),
    (4, Flow::Shipping("PICKUP_SCHEDULED")),
    (7, Flow::Shipped("SHIPMENT_SHIPPED")),
    (2, Flow::Shipped("SHIPMENT_IN_TRANSIT")),
];
const JUST_DONE: &[(u32, Flow)] = &[
    (40, Flow::Shipped("SHIPMENT_SHIPPED")),
    (20, Flow::Shipped("SHIPMENT_IN_TRANSIT")),
    (10, Flow::Shipped("SHIPMENT_ARRIVED")),
    (5, Flow::Shipped("SHIPMENT_EXCEPTION")),
    (25, Flow::Shipped("SHIPMENT_DELIVERED")),
];
const LONG_DONE: &[(u32, Flow)] = &[
    (930, Flow::Shipped("SHIPMENT_DELIVERED")),
    (45, Flow::Shipped("SHIPMENT_SHIPPED")),
    (15, Flow::Shipped("SHIPMENT_ARRIVED")),
    (10, Flow::Shipped("SHIPMENT_EXCEPTION")),
];
const GIVEN_UP: &[(u32, Flow)] = &[(75, Flow::Cancelled(None)), (25, Flow::Cancelled(Some("SHIPMENT_CANCELLED")))];

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
/// The carrier that stands for none, and those of the sample.
pub(in crate::sample) const NO_CARRIER: &str = "_NA_";
pub(in crate::sample) const CARRIERS: [&str; 3] = ["SAMPLE_EXPRESS", "SAMPLE_POST", "SAMPLE_FREIGHT"];

/// Draws where an order stands.
pub(in crate::sample) fn state(draw: &mut Draw, is_recent: bool) -> State {
    draw.weighted(if is_recent { RECENT } else { OLD })
}

/// Draws how far a group of an order has come.
pub(in crate::sample) fn flow(draw: &mut Draw, state: State, method: &str, is_recent: bool) -> Flow {
    let flow = match state {
        State::Created | State::Processing | State::Authorized | State::Hold | State::Held => Flow::Waiting,
        State::Approved => draw.weighted(IN_PROGRESS),
        State::Sent => Flow::Reserved,
        State::Completed => draw.weighted(if is_recent { JUST_DONE } else { LONG_DONE }),
        State::Cancelled | State::Rejected | State::Expired => draw.weighted(GIVEN_UP),
    };
    match flow {
        Flow::Shipped(_) if matches!(method, "NO_SHIPPING" | "POS_COMPLETED") => Flow::HandedOver,
        flow => flow,
    }
}

/// Draws how a group is shipped, and by whom.
pub(in crate::sample) fn method(draw: &mut Draw) -> (&'static str, &'static str) {
    let method = draw.weighted(METHODS);
    let is_carried = matches!(method, "STANDARD" | "SECOND_DAY" | "THIRD_DAY" | "NEXT_DAY");
    (method, if is_carried && draw.percent(80) { draw.pick(&CARRIERS) } else { NO_CARRIER })
}

impl State {
    pub(in crate::sample) fn id(self) -> &'static str {
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

    /// The states that an order went through after it was created, with its own at the end.
    pub(in crate::sample) fn way(self) -> &'static [State] {
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

    /// The status of an item of this order that has come so far.
    pub(in crate::sample) fn item(self, flow: Flow) -> &'static str {
        match (self, flow) {
            (Self::Rejected, _) => "ITEM_REJECTED",
            (Self::Expired, _) => "ITEM_EXPIRED",
            (_, Flow::Cancelled(_)) => "ITEM_CANCELLED",
            (_, Flow::Shipped(_) | Flow::HandedOver) => "ITEM_COMPLETED",
            (Self::Held | Self::Hold, _) => "ITEM_HOLD",
            (Self::Created | Self::Processing | Self::Authorized, _) => "ITEM_CREATED",
            _ => "ITEM_APPROVED",
        }
    }
}

impl Flow {
    /// Whether nothing is left to do.
    pub(in crate::sample) fn is_done(self) -> bool {
        matches!(self, Self::Shipped(_) | Self::HandedOver | Self::Cancelled(_) | Self::Left)
    }

    /// Whether stock is kept for the items.
    pub(in crate::sample) fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Shipping(_))
    }

    /// Whether stock has left for the items.
    pub(in crate::sample) fn is_issued(self) -> bool {
        matches!(self, Self::Shipped(_) | Self::HandedOver)
    }

    /// The status of the shipment, if there is one.
    pub(in crate::sample) fn shipment(self) -> Option<&'static str> {
        match self {
            Self::Shipping(status) | Self::Shipped(status) | Self::Cancelled(Some(status)) => Some(status),
            _ => None,
        }
    }
}

/// The statuses that a shipment went through, with its own at the end.
pub(in crate::sample) fn shipment_way(status: &str) -> &'static [&'static str] {
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
