//! What an order update does, written a second time and in another way: after the documents of the update, and on plain maps.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::orders::random_forms::faults::{Faults, IN_PROGRESS, Part, Rejected, parts, parts_of_line, shipment_faults};
use crate::orders::random_forms::form::Form;
use crate::orders::random_forms::together::Together;
use crate::orders::random_forms::world::{FACILITY, Group, Item, Order, Package, Shipment, World, seq_id};

const BOX_TYPES: [&str; 2] = ["YOURPACKNG", "BOPISPACKNG"];

const COMMENT: &str = "Store Rejected Inventory";
/// The reasons that the migrations insert, by their types.
const NO_VARIANCE: [&str; 6] = [
    "INACTIVE_STORE",
    "NO_VARIANCE_LOG",
    "REJECT_ENTIRE_ORDER",
    "REJ_AVOID_ORD_SPLIT",
    "REJ_CASCADE_BY_PROD",
    "SYS_REJ_IDLE_ORD",
];
const VARIANCE: [&str; 3] = ["MISMATCH", "REJ_RSN_DAMAGED", "WORN_DISPLAY"];
const NOT_IN_STOCK: &str = "NOT_IN_STOCK";

/// The expected response: the status, the messages of errors, and what a success says beside its parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    pub status: u16,
    pub errors: Vec<String>,
    pub notes: Vec<String>,
}

/// Applies a form to the world, or says why it is rejected.
pub fn apply(world: &mut World, form: &Form, lowers_on_hand: bool) -> Expected {
    let malformed = malformed(form);
    if !malformed.is_empty() {
        return Expected { status: 400, errors: malformed, notes: Vec::new() };
    }
    let targets = form.moves.iter().filter_map(|row| row.to.clone()).collect();
    let mut faults = Faults { are_unknown: true, targets, ..Faults::default() };
    let facility = form.facility.as_deref().unwrap();
    for (index, row) in form.boxes.iter().enumerate() {
        let row_name = format!("row {index} of box");
        let box_type = row.box_type.as_deref().unwrap();
        if !BOX_TYPES.contains(&box_type) {
            faults.unknown(&row_name, format!("there is no box type {box_type}"));
        }
        shipment_faults(world, facility, &row_name, &row.shipment, &mut faults);
    }
    let mut used: BTreeMap<Part, String> = BTreeMap::new();
    let mut rejected: Vec<Rejected> = Vec::new();
    for (index, row) in form.rejections.iter().enumerate() {
        let row_name = format!("row {index} of rej");
        let reason = row.reason.as_deref().unwrap();
        if !NO_VARIANCE.contains(&reason) && !VARIANCE.contains(&reason) && reason != NOT_IN_STOCK {
            let mut known: Vec<&str> = NO_VARIANCE.iter().chain(&VARIANCE).copied().chain([NOT_IN_STOCK]).collect();
            known.sort_unstable();
            let known = known.join(", ");
            faults.unknown(&row_name, format!("there is no rejection reason {reason}; there are {known}"));
        }
        let short = format!("rej {index}");
        for part in
            parts(world, facility, (&row_name, &short), &row.shipment, row.item.as_deref(), &mut used, &mut faults)
        {
            rejected.push(Rejected::part(world, part, reason, (&row_name, &row.options)));
        }
    }
    let moved = moves(world, form, facility, &mut used, &mut faults);
    removal_faults(world, form, facility, &mut faults);
    let mut taken_along = Vec::new();
    if faults.messages.is_empty() {
        let mut together = Together { world: &*world, facility, rejected, used, faults, notes: Vec::new() };
        together.reject();
        Together { rejected, used, faults, notes: taken_along, .. } = together;
        whole_lines(world, &rejected, &used, &mut faults);
    }
    if !faults.messages.is_empty() {
        let status = if faults.are_unknown { 404 } else { 409 };
        return Expected { status, errors: faults.messages, notes: Vec::new() };
    }
    let mut touched: BTreeSet<String> =
        rejected.iter().filter_map(|rejected| Some(rejected.part.as_ref()?.0.clone())).collect();
    touched.extend(moved.iter().flat_map(|(part, to)| [part.0.clone(), to.clone()]));
    let is_approved = |id: &String| world.shipments[id].status == "SHIPMENT_APPROVED";
    let of_rejected = rejected.iter().filter_map(|rejected| Some(&rejected.part.as_ref()?.0));
    let approved_again: BTreeSet<String> = of_rejected.filter(|id| is_approved(id)).cloned().collect();
    let mut notes = change_boxes(world, form, &touched);
    notes.extend(taken_along);
    for (part, to) in moved {
        move_part(world, &part, &to);
    }
    for rejected in &rejected {
        reject(world, rejected, lowers_on_hand);
    }
    for shipment in &touched {
        let is_approved = approved_again.contains(shipment);
        let shipment = world.shipments.get_mut(shipment).unwrap();
        let status = if shipment.items.is_empty() { "SHIPMENT_CANCELLED" } else { "SHIPMENT_INPUT" };
        set_status(shipment, status);
        if is_approved && !shipment.items.is_empty() {
            set_status(shipment, "SHIPMENT_APPROVED");
        }
    }
    for id in &form.removals {
        set_status(world.shipments.get_mut(id).unwrap(), "SHIPMENT_CANCELLED");
    }
    // The last count follows what is available wherever something was rejected.
    let products: BTreeSet<String> = world.current.keys().cloned().collect();
    if !rejected.is_empty() {
        for product in products {
            let available = world.stock.values().filter(|stock| stock.product == product).map(|stock| stock.available);
            let available = available.sum();
            world.counts.insert(product, available);
        }
    }
    Expected { status: 200, errors: Vec::new(), notes }
}

/// What can be said of the form alone.
fn malformed(form: &Form) -> Vec<String> {
    let mut faults = Vec::new();
    if form.facility.is_none() {
        faults.push("the parameter facilityId is missing".to_owned());
    }
    // The values of parameters are checked while the form is read.
    faults.extend(form.rejections.iter().enumerate().flat_map(|(index, row)| row.options.faults(index)));
    if form.boxes.is_empty() && form.removals.is_empty() {
        faults.push(
            "at least one row with box_shipmentId_<n>, box_shipmentBoxTypeId_<n> and <n>_box_rowSubmit is required"
                .to_owned(),
        );
    }
    let missing = |name: &str, index: usize| format!("the parameter {name}_{index} is missing");
    let empty = |name: &str, index: usize| {
        format!("the parameter {name}_{index} is empty; leave it out to mean every item of the shipment")
    };
    for (index, row) in form.boxes.iter().enumerate() {
        faults.extend(row.box_type.is_none().then(|| missing("box_shipmentBoxTypeId", index)));
    }
    for (index, row) in form.rejections.iter().enumerate() {
        faults.extend((row.item.as_deref() == Some("")).then(|| empty("rej_shipmentItemSeqId", index)));
        faults.extend(row.reason.is_none().then(|| missing("rej_rejectionReason", index)));
    }
    for (index, row) in form.moves.iter().enumerate() {
        faults.extend((row.item.as_deref() == Some("")).then(|| empty("rtp_shipmentItemSeqId", index)));
        faults.extend(row.to.is_none().then(|| missing("rtp_newShipmentId", index)));
    }
    faults
}

/// The parts to move, each with its new shipment. They stay in their order and ship group.
fn moves(
    world: &World,
    form: &Form,
    facility: &str,
    used: &mut BTreeMap<Part, String>,
    faults: &mut Faults,
) -> Vec<(Part, String)> {
    let mut moved = Vec::new();
    let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (index, row) in form.moves.iter().enumerate() {
        let (row_name, short) = (format!("row {index} of rtp"), format!("rtp {index}"));
        let to = row.to.as_deref().unwrap();
        let parts = parts(world, facility, (&row_name, &short), &row.shipment, row.item.as_deref(), used, faults);
        if !shipment_faults(world, facility, &row_name, to, faults) || to == row.shipment {
            continue;
        }
        let Some(from) = world.shipments.get(&row.shipment) else { continue };
        if from.order != world.shipments[to].order {
            faults.conflict(&row_name, format!("the shipments {} and {to} are not of the same order", row.shipment));
            continue;
        }
        let order = &world.orders[&from.order];
        let groups = groups.entry(to).or_insert_with(|| groups_of(order, &world.shipments[to]));
        for part in parts {
            for line in from.items[&part.1].lines.keys() {
                let group = &order.lines[line].group;
                if let Some(other) = groups.iter().find(|other| *other != group) {
                    let (item, from) = (seq_id(part.1), &row.shipment);
                    faults.conflict(
                        &row_name,
                        format!("the item {item} of the shipment {from} is of the ship group {group}, and the shipment {to} of {other}"),
                    );
                    break;
                }
                groups.insert(group.clone());
            }
            moved.push((part, to.to_owned()));
        }
    }
    moved
}

/// Only empty boxes can be removed, to which no item is moved.
fn removal_faults(world: &World, form: &Form, facility: &str, faults: &mut Faults) {
    for (index, id) in form.removals.iter().enumerate() {
        let row = format!("row {index} of rem");
        if !shipment_faults(world, facility, &row, id, faults) {
            continue;
        }
        if !world.shipments[id].items.is_empty() {
            faults.conflict(
                &row,
                format!("the shipment {id} has items, and only an empty one can be removed; it is cancelled when its last item is rejected or moved"),
            );
        } else if let Some(index) = form.moves.iter().position(|row| row.to.as_ref() == Some(id)) {
            faults.conflict(
                &row,
                format!("the row rtp {index} moves items to the shipment {id}, so that it cannot be removed"),
            );
        }
    }
}

/// The ship groups of a shipment's items; of an empty shipment its own.
fn groups_of(order: &Order, shipment: &Shipment) -> BTreeSet<String> {
    let lines = shipment.items.values().flat_map(|item| item.lines.keys());
    let groups: BTreeSet<String> = lines.map(|line| order.lines[line].group.clone()).collect();
    if groups.is_empty() { shipment.group.iter().cloned().collect() } else { groups }
}

/// A line is rejected as a whole, and from one ship group.
fn whole_lines(world: &World, rejected: &[Rejected], used: &BTreeMap<Part, String>, faults: &mut Faults) {
    for Rejected { order, lines, row, .. } in rejected {
        for line in lines.keys() {
            let of = format!("the order item {line} of the order {order}");
            if world.orders[order].lines[line].is_spread {
                faults.conflict(row, format!("{of} is spread over several ship groups; split it first"));
                continue;
            }
            for part @ (other, item) in &parts_of_line(world, order, line) {
                if used.get(part).is_some_and(|row| row.starts_with("rej")) {
                    continue;
                }
                let way_out = match world.shipments[other].status {
                    status if IN_PROGRESS.contains(&status) => "; reject both in the same request".to_owned(),
                    status @ "SHIPMENT_PACKED" => {
                        format!(", which is {status}; unpack that shipment, then reject both in the same request")
                    }
                    status => {
                        format!(
                            ", which is {status}, so that it cannot be rejected any more; split the order item first"
                        )
                    }
                };
                let item = seq_id(*item);
                faults.conflict(row, format!("{of} is in the item {item} of the shipment {other} too{way_out}"));
            }
        }
    }
}

/// Sets the type of all packages of a shipment; of several rows the last one counts, which the response says.
fn change_boxes(world: &mut World, form: &Form, touched: &BTreeSet<String>) -> Vec<String> {
    let mut notes = Vec::new();
    let shipments: BTreeSet<&String> = form.boxes.iter().map(|row| &row.shipment).collect();
    for id in shipments {
        let rows: Vec<_> = form.boxes.iter().enumerate().filter(|(_, row)| row.shipment == *id).collect();
        let (index, last) = rows.last().unwrap();
        let last = last.box_type.as_ref().unwrap();
        if rows.iter().any(|(_, row)| row.box_type.as_ref() != Some(last)) {
            notes.push(format!(
                "row {index} of box: of the box types for the shipment {id} that of this row counts: {last}"
            ));
        }
        let shipment = world.shipments.get_mut(id).unwrap();
        let is_same = |package: &Package| package.box_type.as_ref() == Some(last);
        if shipment.packages.is_empty() || !shipment.packages.values().all(is_same) {
            shipment.packages.entry(1).or_default();
            for package in shipment.packages.values_mut() {
                package.box_type = Some(last.clone());
            }
            let before = shipment.status;
            set_status(shipment, "SHIPMENT_INPUT");
            if before == "SHIPMENT_APPROVED" && !touched.contains(id) {
                set_status(shipment, before);
            }
        }
    }
    notes
}

/// Sets the status of a changed shipment. Its labels are void.
fn set_status(shipment: &mut Shipment, status: &'static str) {
    shipment.is_labelled = false;
    if shipment.status != status {
        shipment.status = status;
        shipment.statuses.insert(status, "demo");
    }
}

fn move_part(world: &mut World, (from, number): &Part, to: &str) {
    let source = world.shipments.get_mut(from).unwrap();
    let item: Item = source.items.remove(number).unwrap();
    let packed: Vec<Decimal> =
        source.packages.values_mut().filter_map(|package| package.contents.remove(number)).collect();
    let target = world.shipments.get_mut(to).unwrap();
    let next = target.items.keys().max().unwrap_or(&0) + 1;
    if target.packages.is_empty() {
        target.packages.insert(1, Package::default());
    }
    if !packed.is_empty() {
        target.packages.values_mut().next().unwrap().contents.insert(next, packed.into_iter().sum());
    }
    target.items.insert(next, item);
}

fn reject(world: &mut World, rejected: &Rejected, lowers_on_hand: bool) {
    let Rejected { order, part, product, lines, reason, options, .. } = rejected;
    let reason = reason.as_str();
    if let Some((id, number)) = part {
        let shipment = world.shipments.get_mut(id).unwrap();
        shipment.items.remove(number).unwrap();
        for package in shipment.packages.values_mut() {
            package.contents.remove(number);
        }
    }
    for (line, quantity) in lines {
        let of = format!("{order} {line}");
        let reserved = world.orders.get_mut(order).unwrap().lines.get_mut(line).unwrap().reserved.take();
        if let Some(reserved) = reserved {
            let quantity = world.orders[order].lines[line].quantity;
            world.stock.get_mut(&reserved).unwrap().available += quantity;
            world.add(&format!("detail {reserved} {} 0 {of} {reason}", quantity.normalize()));
        }
        let lowers_on_hand =
            options.lowers_on_hand().unwrap_or(lowers_on_hand) && [NOT_IN_STOCK, "MISMATCH"].contains(&reason);
        for (stock, missing) in missing(world, product, *quantity, reason) {
            let row = world.stock.get_mut(&stock).unwrap();
            row.available -= missing;
            let missing = (-missing).normalize();
            let on_hand = if lowers_on_hand { missing } else { Decimal::ZERO };
            row.on_hand += on_hand;
            world.add(&format!("detail {stock} {missing} {on_hand} {of} {reason}"));
            let on_hand = if lowers_on_hand { missing.to_string() } else { String::new() };
            world.add(&format!("variance {stock} {missing} {on_hand} {reason}"));
        }
        move_line(world, order, line, rejected);
    }
}

/// What is missing of each inventory item.
fn missing(world: &World, product: &str, quantity: Decimal, reason: &str) -> Vec<(String, Decimal)> {
    let of_product = || world.stock.iter().filter(|(_, stock)| stock.product == product);
    if reason == NOT_IN_STOCK {
        let left = of_product().filter(|(_, stock)| stock.available > Decimal::ZERO);
        return left.map(|(id, stock)| (id.clone(), stock.available)).collect();
    }
    if !VARIANCE.contains(&reason) {
        return Vec::new();
    }
    let most = || of_product().max_by(|(a, one), (b, other)| one.available.cmp(&other.available).then(b.cmp(a)));
    let id = world.current[product].clone().or_else(|| Some(most()?.0.clone()));
    id.into_iter().map(|id| (id, quantity)).collect()
}

/// Moves a line to the queue of rejected items, unless another part of it was moved already.
fn move_line(world: &mut World, order_id: &str, line_id: &str, Rejected { reason, options, .. }: &Rejected) {
    let order = world.orders.get_mut(order_id).unwrap();
    let old = order.lines[line_id].group.clone();
    let Group { facility, method, .. } = order.groups[&old].clone();
    if facility != FACILITY {
        return;
    }
    let queue = if method == "STOREPICKUP" { "PICKUP_REJECTED" } else { "REJECTED_ITM_PARKING" };
    let existing = order.groups.iter().rev().find(|(_, group)| group.facility == queue && group.method == method);
    let existing = existing.map(|(id, _)| id.clone());
    let new = existing.unwrap_or_else(|| {
        let id = seq_id(order.groups.len() + 1);
        let group = Group { facility: queue.to_owned(), ..order.groups[&old].clone() };
        order.groups.insert(id.clone(), group);
        id
    });
    let line = order.lines.get_mut(line_id).unwrap();
    line.group.clone_from(&new);
    line.adjusted.clone_from(&new);
    line.picking = "PICKITEM_CANCELLED";
    let of = format!("{order_id} {line_id}");
    let comment = options.comments.as_deref().filter(|comment| !comment.is_empty()).unwrap_or(COMMENT);
    world.history.push(format!("change {of} {new} {FACILITY} {queue} {reason} {comment} demo"));
    world.history.push(format!("history {of} ITEM_APPROVED {reason} {comment} demo"));
    let days = options.days().unwrap_or(30);
    if days > 0 {
        world.history.push(format!("excluded {of} {old} {FACILITY} {days}"));
    }
}

impl World {
    /// Adds a row that may be there already, with the number of times.
    fn add(&mut self, row: &str) {
        let mut times = 1;
        self.history.retain(|other| match other.strip_prefix(&format!("{row} x")) {
            Some(count) => {
                times += count.parse::<u32>().unwrap();
                false
            }
            None => true,
        });
        self.history.push(format!("{row} x{times}"));
    }
}
