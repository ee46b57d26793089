//! What may be rejected or moved, and the faults of a form that says otherwise.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::orders::random_forms::form::Options;
use crate::orders::random_forms::world::{Item, World, seq_id};

pub const IN_PROGRESS: [&str; 4] = ["SHIPMENT_INPUT", "SHIPMENT_SCHEDULED", "SHIPMENT_PICKED", "SHIPMENT_APPROVED"];
pub const CLOSED: [&str; 5] = ["ORDER_SENT", "ORDER_COMPLETED", "ORDER_CANCELLED", "ORDER_REJECTED", "ORDER_EXPIRED"];

/// An item that is rejected, or a line that is in no shipment.
pub struct Rejected {
    pub order: String,
    pub part: Option<Part>,
    pub product: String,
    pub lines: BTreeMap<String, Decimal>,
    pub reason: String,
    /// The row, as messages name it.
    pub row: String,
    pub options: Options,
}

/// A part of a shipment: its item's number.
pub type Part = (String, u32);

/// The faults of a form, each reported once.
#[derive(Default)]
pub struct Faults {
    pub messages: Vec<String>,
    pub causes: BTreeSet<String>,
    /// Whether all faults are names of what does not exist.
    pub are_unknown: bool,
    /// The shipments that items are to be moved to.
    pub targets: BTreeSet<String>,
}

impl Faults {
    pub fn unknown(&mut self, row: &str, cause: String) {
        let message = format!("{row}: {cause}");
        if self.causes.insert(cause) {
            self.messages.push(message);
        }
    }

    pub fn conflict(&mut self, row: &str, cause: String) {
        self.are_unknown = false;
        self.unknown(row, cause);
    }
}

/// Only shipments of the facility that are not packed can be changed, of orders in progress.
pub fn shipment_faults(world: &World, facility: &str, row: &str, id: &str, faults: &mut Faults) -> bool {
    let Some(shipment) = world.shipments.get(id) else {
        faults.unknown(row, format!("there is no shipment {id}"));
        return false;
    };
    let mut is_valid = true;
    if shipment.facility != facility {
        faults.conflict(row, format!("the shipment {id} starts at {}, not at {facility}", shipment.facility));
        is_valid = false;
    }
    let is_emptied = shipment.status == "SHIPMENT_CANCELLED" && shipment.items.is_empty();
    if !(IN_PROGRESS.contains(&shipment.status) || is_emptied && faults.targets.contains(id)) {
        let way_out = if shipment.status == "SHIPMENT_PACKED" { "; unpack it first" } else { "" };
        faults.conflict(row, format!("the shipment {id} is {}, and no longer in progress{way_out}", shipment.status));
        is_valid = false;
    }
    let (order, status) = (&shipment.order, world.orders[&shipment.order].status);
    if CLOSED.contains(&status) {
        faults.conflict(row, format!("the order {order} is {status}, and no longer in progress"));
        is_valid = false;
    }
    is_valid
}

/// The parts that a row names, if it may use them.
pub fn parts(
    world: &World,
    facility: &str,
    (row, short): (&str, &str),
    id: &str,
    item: Option<&str>,
    used: &mut BTreeMap<Part, String>,
    faults: &mut Faults,
) -> Vec<Part> {
    if !shipment_faults(world, facility, row, id, faults) {
        return Vec::new();
    }
    let items = &world.shipments[id].items;
    let named: Vec<u32> =
        items.keys().copied().filter(|number| item.is_none_or(|item| seq_id(*number) == item)).collect();
    match item {
        Some(item) if named.is_empty() => faults.conflict(row, format!("there is no item {item} in the shipment {id}")),
        None if named.is_empty() => faults.conflict(row, format!("the shipment {id} has no items")),
        _ => {}
    }
    let mut parts = Vec::new();
    for number in named {
        let (part, seq_id, item) = ((id.to_owned(), number), seq_id(number), &items[&number]);
        let of = format!("the item {seq_id} of the shipment {id}");
        if let Some(other) = used.insert(part.clone(), short.to_owned()) {
            faults.conflict(row, format!("{of} is in the row {other} already"));
        } else if item.is_issued {
            faults.conflict(row, format!("{of} has been issued or received already"));
        } else if item.lines.is_empty() && short.starts_with("rej") {
            faults.conflict(row, format!("{of} belongs to no order item"));
        } else {
            let order = &world.shipments[id].order;
            let mut is_valid = true;
            for line in item.lines.keys() {
                let status = world.orders[order].lines[line].status;
                if status != Some("ITEM_APPROVED") {
                    let status = status.unwrap_or("without a status");
                    faults.conflict(
                        row,
                        format!(
                            "the order item {line} of the order {order} is {status}, and only approved ones can be rejected or moved"
                        ),
                    );
                    is_valid = false;
                }
            }
            if is_valid {
                parts.push(part);
            }
        }
    }
    parts
}

/// The items that a line is in, of shipments that are not cancelled.
pub fn parts_of_line(world: &World, order: &str, line: &str) -> Vec<Part> {
    let shipments =
        world.shipments.iter().filter(|(_, other)| other.order == order && other.status != "SHIPMENT_CANCELLED");
    let items = shipments.flat_map(|(id, shipment)| shipment.items.iter().map(move |item| (id, item)));
    items
        .filter(|(_, (_, item))| item.lines.contains_key(line))
        .map(|(id, (number, _))| (id.clone(), *number))
        .collect()
}

impl Rejected {
    pub fn part(world: &World, part: Part, reason: &str, (row, options): (&str, &Options)) -> Self {
        let shipment = &world.shipments[&part.0];
        let Item { product, lines, .. } = shipment.items[&part.1].clone();
        let (reason, row, options) = (reason.to_owned(), row.to_owned(), options.clone());
        Self { order: shipment.order.clone(), part: Some(part), product, lines, reason, row, options }
    }

    /// The lines, each with its order.
    pub fn all(&self) -> Vec<(String, String)> {
        self.lines.keys().map(|line| (self.order.clone(), line.clone())).collect()
    }
}
