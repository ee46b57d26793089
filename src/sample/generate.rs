//! Generates all rows in order: customers, facilities, products, orders, and finally the remaining inventory.

use crate::sample::batch::Batch;
use crate::sample::orders::order::{Order, OrderContext, OrderWriter};
use crate::sample::orders::{amounts, contacts, header, items, picklists, returns, shipments, stock_use};
use crate::sample::preconditions::TableColumn;
use crate::sample::size::SampleSize;
use crate::sample::stock::Stock;
use crate::sample::{customers, facilities, inventory, merchandise, products};

/// The number of orders, customers, products or facilities of a batch. A batch of orders takes some tens of megabytes.
const BATCH_SIZE: u32 = 1_024;

/// Generates all batches and passes them to `send`, until `send` returns false.
pub(in crate::sample) fn generate(
    size: SampleSize,
    seed: u64,
    absent: &[TableColumn],
    mut send: impl FnMut(Batch) -> bool,
) {
    let prices = (0..size.products).map(|number| products::price(seed, number)).collect();
    let mut context = OrderContext { seed, size, stock: Stock::new(seed, &size), prices };
    let mut continues = true;
    let mut batches = |count: u32, write: &mut dyn FnMut(&mut Batch, u32)| {
        for start in (0..count).step_by(BATCH_SIZE as usize) {
            let mut batch = Batch::without(absent);
            let end = count.min(start.saturating_add(BATCH_SIZE));
            for number in start..end {
                write(&mut batch, number);
            }
            batch.entities = (end - start).into();
            continues = continues && send(batch);
            if !continues {
                return;
            }
        }
    };
    batches(size.parties, &mut |batch, number| customers::write(batch, seed, number));
    batches(size.facilities, &mut |batch, number| facilities::write_facility(batch, seed, &size, number));
    batches(size.stores, &mut |batch, number| facilities::write_store(batch, seed, &size, number));
    batches(1, &mut |batch, _| {
        products::write_categories(batch);
        merchandise::write_features(batch);
    });
    batches(size.products, &mut |batch, number| products::write(batch, seed, number));
    batches(size.orders, &mut |batch, number| write_order(batch, &mut context, number));
    batches(size.facilities, &mut |batch, number| inventory::write(batch, &mut context, number));
}

fn write_order(batch: &mut Batch, context: &mut OrderContext, number: u32) {
    let mut rng = Order::rng(context, number);
    let order = Order::generate(context, &mut rng, number);
    let out = &mut OrderWriter { batch, context, rng: &mut rng };
    let (totals, shares) = amounts::write(out.batch, out.rng, &order);
    let paid = header::write(out, &order, totals);
    amounts::write_payments(out.batch, &order, &shares, paid);
    contacts::write(out.batch, out.rng, &order);
    let shipped = shipments::write(out, &order);
    items::write(out, &order, &shipped);
    stock_use::write(out, &order, &shipped);
    picklists::write(out.batch, &order);
    returns::write(out, &order);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sample::batch::TABLES;

    #[test]
    fn generates_rows_of_the_listed_tables() {
        let mut tables = BTreeSet::new();
        generate(SampleSize::of(300), 1, &[], |batch| {
            tables.extend(batch.into_rows().map(|(target, _)| target.table));
            true
        });
        assert_eq!(tables, TABLES.split(", ").collect());
    }
}
