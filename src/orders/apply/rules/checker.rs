//! The state that the rules share: the request, the data, and the violations so far.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::orders::apply::shipment_data::LockedData;
use crate::orders::update_request::UpdateRequest;
use crate::orders::update_row::RowId;
use crate::orders::violation::{UpdateViolation, ViolationCause};

/// Checks rows and collects violations.
pub(super) struct Checker<'a> {
    pub(super) request: &'a UpdateRequest,
    pub(super) data: &'a LockedData,
    /// The shipments that items are to be moved to.
    pub(super) move_targets: BTreeSet<&'a str>,
    /// The row that changes each item, by shipment and sequence id.
    pub(super) rows_by_item: BTreeMap<(&'a str, &'a str), RowId>,
    pub(super) changed_shipments: BTreeSet<&'a str>,
    pub(super) violations: Vec<UpdateViolation>,
    /// The causes of the violations.
    causes: HashSet<ViolationCause>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(request: &'a UpdateRequest, data: &'a LockedData) -> Self {
        Self {
            request,
            data,
            move_targets: request.moves.iter().map(|row| row.new_shipment_id.as_str()).collect(),
            rows_by_item: BTreeMap::new(),
            changed_shipments: BTreeSet::new(),
            violations: Vec::new(),
            causes: HashSet::new(),
        }
    }

    /// Adds a violation, unless an earlier row has the same cause: a shipment that no row can use is reported once.
    pub(super) fn reject(&mut self, row: RowId, cause: ViolationCause) {
        if self.causes.insert(cause.clone()) {
            self.violations.push(UpdateViolation { row, cause });
        }
    }
}
