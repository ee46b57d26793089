//! Orders: first what happened to one, then its rows in all tables.

pub(in crate::sample) mod contacts;
pub(in crate::sample) mod flow;
pub(in crate::sample) mod lines;
pub(in crate::sample) mod money;
pub(in crate::sample) mod returns;
pub(in crate::sample) mod rows;
pub(in crate::sample) mod shipments;
pub(in crate::sample) mod taking;

use crate::sample::calendar;
use crate::sample::draw::{Draw, Kind};
use crate::sample::field::{Id, Time};
use crate::sample::ids;
use crate::sample::orders::flow::{Flow, State};
use crate::sample::size::Size;
use crate::sample::stock::Stock;

const MOST_GROUPS: u32 = 3;
const MOST_ITEMS: usize = 8;
const QUEUES: [&str; 5] = ["_NA_", "_NA_", "UNFILLABLE_PARKING", "BACKORDER_PARKING", "PRE_ORDER_PARKING"];

/// What everything about an order follows from.
#[derive(Debug)]
pub(in crate::sample) struct Order {
    pub(in crate::sample) number: u32,
    pub(in crate::sample) placed: Time,
    pub(in crate::sample) state: State,
    pub(in crate::sample) store: u32,
    /// The party that pays.
    pub(in crate::sample) customer: u32,
    /// The party that it goes to.
    pub(in crate::sample) recipient: u32,
    /// Whether it was placed after all stock was counted: then stock has a row for what it took, and for what came back.
    /// What went before is in the count.
    pub(in crate::sample) is_after_count: bool,
    /// Whether it came from a sales channel, which has ids of its own for the order and its lines.
    pub(in crate::sample) is_imported: bool,
    /// In the order of their sequence ids, from 1.
    pub(in crate::sample) groups: Vec<Group>,
    /// In the order of their sequence ids, from 1.
    pub(in crate::sample) items: Vec<Item>,
}

/// A ship group.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Group {
    /// Its facility, or where it waits for one; `None` where nothing was decided yet.
    pub(in crate::sample) place: Option<Place>,
    pub(in crate::sample) method: &'static str,
    pub(in crate::sample) carrier: &'static str,
    pub(in crate::sample) flow: Flow,
}

/// Where a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Place {
    Facility(u32),
    Queue(&'static str),
}

/// A line of an order, or a part of a line that was split.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Item {
    /// The sales channel's line.
    pub(in crate::sample) line: u32,
    /// The group's place in the order.
    pub(in crate::sample) group: usize,
    /// The pair that it is taken from; `None` for what is no product, such as wrapping.
    pub(in crate::sample) pair: Option<u32>,
    pub(in crate::sample) quantity: u32,
    /// In cents, for one piece.
    pub(in crate::sample) price: u32,
    pub(in crate::sample) is_cancelled: bool,
}

/// What orders are made in.
#[derive(Debug)]
pub(in crate::sample) struct World {
    pub(in crate::sample) seed: u64,
    pub(in crate::sample) size: Size,
    pub(in crate::sample) stock: Stock,
    /// Of each product, in cents.
    pub(in crate::sample) prices: Vec<u32>,
}

impl Order {
    pub(in crate::sample) fn id(&self) -> Id {
        ids::order(self.number)
    }

    /// The stream of this order, which what is written about it goes on with.
    pub(in crate::sample) fn stream(world: &World, number: u32) -> Draw {
        Draw::new(world.seed, Kind::Order, number.into())
    }

    /// Makes up what happened.
    pub(in crate::sample) fn draw(world: &World, draw: &mut Draw, number: u32) -> Self {
        let Size { orders, parties, stores, .. } = world.size;
        let placed = calendar::placed(draw, number, orders);
        // The newest twelfth is in progress.
        let is_recent = number >= orders - orders / 12;
        let state = flow::state(draw, is_recent);
        let customer = draw.below(parties);
        let groups = groups(world, draw, state, is_recent);
        let mut order = Self {
            number,
            placed,
            state,
            store: draw.below(stores),
            customer,
            recipient: if draw.percent(8) { draw.below(parties) } else { customer },
            // The newest quarter.
            is_after_count: number >= orders - orders / 4,
            is_imported: draw.percent(92),
            groups,
            items: Vec::with_capacity(MOST_ITEMS),
        };
        order.draw_items(world, draw);
        order
    }

    /// One to eight items. Each group that is not left gets one at least, as far as they go round.
    fn draw_items(&mut self, world: &World, draw: &mut Draw) {
        let filled: Vec<usize> = (0..self.groups.len()).filter(|at| self.groups[*at].flow != Flow::Left).collect();
        let lines = draw.weighted(&[(20, 1), (20, 2), (18, 3), (14, 4), (10, 5), (8, 6), (6, 7), (4, 8)]);
        for line in 1..=lines {
            let first = filled.get(self.items.len()).copied();
            let group = first.unwrap_or_else(|| draw.pick(&filled));
            let item = self.draw_item(world, draw, line, group);
            // With those to come, and the other part, no more than there may be.
            let most = self.items.len() + (lines - line) as usize + 2;
            let others = most <= MOST_ITEMS && item.quantity > 1 && filled.len() > 1 && draw.percent(50);
            let other = others.then(|| draw.pick(&filled)).filter(|other| *other != group);
            match other.and_then(|other| Some((other, self.pair_in(world, other, item.pair?)?))) {
                Some((other, pair)) => {
                    let there = draw.between(1, item.quantity - 1);
                    self.items.push(Item { quantity: item.quantity - there, ..item });
                    self.items.push(Item { group: other, pair: Some(pair), quantity: there, ..item });
                }
                None => self.items.push(item),
            }
        }
        // A cancelled line leaves its order as it is, so that not all of an order's are.
        for at in 1..self.items.len() {
            self.items[at].is_cancelled = matches!(self.state, State::Approved | State::Completed) && draw.percent(3);
        }
    }

    fn draw_item(&self, world: &World, draw: &mut Draw, line: u32, group: usize) -> Item {
        let facility = match self.groups[group].place {
            Some(Place::Facility(facility)) => facility,
            _ => draw.below(world.size.facilities),
        };
        let pair = draw.per_mille(985).then(|| world.stock.pick(draw, facility));
        let price = pair.map_or(350, |pair| world.prices[world.stock.product(pair) as usize]);
        let quantity = draw.weighted(&[(68, 1), (20, 2), (7, 3), (3, 4), (1, 5), (1, 12)]);
        Item { line, group, pair, quantity, price, is_cancelled: false }
    }

    /// The pair with the same product in another group.
    fn pair_in(&self, world: &World, group: usize, pair: u32) -> Option<u32> {
        match self.groups[group].place {
            Some(Place::Facility(facility)) => world.stock.elsewhere(pair, facility),
            _ => Some(pair),
        }
    }

    /// The items of a group with their places in the order.
    pub(in crate::sample) fn items_of(&self, group: usize) -> impl Iterator<Item = (usize, &Item)> {
        self.items.iter().enumerate().filter(move |(_, item)| item.group == group)
    }

    /// How far this item has come.
    pub(in crate::sample) fn flow(&self, item: &Item) -> Flow {
        if item.is_cancelled { Flow::Cancelled(None) } else { self.groups[item.group].flow }
    }
}

/// One to three groups. One in a dozen orders has a group that was left: its items were moved to the group after it.
fn groups(world: &World, draw: &mut Draw, state: State, is_recent: bool) -> Vec<Group> {
    let count = draw.weighted(&[(62, 1), (27, 2), (11, MOST_GROUPS)]);
    let mut groups = Vec::with_capacity(MOST_GROUPS as usize);
    for _ in 0..count {
        let (method, carrier) = flow::method(draw);
        let flow = flow::flow(draw, state, method, is_recent);
        let facility = Place::Facility(draw.below(world.size.facilities));
        let place = match flow {
            Flow::Waiting if draw.percent(15) => None,
            Flow::Waiting => Some(Place::Queue(draw.pick(&QUEUES))),
            _ => Some(facility),
        };
        if count < MOST_GROUPS && groups.is_empty() && draw.percent(10) {
            let left = Place::Facility(draw.below(world.size.facilities));
            groups.push(Group { place: Some(left), method, carrier, flow: Flow::Left });
        }
        groups.push(Group { place, method, carrier, flow });
    }
    // An approved order has something left to do.
    if state == State::Approved && groups.iter().all(|group| group.flow.is_done()) {
        let last = groups.len() - 1;
        groups[last].flow = Flow::Reserved;
    }
    groups
}
