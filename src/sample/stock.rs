//! Which facility holds which products, and what orders took of them.
//!
//! A facility is set up for its assortment: the core products, which all facilities have, and others of its own. All other
//! pairs of a product and a facility are absent. Orders are made before inventory is, so that its totals can tell what
//! they reserved and took.

use std::ops::Range;

use crate::sample::draw::{Draw, Kind};
use crate::sample::size::Size;

/// How the stock of a pair is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Held {
    /// One inventory item, that the pair points to.
    Single,
    /// The same, and nothing left in it.
    Depleted,
    /// Two inventory items, and no pointer.
    Several,
    /// None was ever there.
    Never,
}

/// What orders did to a pair's stock since it was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sample) struct Taken {
    /// Pieces that are kept for items.
    pub(in crate::sample) reserved: i64,
    /// Pieces that left for items.
    pub(in crate::sample) issued: i64,
    /// Pieces that came back.
    pub(in crate::sample) returned: i64,
}

/// The pairs, facility by facility, each's in the order of their products.
#[derive(Debug)]
pub(in crate::sample) struct Stock {
    assortment: u32,
    core: u32,
    products: Vec<u32>,
    held: Vec<Held>,
    taken: Vec<Taken>,
}

impl Stock {
    pub(in crate::sample) fn new(seed: u64, size: &Size) -> Self {
        let mut products = Vec::with_capacity(size.pairs() as usize);
        let mut held = Vec::with_capacity(products.capacity());
        let own = size.assortment - size.core;
        let step = (size.products - size.core) / own;
        for facility in 0..size.facilities {
            let mut draw = Draw::new(seed, Kind::Stock, facility.into());
            products.extend(0..size.core);
            products.extend((0..own).map(|at| size.core + at * step + draw.below(step)));
            held.extend((0..size.assortment).map(|_| {
                draw.weighted(&[(70, Held::Single), (10, Held::Depleted), (12, Held::Several), (8, Held::Never)])
            }));
        }
        let taken = vec![Taken::default(); products.len()];
        Self { assortment: size.assortment, core: size.core, products, held, taken }
    }

    /// A pair of this facility that has or had stock. Half of what is sold are core products.
    pub(in crate::sample) fn pick(&self, draw: &mut Draw, facility: u32) -> u32 {
        let bound = if draw.percent(50) { self.core } else { self.assortment };
        self.stocked(facility, draw.below(bound))
    }

    /// The pair of another facility with the same product, if it is one of all facilities' and was ever there.
    pub(in crate::sample) fn elsewhere(&self, pair: u32, facility: u32) -> Option<u32> {
        let place = pair % self.assortment;
        let other = facility * self.assortment + place;
        (place < self.core && self.held(other) != Held::Never).then_some(other)
    }

    pub(in crate::sample) fn product(&self, pair: u32) -> u32 {
        self.products[pair as usize]
    }

    pub(in crate::sample) fn held(&self, pair: u32) -> Held {
        self.held[pair as usize]
    }

    /// The pairs of a facility.
    pub(in crate::sample) fn pairs_of(&self, facility: u32) -> Range<u32> {
        facility * self.assortment..(facility + 1) * self.assortment
    }

    /// What orders did to a pair.
    pub(in crate::sample) fn taken(&mut self, pair: u32) -> &mut Taken {
        &mut self.taken[pair as usize]
    }

    /// The pair at a place of an assortment, or the next that was ever stocked.
    fn stocked(&self, facility: u32, place: u32) -> u32 {
        let start = facility * self.assortment;
        let from_there = (0..self.assortment).map(|step| start + (place + step) % self.assortment);
        from_there.into_iter().find(|pair| self.held(*pair) != Held::Never).unwrap_or(start)
    }
}
