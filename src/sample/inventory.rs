//! The inventory of a facility after all orders. An inventory item's totals are the sums of its details.

use crate::sample::batch::{Batch, row};
use crate::sample::calendar;
use crate::sample::ids::{self, COMPANY, Id};
use crate::sample::money::cents;
use crate::sample::orders::order::{OrderContext, OrderWriter};
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::stock::{PairInventory, StockMovements};

/// Writes the pairs of a facility with their inventory.
pub(in crate::sample) fn write(batch: &mut Batch, context: &mut OrderContext, facility: u32) {
    // A separate stream from the stream of the facility's assortment.
    let mut rng = SampleRng::new(context.seed, RngStream::Stock, (1 << 32) + u64::from(facility));
    for pair in context.stock.pairs_of(facility) {
        write_pair(&mut OrderWriter { batch, context, rng: &mut rng }, facility, pair);
    }
}

fn write_pair(out: &mut OrderWriter<'_>, facility: u32, pair: u32) {
    let inventory = out.context.stock.inventory(pair);
    let movements = *out.context.stock.movements(pair);
    let product_id = ids::product(out.context.stock.product(pair));
    let id = ids::inventory_item(pair);
    let mut available = match inventory {
        PairInventory::Depleted | PairInventory::Unstocked => 0,
        PairInventory::Single | PairInventory::Several => i64::from(out.rng.between(1, 200)),
    };
    if inventory != PairInventory::Unstocked {
        write_item(out, &InventoryItem { id, product_id, facility, available, movements });
    }
    if inventory == PairInventory::Several {
        let more = i64::from(out.rng.below(50));
        let movements = StockMovements::default();
        write_item(out, &InventoryItem { id: id.part(1), product_id, facility, available: more, movements });
        available += more;
    }
    out.batch.push(row!(product_facility {
        product_id,
        facility_id: ids::facility(facility),
        minimum_stock: out.rng.percent(70).then(|| out.rng.below(20)),
        reorder_quantity: out.rng.percent(60).then(|| out.rng.between(5, 100)),
        days_to_ship: out.rng.percent(80).then(|| out.rng.below(6)),
        last_inventory_count: available,
        inventory_item_id: matches!(inventory, PairInventory::Single | PairInventory::Depleted).then_some(id),
    }));
}

/// An inventory item of a product at a facility.
struct InventoryItem {
    id: Id,
    product_id: Id,
    facility: u32,
    /// The available quantity, in addition to what orders reserved.
    available: i64,
    movements: StockMovements,
}

/// Writes an inventory item, and its stock count.
fn write_item(out: &mut OrderWriter<'_>, item: &InventoryItem) {
    let InventoryItem { id, product_id, facility, available, movements } = *item;
    let on_hand = available + movements.reserved;
    let counted = on_hand + movements.issued - movements.returned;
    let received = calendar::before_start(out.rng);
    let unit_cost = out.rng.percent(90).then(|| cents(out.rng.between(150, 6_000)));
    out.batch.push(row!(inventory_item {
        inventory_item_id: id,
        inventory_item_type_id: "NON_SERIAL_INV_ITEM",
        product_id,
        facility_id: ids::facility(facility),
        owner_party_id: COMPANY,
        datetime_received: out.rng.percent(95).then_some(received),
        expire_date: out.rng.percent(5).then(|| calendar::within_hours(out.rng, calendar::START, 40_000)),
        serial_number: out.rng.percent(2).then(|| Id::with_width("SN", out.rng.below(1_000_000).into(), 6)),
        quantity_on_hand_total: on_hand,
        available_to_promise_total: available,
        accounting_quantity_total: counted,
        unit_cost,
        currency_uom_id: "USD",
    }));
    out.batch.push(row!(inventory_item_detail {
        inventory_item_id: id,
        inventory_item_detail_seq_id: Id::new("SB", 1),
        effective_date: received,
        quantity_on_hand_diff: counted,
        available_to_promise_diff: counted,
        accounting_quantity_diff: counted,
        description: "Opening count",
    }));
}
