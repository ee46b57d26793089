//! The order update: a store's changes to orders in progress, as one form and one transaction.
//!
//! ```text
//! body ─▶ update_form       parameters, urlencoded or multipart
//!   └▶ update_request       typed rows, echo and canonical form
//!        └▶ update          one transaction with retries; idempotency repeats stored outcomes
//!             └▶ apply      lock ─▶ rules ─▶ change set ─▶ changes and audit
//!                  └▶ outcome       applied, with notes for the client, or rejected with a code and messages
//! ```
//!
//! ## Changed tables
//!
//! In each order that something was changed of, `order_header` gets new stamps.
//!
//! **A rejected item** (`rej` row; without a sequence id, every item of the shipment; of a ship group that may not be split,
//! every approved order item; by product, every order item of the facility that is approved and not packed):
//!
//! | table | change |
//! |---|---|
//! | `shipment_package_content`, `order_shipment`, `shipment_item` | the item's rows are deleted |
//! | `order_item_ship_group` | the item moves to the order's newest group at `REJECTED_ITM_PARKING` (`PICKUP_REJECTED` for store pickup) with the same shipping method; if there is none, the item's group is copied |
//! | `order_item`, `order_item_ship_group_assoc`, `order_adjustment` | the order item and its own adjustments move to that group; its status does not change. An order item moves as a whole: if it is in other shipments too, it must be rejected there in the same request; on the tables of stock OFBiz the quantities in other groups stay there |
//! | `order_facility_change` | a row for the new group: from, to, reason, comment of the row, user, time |
//! | `order_status` | a row with the order item's status, which stays, and the reason |
//! | `excluded_order_facility` | a row for the old group: the facility is not to get the order item again, for the days of the row, or the time that `reject-exclusion` sets |
//! | `order_item_ship_grp_inv_res` | the order item's reservations are deleted |
//! | `inventory_item_detail`, `inventory_item` | available-to-promise increases by the reserved quantity |
//! | `inventory_item_variance`, `inventory_item_detail`, `inventory_item` | depending on the reason's type, available-to-promise decreases by nothing (`REPORT_NO_VAR`), the quantity (`REPORT_VAR`) or everything that was counted (`REPORT_ALL_VAR`); with the row's `updateQOH`, or `reject-lowers-qoh`, the reasons `NOT_IN_STOCK` and `MISMATCH` lower quantity on hand by the same |
//! | `product_facility` | the last count of every product-facility pair with changed stock follows available-to-promise |
//! | `picklist_item` | the order item's rows become `PICKITEM_CANCELLED` |
//! | `shipment`, `shipment_status` | back to `SHIPMENT_INPUT` with void labels, and from there to `SHIPMENT_APPROVED` if it was approved; without items `SHIPMENT_CANCELLED` |
//!
//! **A changed box** (`box` row with another type): `shipment_package.shipment_box_type_id` is set (a shipment without a
//! package receives one), the labels in `shipment_package_route_seg` and the tracking number of `shipment_route_segment`
//! are cleared, and the shipment returns to `SHIPMENT_INPUT`, and from there to `SHIPMENT_APPROVED` if it was approved.
//!
//! **A new box** (`add` row): a `shipment` in `SHIPMENT_INPUT` with the order, facility, addresses and shipping method of the one
//! that is named, its `shipment_status`, copies of the `shipment_route_segment` rows without labels, a `shipment_package` of the
//! box type, and its `shipment_package_route_seg`.
//!
//! **A moved item** (`rtp` row): the `shipment_item` is inserted into the other shipment under its next sequence id.
//! `order_shipment`, the reservation's shipment and the package contents follow. Both shipments return to
//! `SHIPMENT_INPUT`; a shipment without items is cancelled, and can be the new shipment of a later `rtp` row.
//!
//! **A removed box** (`rem` row): the `shipment`, which has no items, becomes `SHIPMENT_CANCELLED` with void labels.
//!
//! ## Locks
//!
//! Always in this order, and by id within each: the idempotency key, orders, shipments, the user's login if it is new,
//! inventory items, product-facility pairs. Two updates of one order wait for each other and never deadlock. An update
//! that meets a row which another one inserted or deleted meanwhile is retried, a bounded number of times.
//!
//! Which orders a rejection by product changes is known when the shipments of its rows are locked. If these are further orders, all
//! locks on orders and shipments are released, and taken anew with the further ones, until there are none.

pub(crate) mod actor;
pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod rejection;
pub(crate) mod update_row;
pub(crate) mod violation;

pub(crate) mod update_form;
mod field_value;
mod ids;
mod param_name;
pub(crate) mod update_request;

pub(crate) mod privileges;

mod apply;
pub(crate) mod idempotency;
pub(crate) mod update;
