//! Everything in its order: people, places, products, orders, and at last the inventory that is left.

use crate::sample::batch::Batch;
use crate::sample::orders::{Order, World, contacts, lines, money, returns, rows, shipments, taking};
use crate::sample::size::Size;
use crate::sample::stock::Stock;
use crate::sample::{inventory, people, places, products};

/// Orders, customers, products or facilities of a batch. A batch of orders is some megabytes.
const BATCH: u32 = 4_096;

/// Makes the rows up and hands them over in batches, until `take` does not want them any more.
pub(in crate::sample) fn generate(size: Size, seed: u64, mut take: impl FnMut(Batch) -> bool) {
    let prices = (0..size.products).map(|number| products::price(seed, number)).collect();
    let mut world = World { seed, size, stock: Stock::new(seed, &size), prices };
    let mut go_on = true;
    let mut batches = |count: u32, write: &mut dyn FnMut(&mut Batch, u32)| {
        for start in (0..count).step_by(BATCH as usize) {
            let mut batch = Batch::new();
            let end = count.min(start.saturating_add(BATCH));
            for number in start..end {
                write(&mut batch, number);
            }
            batch.things = (end - start).into();
            go_on = go_on && take(batch);
            if !go_on {
                return;
            }
        }
    };
    batches(size.parties, &mut |batch, number| people::write(batch, seed, number));
    batches(size.facilities, &mut |batch, number| places::write_facility(batch, seed, &size, number));
    batches(size.stores, &mut |batch, number| places::write_store(batch, seed, &size, number));
    batches(1, &mut |batch, _| products::write_categories(batch));
    batches(size.products, &mut |batch, number| products::write(batch, seed, number));
    batches(size.orders, &mut |batch, number| write_order(batch, &mut world, number));
    batches(size.facilities, &mut |batch, number| inventory::write(batch, &mut world, number));
}

fn write_order(batch: &mut Batch, world: &mut World, number: u32) {
    let mut draw = Order::stream(world, number);
    let draw = &mut draw;
    let order = Order::draw(world, draw, number);
    let totals = money::write(batch, draw, &order);
    rows::write(batch, world, draw, &order, totals);
    contacts::write(batch, draw, &order);
    let sent = shipments::write(batch, world, draw, &order);
    lines::write(batch, world, draw, &order, &sent);
    taking::write(batch, world, draw, &order, &sent);
    returns::write(batch, world, draw, &order);
}
