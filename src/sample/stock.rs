//! The products of each facility, and how orders changed their stock.
//!
//! A facility has an assortment: the core products, which all facilities have, and other products. Only products of the
//! assortment form a pair with the facility. Orders are generated before the inventory, so that the inventory's totals
//! include what orders reserved and issued.

use std::ops::Range;

use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::size::SampleSize;

/// The inventory items of a product-facility pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum PairInventory {
    /// A single inventory item, which is the pair's current one.
    Single,
    /// A single inventory item, which is the pair's current one and is used up.
    Depleted,
    /// Two inventory items, and no current one.
    Several,
    /// No inventory item.
    Unstocked,
}

/// The changes of a pair's stock by orders since the stock count.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sample) struct StockMovements {
    /// The reserved quantity.
    pub(in crate::sample) reserved: i64,
    /// The issued quantity.
    pub(in crate::sample) issued: i64,
    /// The returned quantity.
    pub(in crate::sample) returned: i64,
}

/// All pairs, by facility. A pair is identified by its index.
#[derive(Debug)]
pub(in crate::sample) struct Stock {
    assortment: u32,
    core: u32,
    products: Vec<u32>,
    inventory: Vec<PairInventory>,
    movements: Vec<StockMovements>,
}

impl Stock {
    pub(in crate::sample) fn new(seed: u64, size: &SampleSize) -> Self {
        let mut products = Vec::with_capacity(size.pairs() as usize);
        let mut inventory = Vec::with_capacity(products.capacity());
        let own = size.assortment - size.core;
        let step = (size.products - size.core) / own;
        for facility in 0..size.facilities {
            let mut rng = SampleRng::new(seed, RngStream::Stock, facility.into());
            products.extend(0..size.core);
            products.extend((0..own).map(|index| size.core + index * step + rng.below(step)));
            inventory.extend((0..size.assortment).map(|_| {
                rng.weighted(&[
                    (70, PairInventory::Single),
                    (10, PairInventory::Depleted),
                    (12, PairInventory::Several),
                    (8, PairInventory::Unstocked),
                ])
            }));
        }
        let movements = vec![StockMovements::default(); products.len()];
        Self { assortment: size.assortment, core: size.core, products, inventory, movements }
    }

    /// A random pair of the facility that has or had stock. Half of the picks are core products.
    pub(in crate::sample) fn pick(&self, rng: &mut SampleRng, facility: u32) -> u32 {
        let bound = if rng.percent(50) { self.core } else { self.assortment };
        self.stocked(facility, rng.below(bound))
    }

    /// The pair of the same product at another facility. `None` unless it is a core product with an inventory item there.
    pub(in crate::sample) fn elsewhere(&self, pair: u32, facility: u32) -> Option<u32> {
        let position = pair % self.assortment;
        let other = facility * self.assortment + position;
        (position < self.core && self.inventory(other) != PairInventory::Unstocked).then_some(other)
    }

    /// The number of the pair's product.
    pub(in crate::sample) fn product(&self, pair: u32) -> u32 {
        self.products[pair as usize]
    }

    pub(in crate::sample) fn inventory(&self, pair: u32) -> PairInventory {
        self.inventory[pair as usize]
    }

    /// The pairs of a facility.
    pub(in crate::sample) fn pairs_of(&self, facility: u32) -> Range<u32> {
        facility * self.assortment..(facility + 1) * self.assortment
    }

    /// The changes of a pair's stock by orders.
    pub(in crate::sample) fn movements(&mut self, pair: u32) -> &mut StockMovements {
        &mut self.movements[pair as usize]
    }

    /// The pair at a position of the facility's assortment, or the next one with an inventory item.
    fn stocked(&self, facility: u32, position: u32) -> u32 {
        let start = facility * self.assortment;
        let from_position = (0..self.assortment).map(|step| start + (position + step) % self.assortment);
        from_position.into_iter().find(|pair| self.inventory(*pair) != PairInventory::Unstocked).unwrap_or(start)
    }
}
