//! The history of an order, from which all of its rows are derived.

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::copy_value::CopyValue;
use crate::sample::ids::{self, Id};
use crate::sample::orders::lifecycle::{self, Fulfillment, OrderState};
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::sample_time::SampleTime;
use crate::sample::size::SampleSize;
use crate::sample::stock::Stock;

const MAX_GROUPS: u32 = 3;
const MAX_ITEMS: usize = 8;
const QUEUES: [&str; 5] = ["_NA_", "_NA_", "UNFILLABLE_PARKING", "BACKORDER_PARKING", "PRE_ORDER_PARKING"];

/// The history of an order.
#[derive(Debug)]
pub(in crate::sample) struct Order {
    pub(in crate::sample) number: u32,
    pub(in crate::sample) placed: SampleTime,
    pub(in crate::sample) state: OrderState,
    pub(in crate::sample) store: u32,
    /// The paying party.
    pub(in crate::sample) customer: u32,
    /// The receiving party.
    pub(in crate::sample) recipient: u32,
    /// Whether it was placed after the stock count. Then inventory details record its issuances and returns; issuances and returns of
    /// earlier orders are in the count.
    pub(in crate::sample) is_after_count: bool,
    /// Whether it was imported from a sales channel, which has its own ids for the order and its lines.
    pub(in crate::sample) is_imported: bool,
    /// By sequence id.
    pub(in crate::sample) groups: Vec<ShipGroup>,
    /// By sequence id.
    pub(in crate::sample) items: Vec<SampleItem>,
}

/// A ship group.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct ShipGroup {
    /// The facility or queue; `None` if not assigned yet.
    pub(in crate::sample) assignment: Option<Assignment>,
    pub(in crate::sample) method: &'static str,
    pub(in crate::sample) carrier: &'static str,
    pub(in crate::sample) fulfillment: Fulfillment,
}

/// The assignment of a ship group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Assignment {
    Facility(u32),
    /// The id of a queue, in which the group waits for a facility.
    Queue(&'static str),
}

/// The id of the facility or queue.
impl CopyValue for Assignment {
    fn append_to(&self, row: &mut String) {
        match self {
            Self::Facility(facility) => ids::facility(*facility).append_to(row),
            Self::Queue(queue) => queue.append_to(row),
        }
    }
}

/// An item of an order: a line, or a part of a split line.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct SampleItem {
    /// The line's number at the sales channel.
    pub(in crate::sample) line: u32,
    /// The ship group's index in the order.
    pub(in crate::sample) group: usize,
    /// The product-facility pair that provides it; `None` for a service, such as gift wrapping.
    pub(in crate::sample) pair: Option<u32>,
    pub(in crate::sample) quantity: u32,
    /// The unit price in cents.
    pub(in crate::sample) price: u32,
    pub(in crate::sample) is_cancelled: bool,
}

/// Writes the rows of an order, or of what orders leave.
pub(in crate::sample) struct OrderWriter<'a> {
    pub(in crate::sample) batch: &'a mut Batch,
    pub(in crate::sample) context: &'a mut OrderContext,
    pub(in crate::sample) rng: &'a mut SampleRng,
}

/// The data that generating orders uses and changes.
#[derive(Debug)]
pub(in crate::sample) struct OrderContext {
    pub(in crate::sample) seed: u64,
    pub(in crate::sample) size: SampleSize,
    pub(in crate::sample) stock: Stock,
    /// The price of each product in cents.
    pub(in crate::sample) prices: Vec<u32>,
}

impl Order {
    pub(in crate::sample) fn id(&self) -> Id {
        ids::order(self.number)
    }

    /// The random stream of an order. The writers of its rows continue it.
    pub(in crate::sample) fn rng(context: &OrderContext, number: u32) -> SampleRng {
        SampleRng::new(context.seed, RngStream::Order, number.into())
    }

    /// Generates the history of an order.
    pub(in crate::sample) fn generate(context: &OrderContext, rng: &mut SampleRng, number: u32) -> Self {
        let SampleSize { orders, parties, stores, .. } = context.size;
        let placed = calendar::order_date(rng, number, orders);
        // Only the latest twelfth of the orders is in progress.
        let is_recent = number >= orders - orders / 12;
        let state = lifecycle::random_state(rng, is_recent);
        let customer = rng.below(parties);
        let groups = random_groups(context, rng, state, is_recent);
        let mut order = Self {
            number,
            placed,
            state,
            store: rng.below(stores),
            customer,
            recipient: if rng.percent(8) { rng.below(parties) } else { customer },
            // The latest quarter of the orders.
            is_after_count: number >= orders - orders / 4,
            is_imported: rng.percent(92),
            groups,
            items: Vec::with_capacity(MAX_ITEMS),
        };
        order.generate_items(context, rng);
        order
    }

    /// Generates one to eight items. Each group that is not emptied gets at least one, as far as they suffice.
    fn generate_items(&mut self, context: &OrderContext, rng: &mut SampleRng) {
        let filled: Vec<usize> =
            (0..self.groups.len()).filter(|index| self.groups[*index].fulfillment != Fulfillment::Emptied).collect();
        let lines = rng.weighted(&[(20, 1), (20, 2), (18, 3), (14, 4), (10, 5), (8, 6), (6, 7), (4, 8)]);
        for line in 1..=lines {
            let first = filled.get(self.items.len()).copied();
            let group = first.unwrap_or_else(|| rng.pick(&filled));
            let item = SampleItem { line, ..self.generate_item(context, rng, group) };
            // A line is split only if the maximum allows all remaining lines and the second part.
            let needed = self.items.len() + (lines - line) as usize + 2;
            let is_split = needed <= MAX_ITEMS && item.quantity > 1 && filled.len() > 1 && rng.percent(50);
            let other = is_split.then(|| rng.pick(&filled)).filter(|other| *other != group);
            match other.and_then(|other| Some((other, self.pair_in(context, other, item.pair?)?))) {
                Some((other, pair)) => {
                    let moved = rng.between(1, item.quantity - 1);
                    self.items.push(SampleItem { quantity: item.quantity - moved, ..item });
                    self.items.push(SampleItem { group: other, pair: Some(pair), quantity: moved, ..item });
                }
                None => self.items.push(item),
            }
        }
        // A cancelled item does not change the order's state, so the first item is never cancelled.
        for index in 1..self.items.len() {
            self.items[index].is_cancelled =
                matches!(self.state, OrderState::Approved | OrderState::Completed) && rng.percent(3);
        }
    }

    fn generate_item(&self, context: &OrderContext, rng: &mut SampleRng, group: usize) -> SampleItem {
        let facility = match self.groups[group].assignment {
            Some(Assignment::Facility(facility)) => facility,
            Some(Assignment::Queue(_)) | None => rng.below(context.size.facilities),
        };
        let pair = rng.per_mille(985).then(|| context.stock.pick(rng, facility));
        let price = pair.map_or(350, |pair| context.prices[context.stock.product(pair) as usize]);
        let quantity = rng.weighted(&[(68, 1), (20, 2), (7, 3), (3, 4), (1, 5), (1, 12)]);
        SampleItem { line: 0, group, pair, quantity, price, is_cancelled: false }
    }

    /// The pair with the same product at another group's facility.
    fn pair_in(&self, context: &OrderContext, group: usize, pair: u32) -> Option<u32> {
        match self.groups[group].assignment {
            Some(Assignment::Facility(facility)) => context.stock.elsewhere(pair, facility),
            Some(Assignment::Queue(_)) | None => Some(pair),
        }
    }

    /// The items of a group with their indexes in the order.
    pub(in crate::sample) fn items_of(&self, group: usize) -> impl Iterator<Item = (usize, &SampleItem)> {
        self.items.iter().enumerate().filter(move |(_, item)| item.group == group)
    }

    /// The fulfillment of an item.
    pub(in crate::sample) fn fulfillment(&self, item: &SampleItem) -> Fulfillment {
        if item.is_cancelled { Fulfillment::Cancelled(None) } else { self.groups[item.group].fulfillment }
    }
}

/// Generates one to three ship groups. About one in twelve orders has a group whose items were moved to the next one.
fn random_groups(context: &OrderContext, rng: &mut SampleRng, state: OrderState, is_recent: bool) -> Vec<ShipGroup> {
    let count = rng.weighted(&[(62, 1), (27, 2), (11, MAX_GROUPS)]);
    let mut groups = Vec::with_capacity(MAX_GROUPS as usize);
    for _ in 0..count {
        let (method, carrier) = lifecycle::random_method(rng);
        let fulfillment = lifecycle::random_fulfillment(rng, state, method, is_recent);
        let facility = Assignment::Facility(rng.below(context.size.facilities));
        let assignment = match fulfillment {
            Fulfillment::Waiting if rng.percent(15) => None,
            Fulfillment::Waiting => Some(Assignment::Queue(rng.pick(&QUEUES))),
            Fulfillment::Reserved
            | Fulfillment::Shipping(_)
            | Fulfillment::Shipped(_)
            | Fulfillment::HandedOver
            | Fulfillment::Cancelled(_)
            | Fulfillment::Emptied => Some(facility),
        };
        if count < MAX_GROUPS && groups.is_empty() && rng.percent(10) {
            let former = Assignment::Facility(rng.below(context.size.facilities));
            groups.push(ShipGroup { assignment: Some(former), method, carrier, fulfillment: Fulfillment::Emptied });
        }
        groups.push(ShipGroup { assignment, method, carrier, fulfillment });
    }
    // An approved order is not complete.
    if state == OrderState::Approved && groups.iter().all(|group| group.fulfillment.is_done()) {
        let last = groups.len() - 1;
        groups[last].fulfillment = Fulfillment::Reserved;
    }
    groups
}
