//! What is rejected with the items of a form's rows.

use std::collections::{BTreeMap, BTreeSet};

use crate::orders::random_forms::faults::{CLOSED, Faults, IN_PROGRESS, Part, Rejected, parts, parts_of_line};
use crate::orders::random_forms::form::Options;
use crate::orders::random_forms::world::{FACILITY, Line, World, seq_id};

const WITH_ORDER: &str = "REJ_AVOID_ORD_SPLIT";
const WITH_PRODUCT: &str = "REJ_CASCADE_BY_PROD";

/// A line that is rejected with a row.
struct Other<'a> {
    order: &'a str,
    seq_id: &'a str,
    reason: &'a str,
}

/// The rejections so far.
pub struct Together<'a> {
    pub world: &'a World,
    pub facility: &'a str,
    pub rejected: Vec<Rejected>,
    /// The row of each part.
    pub used: BTreeMap<Part, String>,
    pub faults: Faults,
    pub notes: Vec<String>,
}

impl Together<'_> {
    /// Rejects the lines that go with those of the rows: first by product, then by ship group.
    pub fn reject(&mut self) {
        let mut lines: BTreeSet<(String, String)> = self.rejected.iter().flat_map(Rejected::all).collect();
        for next in 0..self.rejected.len() {
            let Rejected { order, product, row, options, .. } = &self.rejected[next];
            if !options.cascades() {
                continue;
            }
            let (order, product, row, options) = (order.clone(), product.clone(), row.clone(), options.clone());
            for (other, seq_id) in self.of_product(&product) {
                let reason = if other == order { WITH_ORDER } else { WITH_PRODUCT };
                let cause = format!("it is of the same product {product}");
                let line = Other { order: &other, seq_id: &seq_id, reason };
                self.take((&row, &options), &line, &mut lines, |_| cause.clone());
            }
        }
        let of_rows = self.rejected.len();
        let mut next = 0;
        while next < self.rejected.len() {
            let Rejected { row, options, .. } = &self.rejected[next];
            let (row, options) = (row.clone(), options.clone());
            let world = self.world;
            for (order_id, line) in self.rejected[next].all() {
                let order = &world.orders[&order_id];
                let group = &order.lines[&line].group;
                let own = order.groups[group].may_split == Some("N");
                let is_whole = options.may_split().filter(|_| next < of_rows).map_or(own, |may_split| !may_split);
                let siblings = order.lines.iter().filter(|(_, sibling)| is_whole && sibling.group == *group);
                for (seq_id, _) in siblings.filter(|(_, sibling)| sibling.status == Some("ITEM_APPROVED")) {
                    let line = Other { order: &order_id, seq_id, reason: WITH_ORDER };
                    self.take((&row, &options), &line, &mut lines, |group| {
                        format!("its ship group {group} may not be split")
                    });
                }
            }
            next += 1;
        }
    }

    /// The lines of a product that are approved and not packed, of orders in progress.
    fn of_product(&self, product: &str) -> Vec<(String, String)> {
        let world = self.world;
        let mut found = Vec::new();
        for (order_id, order) in world.orders.iter().filter(|(_, order)| !CLOSED.contains(&order.status)) {
            let is_here = |line: &Line| order.groups[&line.group].facility == FACILITY && line.product == product;
            for (seq_id, _) in
                order.lines.iter().filter(|(_, line)| is_here(line) && line.status == Some("ITEM_APPROVED"))
            {
                let parts = parts_of_line(world, order_id, seq_id);
                let shipments = parts.iter().map(|(shipment, _)| &world.shipments[shipment]);
                let mut shipments =
                    shipments.map(|other| IN_PROGRESS.contains(&other.status) && other.facility == FACILITY);
                if shipments.all(|is_open| is_open) {
                    found.push((order_id.clone(), seq_id.clone()));
                }
            }
        }
        found
    }

    /// Rejects a line with a row: all of its parts, or the line if it is in no shipment.
    fn take(
        &mut self,
        (row, options): (&str, &Options),
        Other { order, seq_id: line, reason }: &Other<'_>,
        lines: &mut BTreeSet<(String, String)>,
        cause: impl Fn(&str) -> String,
    ) {
        let world = self.world;
        let parts_of_line = parts_of_line(world, order, line);
        let mut more = Vec::new();
        if parts_of_line.is_empty() && !lines.contains(&((*order).to_owned(), (*line).to_owned())) {
            let of = &world.orders[*order].lines[*line];
            more.push(Rejected {
                order: (*order).to_owned(),
                part: None,
                product: of.product.clone(),
                lines: BTreeMap::from([((*line).to_owned(), of.quantity)]),
                reason: (*reason).to_owned(),
                row: row.to_owned(),
                options: options.clone(),
            });
        }
        for (shipment, number) in parts_of_line {
            if self.used.get(&(shipment.clone(), number)).is_some_and(|row| row.starts_with("rej")) {
                continue;
            }
            let index = row.split(' ').nth(1).unwrap();
            let short = format!("rej {index}");
            let item = seq_id(number);
            let Self { facility, used, faults, .. } = self;
            let valid = parts(world, facility, (row, &short), &shipment, Some(&item), used, faults);
            more.extend(valid.into_iter().map(|part| Rejected::part(world, part, reason, (row, options))));
        }
        for (order, line) in more.iter().flat_map(Rejected::all) {
            if lines.insert((order.clone(), line.clone())) {
                let cause = cause(&world.orders[&order].lines[&line].group);
                self.notes.push(format!(
                    "{row}: the order item {line} of the order {order} is rejected too, because {cause}"
                ));
            }
        }
        self.rejected.extend(more);
    }
}
