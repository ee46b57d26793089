//! Everything that an update is about, locked and held against the rules.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Transaction;

use crate::orders::apply::{ApplyError, Fault, Violation};
use crate::orders::command::{BoxRow, Kind, Update};

/// What is going to be done. All rows that it is decided by are locked.
pub(super) struct ChangeSet<'a> {
    /// Box types to set.
    pub(super) boxes: Vec<&'a BoxRow>,
    /// Items to move; those that are there already are left out.
    pub(super) moves: Vec<MovedItem<'a>>,
    /// Items to reject.
    pub(super) rejections: Vec<RejectedItem<'a>>,
    /// The shipments that lose or gain an item.
    pub(super) touched: BTreeSet<&'a str>,
}

/// An item to move.
pub(super) struct MovedItem<'a> {
    pub(super) from: &'a str,
    pub(super) item: Item,
    pub(super) to: &'a str,
}

/// An item to reject.
pub(super) struct RejectedItem<'a> {
    /// The row's index.
    row: u32,
    pub(super) shipment_id: &'a str,
    pub(super) facility_id: &'a str,
    pub(super) item: Item,
    pub(super) reason: &'a str,
    pub(super) variance: Variance,
}

/// By how much a rejection lowers what is available to promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variance {
    /// Not at all.
    None,
    /// By the rejected quantity.
    Quantity,
    /// By all that was counted.
    All,
}

/// An item of a shipment, and the order items that it is for.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) seq_id: String,
    pub(super) product_id: Option<String>,
    pub(super) links: Vec<Link>,
}

/// The part of an order item that an item of a shipment is for.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) order_id: String,
    pub(super) order_item_seq_id: String,
    /// The group that the order item is in.
    pub(super) ship_group_seq_id: String,
    pub(super) quantity: rust_decimal::Decimal,
    grouping: Grouping,
}

/// How an order item is in ship groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grouping {
    /// In one.
    One,
    /// In one that does not exist.
    None,
    /// In several, as stock OFBiz spreads a line.
    Several,
}

struct Shipment {
    order_id: Option<String>,
    status_id: Option<String>,
    facility_id: Option<String>,
    items: BTreeMap<String, (Item, bool)>,
}

impl Shipment {
    /// The order that it is of: its primary one, or else the only one that its items are for.
    fn order_id(&self) -> Option<&str> {
        if self.order_id.is_some() {
            return self.order_id.as_deref();
        }
        let mut orders = self.orders();
        let first = orders.next()?;
        orders.all(|other| other == first).then_some(first)
    }

    fn orders(&self) -> impl Iterator<Item = &str> {
        let links = self.items.values().flat_map(|(item, _)| &item.links).map(|link| link.order_id.as_str());
        self.order_id.as_deref().into_iter().chain(links)
    }
}

/// Where else the order items are that the shipments' items are for: items of shipments, by order and order item.
type Parts = BTreeMap<(String, String), Vec<(String, String)>>;

/// The states before packing. (`SHIPMENT_APPROVED` is an addition, the others are stock.)
const IN_PROGRESS: [&str; 4] = ["SHIPMENT_INPUT", "SHIPMENT_SCHEDULED", "SHIPMENT_PICKED", "SHIPMENT_APPROVED"];

/// Locks and checks. Every violation is reported.
pub(super) async fn lock<'a>(transaction: &Transaction<'_>, update: &'a Update) -> Result<ChangeSet<'a>, ApplyError> {
    let shipments = shipments(transaction, update).await?;
    let parts = parts(transaction, &shipments).await?;
    let box_types = names(
        transaction,
        "SELECT shipment_box_type_id FROM shipment_box_type WHERE shipment_box_type_id = ANY($1)",
        update.boxes.iter().map(|row| row.box_type_id.as_str()),
    )
    .await?;
    let reasons = reasons(transaction).await?;
    let mut judge =
        Checker { update, shipments: &shipments, taken: BTreeMap::new(), touched: BTreeSet::new(), found: Vec::new() };
    let boxes = update.boxes.iter().filter(|row| judge.accepts_box(row, &box_types)).collect();
    let rejections = judge.rejections(&reasons);
    judge.hold_together(&rejections, &parts);
    let moves = judge.moves();
    let Checker { touched, found, .. } = judge;
    if found.is_empty() { Ok(ChangeSet { boxes, moves, rejections, touched }) } else { Err(ApplyError::Refused(found)) }
}

/// Locks the orders, then the shipments, each by id, and reads the shipments' items.
async fn shipments(transaction: &Transaction<'_>, update: &Update) -> Result<BTreeMap<String, Shipment>, ApplyError> {
    let mut ids: Vec<&str> = update.boxes.iter().map(|row| row.shipment_id.as_str()).collect();
    ids.extend(update.rejections.iter().map(|row| row.shipment_id.as_str()));
    ids.extend(update.moves.iter().flat_map(|row| [row.shipment_id.as_str(), row.new_shipment_id.as_str()]));
    ids.sort_unstable();
    ids.dedup();
    let mut orders: BTreeSet<String> = names(
        transaction,
        "SELECT primary_order_id FROM shipment WHERE shipment_id = ANY($1) AND primary_order_id IS NOT NULL \
         UNION SELECT order_id FROM order_shipment WHERE shipment_id = ANY($1)",
        ids.iter().copied(),
    )
    .await?;
    loop {
        let locked: Vec<&str> = orders.iter().map(String::as_str).collect();
        transaction
            .execute(
                "SELECT FROM order_header WHERE order_id = ANY($1) ORDER BY order_id FOR NO KEY UPDATE",
                &[&locked],
            )
            .await?;
        let shipments = locked_shipments(transaction, &ids).await?;
        // An item of one more order may have been moved in before the shipments were locked.
        let known = orders.len();
        orders.extend(shipments.values().flat_map(Shipment::orders).map(str::to_owned));
        if orders.len() == known {
            return Ok(shipments);
        }
    }
}

/// Locks the shipments by id, and reads them.
async fn locked_shipments(
    transaction: &Transaction<'_>,
    ids: &[&str],
) -> Result<BTreeMap<String, Shipment>, ApplyError> {
    let rows = transaction
        .query(
            "SELECT shipment_id, primary_order_id, status_id, origin_facility_id FROM shipment \
             WHERE shipment_id = ANY($1) ORDER BY shipment_id FOR NO KEY UPDATE",
            &[&ids],
        )
        .await?;
    let mut shipments = BTreeMap::new();
    for row in rows {
        let shipment = Shipment {
            order_id: row.try_get(1)?,
            status_id: row.try_get(2)?,
            facility_id: row.try_get(3)?,
            items: BTreeMap::new(),
        };
        shipments.insert(row.try_get(0)?, shipment);
    }
    let rows = transaction
        .query(
            "SELECT item.shipment_id, item.shipment_item_seq_id, item.product_id, link.order_id, \
                    link.order_item_seq_id, coalesce(line.ship_group_seq_id, link.ship_group_seq_id), \
                    coalesce(link.quantity, least(item.quantity, line.quantity), 0), \
                    EXISTS (SELECT FROM item_issuance AS issued WHERE issued.shipment_id = item.shipment_id \
                            AND issued.shipment_item_seq_id = item.shipment_item_seq_id) \
                    OR EXISTS (SELECT FROM shipment_receipt AS received WHERE received.shipment_id = item.shipment_id \
                               AND received.shipment_item_seq_id = item.shipment_item_seq_id), \
                    EXISTS (SELECT FROM order_item_ship_group AS own WHERE own.order_id = link.order_id \
                            AND own.ship_group_seq_id = coalesce(line.ship_group_seq_id, link.ship_group_seq_id)), \
                    (SELECT count(*) FROM order_item_ship_group_assoc AS assigned WHERE assigned.order_id = link.order_id \
                     AND assigned.order_item_seq_id = link.order_item_seq_id \
                     AND coalesce(assigned.quantity, 1) > coalesce(assigned.cancel_quantity, 0)) \
             FROM shipment_item AS item \
             LEFT JOIN (order_shipment AS link JOIN order_item AS line USING (order_id, order_item_seq_id)) \
                    ON link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id \
             WHERE item.shipment_id = ANY($1) \
             ORDER BY item.shipment_id, item.shipment_item_seq_id, link.order_id, link.order_item_seq_id",
            &[&ids],
        )
        .await?;
    for row in rows {
        let shipment_id: &str = row.try_get(0)?;
        let Some(shipment) = shipments.get_mut(shipment_id) else { continue };
        let seq_id: String = row.try_get(1)?;
        let item = Item { seq_id: seq_id.clone(), product_id: row.try_get(2)?, links: Vec::new() };
        let (item, issued) = shipment.items.entry(seq_id).or_insert((item, false));
        *issued = row.try_get(7)?;
        if let Some(order_id) = row.try_get(3)? {
            item.links.push(Link {
                order_id,
                order_item_seq_id: row.try_get(4)?,
                ship_group_seq_id: row.try_get(5)?,
                quantity: row.try_get(6)?,
                grouping: match (row.try_get(8)?, row.try_get::<_, i64>(9)?) {
                    (false, _) => Grouping::None,
                    (true, ..=1) => Grouping::One,
                    (true, _) => Grouping::Several,
                },
            });
        }
    }
    Ok(shipments)
}

/// Where the shipments' order items are as well: in shipments that are not cancelled, these among them.
async fn parts(transaction: &Transaction<'_>, shipments: &BTreeMap<String, Shipment>) -> Result<Parts, ApplyError> {
    let links = || shipments.values().flat_map(|shipment| shipment.items.values()).flat_map(|(item, _)| &item.links);
    let orders: Vec<&str> = links().map(|link| link.order_id.as_str()).collect();
    let lines: Vec<&str> = links().map(|link| link.order_item_seq_id.as_str()).collect();
    let rows = transaction
        .query(
            "SELECT DISTINCT order_id, order_item_seq_id, shipment_id, shipment_item_seq_id \
             FROM unnest($1::text[], $2::text[]) AS line(order_id, order_item_seq_id) \
             JOIN order_shipment USING (order_id, order_item_seq_id) \
             JOIN shipment_item USING (shipment_id, shipment_item_seq_id) \
             JOIN shipment USING (shipment_id) \
             WHERE status_id IS DISTINCT FROM 'SHIPMENT_CANCELLED' \
             ORDER BY order_id, order_item_seq_id, shipment_id, shipment_item_seq_id",
            &[&orders, &lines],
        )
        .await?;
    let mut parts = Parts::new();
    for row in rows {
        parts.entry((row.try_get(0)?, row.try_get(1)?)).or_default().push((row.try_get(2)?, row.try_get(3)?));
    }
    Ok(parts)
}

/// The names that a look-up finds among some.
async fn names(
    transaction: &Transaction<'_>,
    query: &str,
    names: impl Iterator<Item = &str>,
) -> Result<BTreeSet<String>, ApplyError> {
    let names: Vec<_> = names.collect();
    let rows = transaction.query(query, &[&names]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// The rejection reasons, and what each does to the stock.
async fn reasons(transaction: &Transaction<'_>) -> Result<BTreeMap<String, Variance>, ApplyError> {
    let rows = transaction
        .query(
            "SELECT enum_id, enum_type_id FROM enumeration \
             WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR')",
            &[],
        )
        .await?;
    let mut reasons = BTreeMap::new();
    for row in rows {
        let variance = match row.try_get(1)? {
            "REPORT_VAR" => Variance::Quantity,
            "REPORT_ALL_VAR" => Variance::All,
            _ => Variance::None,
        };
        reasons.insert(row.try_get(0)?, variance);
    }
    Ok(reasons)
}

/// Holds rows against what is there.
struct Checker<'a, 'd> {
    update: &'a Update,
    shipments: &'d BTreeMap<String, Shipment>,
    /// The items that rows have taken, and which row.
    taken: BTreeMap<(&'a str, &'d str), (Kind, u32)>,
    touched: BTreeSet<&'a str>,
    found: Vec<Violation>,
}

impl<'a, 'd> Checker<'a, 'd> {
    fn accepts_box(&mut self, row: &'a BoxRow, box_types: &BTreeSet<String>) -> bool {
        let known = box_types.contains(&row.box_type_id);
        if !known {
            self.against(Kind::Box, row.index, Fault::NoBoxType(row.box_type_id.clone()));
        }
        self.shipment(Kind::Box, row.index, &row.shipment_id).is_some() && known
    }

    fn rejections(&mut self, reasons: &BTreeMap<String, Variance>) -> Vec<RejectedItem<'a>> {
        let mut rejections = Vec::new();
        for row in &self.update.rejections {
            let variance = reasons.get(&row.reason);
            if variance.is_none() {
                let known = reasons.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                self.against(Kind::Rejection, row.index, Fault::NoReason { reason: row.reason.clone(), known });
            }
            let items = self.items(Kind::Rejection, row.index, &row.shipment_id, row.item_seq_id.as_deref());
            let Some(variance) = variance else { continue };
            if !items.is_empty() {
                self.touched.insert(&row.shipment_id);
            }
            rejections.extend(items.into_iter().map(|item| RejectedItem {
                row: row.index,
                shipment_id: &row.shipment_id,
                facility_id: &self.update.facility_id,
                item: item.clone(),
                reason: &row.reason,
                variance: *variance,
            }));
        }
        rejections
    }

    /// An order item moves from its group to another as a whole, with all that is reserved for it.
    fn hold_together(&mut self, rejections: &[RejectedItem<'_>], parts: &Parts) {
        let rejected: BTreeSet<(&str, &str)> =
            rejections.iter().map(|row| (row.shipment_id, row.item.seq_id.as_str())).collect();
        for RejectedItem { row, item, .. } in rejections {
            for link in &item.links {
                let (order, line) = (link.order_id.clone(), link.order_item_seq_id.clone());
                match link.grouping {
                    Grouping::One => {}
                    Grouping::None => {
                        self.against(Kind::Rejection, *row, Fault::Ungrouped { order, line });
                        continue;
                    }
                    Grouping::Several => {
                        self.against(Kind::Rejection, *row, Fault::Spread { order, line });
                        continue;
                    }
                }
                let key = (order, line);
                for (shipment, item) in parts.get(&key).into_iter().flatten() {
                    if !rejected.contains(&(shipment.as_str(), item.as_str())) {
                        let ((order, line), (shipment, item)) = (key.clone(), (shipment.clone(), item.clone()));
                        self.against(Kind::Rejection, *row, Fault::PartElsewhere { order, line, shipment, item });
                    }
                }
            }
        }
    }

    fn moves(&mut self) -> Vec<MovedItem<'a>> {
        let mut moves = Vec::new();
        for row in &self.update.moves {
            let items = self.items(Kind::Move, row.index, &row.shipment_id, row.item_seq_id.as_deref());
            let Some(to) = self.shipment(Kind::Move, row.index, &row.new_shipment_id) else { continue };
            let Some(from) = self.shipments.get(&row.shipment_id) else { continue };
            if from.order_id().is_none() || from.order_id() != to.order_id() {
                let fault = Fault::OtherOrder { from: row.shipment_id.clone(), to: row.new_shipment_id.clone() };
                if row.shipment_id != row.new_shipment_id {
                    self.against(Kind::Move, row.index, fault);
                }
                continue;
            }
            if row.shipment_id == row.new_shipment_id {
                continue; // where it is already
            }
            self.touched.extend([row.shipment_id.as_str(), row.new_shipment_id.as_str()]);
            moves.extend(items.into_iter().map(|item| MovedItem {
                from: &row.shipment_id,
                item: item.clone(),
                to: &row.new_shipment_id,
            }));
        }
        moves
    }

    /// The shipment, if it is there, at the facility and in progress.
    fn shipment(&mut self, kind: Kind, index: u32, shipment_id: &str) -> Option<&'d Shipment> {
        let Some(shipment) = self.shipments.get(shipment_id) else {
            self.against(kind, index, Fault::NoShipment(shipment_id.to_owned()));
            return None;
        };
        let is_there = shipment.facility_id.as_ref() == Some(&self.update.facility_id);
        if !is_there {
            let (starts, asked) = (shipment.facility_id.clone(), self.update.facility_id.clone());
            self.against(kind, index, Fault::OtherFacility { shipment: shipment_id.to_owned(), starts, asked });
        }
        let in_progress = shipment.status_id.as_deref().is_some_and(|status| IN_PROGRESS.contains(&status));
        if !in_progress {
            let status = shipment.status_id.clone();
            self.against(kind, index, Fault::NotInProgress { shipment: shipment_id.to_owned(), status });
        }
        (is_there && in_progress).then_some(shipment)
    }

    /// The items that a row names: one, or all of the shipment's.
    fn items(&mut self, kind: Kind, index: u32, shipment_id: &'a str, seq_id: Option<&str>) -> Vec<&'d Item> {
        let Some(shipment) = self.shipment(kind, index, shipment_id) else { return Vec::new() };
        let named: Vec<_> = match seq_id {
            None => shipment.items.values().collect(),
            Some(seq_id) => shipment.items.get(seq_id).into_iter().collect(),
        };
        if named.is_empty() {
            let shipment = shipment_id.to_owned();
            let fault = seq_id.map_or_else(
                || Fault::Empty(shipment.clone()),
                |item| Fault::NoItem { shipment: shipment.clone(), item: item.to_owned() },
            );
            self.against(kind, index, fault);
        }
        let mut items = Vec::with_capacity(named.len());
        for (item, issued) in named {
            let (shipment, seq_id) = (shipment_id.to_owned(), item.seq_id.clone());
            if let Some((kind_of_other, other)) = self.taken.insert((shipment_id, &item.seq_id), (kind, index)) {
                let other = format!("{kind_of_other} {other}");
                self.against(kind, index, Fault::Twice { shipment, item: seq_id, other });
            } else if *issued {
                self.against(kind, index, Fault::Issued { shipment, item: seq_id });
            } else if item.links.is_empty() && kind == Kind::Rejection {
                self.against(kind, index, Fault::Unlinked { shipment, item: seq_id });
            } else {
                items.push(item);
            }
        }
        items
    }

    fn against(&mut self, kind: Kind, index: u32, fault: Fault) {
        self.found.push(Violation { kind, index, fault });
    }
}
