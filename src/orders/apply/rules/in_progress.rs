//! Which shipments and orders are in progress, so that an update may change them.

use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::Shipment;
use crate::orders::apply::shipment_status::CANCELLED;
use crate::orders::update_row::RowId;
use crate::orders::violation::{IN_PROGRESS, ViolationCause};

/// The statuses of orders that are no longer in progress.
const CLOSED: [&str; 5] = ["ORDER_SENT", "ORDER_COMPLETED", "ORDER_CANCELLED", "ORDER_REJECTED", "ORDER_EXPIRED"];

impl<'a> Checker<'a> {
    /// The shipment, if it exists, starts at the facility and is in progress, and so is its order.
    pub(super) fn check_shipment(&mut self, row: RowId, shipment_id: &str) -> Option<&'a Shipment> {
        let Some(shipment) = self.data.shipments.get(shipment_id) else {
            self.reject(row, ViolationCause::UnknownShipment(shipment_id.to_owned()));
            return None;
        };
        let is_at_facility = shipment.facility_id.as_ref() == Some(&self.request.facility_id);
        if !is_at_facility {
            let (actual, requested) = (shipment.facility_id.clone(), self.request.facility_id.clone());
            self.reject(row, ViolationCause::OtherFacility { shipment: shipment_id.to_owned(), actual, requested });
        }
        let is_in_progress = match shipment.status_id.as_deref() {
            // A box that lost all of its items can be used again.
            Some(CANCELLED) => shipment.items.is_empty() && self.move_targets.contains(shipment_id),
            status => status.is_some_and(|status| IN_PROGRESS.contains(&status)),
        };
        if !is_in_progress {
            let status = shipment.status_id.clone();
            self.reject(row, ViolationCause::NotInProgress { shipment: shipment_id.to_owned(), status });
        }
        let is_order_in_progress = shipment.order_id().is_none_or(|order_id| self.check_order(row, order_id));
        (is_at_facility && is_in_progress && is_order_in_progress).then_some(shipment)
    }

    /// Whether the order is in progress.
    pub(super) fn check_order(&mut self, row: RowId, order_id: &str) -> bool {
        match self.data.order_statuses.get(order_id) {
            Some(Some(status)) if CLOSED.contains(&status.as_str()) => {
                let (order, status) = (order_id.to_owned(), status.clone());
                self.reject(row, ViolationCause::OrderNotInProgress { order, status });
                false
            }
            _ => true,
        }
    }
}
