//! The stock of a facility, after all orders: what is there, what is promised, and what was counted, so that an item's
//! totals are the sums of its details.

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::{Draw, Kind};
use crate::sample::field::{Decimal, Id};
use crate::sample::ids::{self, COMPANY};
use crate::sample::orders::World;
use crate::sample::stock::{Held, Taken};
use crate::sample::tables::{InventoryItem, InventoryItemDetail, ProductFacility};

/// Writes the pairs of one facility with their inventory.
pub(in crate::sample) fn write(batch: &mut Batch, world: &mut World, facility: u32) {
    // A stream apart from the one that the facility's assortment was drawn from.
    let mut draw = Draw::new(world.seed, Kind::Stock, (1 << 32) + u64::from(facility));
    for pair in world.stock.pairs_of(facility) {
        write_pair(batch, world, &mut draw, facility, pair);
    }
}

fn write_pair(batch: &mut Batch, world: &mut World, draw: &mut Draw, facility: u32, pair: u32) {
    let held = world.stock.held(pair);
    let taken = *world.stock.taken(pair);
    let product_id = ids::product(world.stock.product(pair));
    let item = ids::inventory_item(pair);
    let mut available = match held {
        Held::Depleted | Held::Never => 0,
        Held::Single | Held::Several => i64::from(draw.between(1, 200)),
    };
    if held != Held::Never {
        write_item(batch, draw, (product_id, facility), item, available, taken);
    }
    if held == Held::Several {
        let more = i64::from(draw.below(50));
        write_item(batch, draw, (product_id, facility), item.part(1), more, Taken::default());
        available += more;
    }
    batch.push(&ProductFacility {
        product_id,
        facility_id: ids::facility(facility),
        minimum_stock: draw.percent(70).then(|| Decimal::whole(draw.below(20).into())),
        reorder_quantity: draw.percent(60).then(|| Decimal::whole(draw.between(5, 100).into())),
        days_to_ship: draw.percent(80).then(|| Decimal::whole(draw.below(6).into())),
        last_inventory_count: Some(Decimal::whole(available)),
        inventory_item_id: matches!(held, Held::Single | Held::Depleted).then_some(item),
    });
}

/// Writes an item of which so much is available, beside what orders keep of it, and what was counted of it before.
fn write_item(batch: &mut Batch, draw: &mut Draw, pair: (Id, u32), item: Id, available: i64, taken: Taken) {
    let (product_id, facility) = pair;
    let on_hand = available + taken.reserved;
    let counted = on_hand + taken.issued - taken.returned;
    let received = calendar::before(draw);
    let unit_cost = draw.percent(90).then(|| Decimal::cents(draw.between(150, 6_000).into()));
    batch.push(&InventoryItem {
        inventory_item_id: item,
        inventory_item_type_id: "NON_SERIAL_INV_ITEM",
        product_id,
        facility_id: ids::facility(facility),
        owner_party_id: COMPANY,
        status_id: None,
        datetime_received: draw.percent(95).then_some(received),
        expire_date: draw.percent(5).then(|| calendar::within(draw, calendar::START, 40_000)),
        serial_number: draw.percent(2).then(|| Id::wide("SN", draw.below(1_000_000).into(), 6)),
        quantity_on_hand_total: Decimal::whole(on_hand),
        available_to_promise_total: Decimal::whole(available),
        accounting_quantity_total: Decimal::whole(counted),
        unit_cost,
        currency_uom_id: "USD",
    });
    batch.push(&InventoryItemDetail {
        inventory_item_id: item,
        inventory_item_detail_seq_id: Id::new("SB", 1),
        effective_date: received,
        quantity_on_hand_diff: Decimal::whole(counted),
        available_to_promise_diff: Decimal::whole(counted),
        accounting_quantity_diff: Decimal::whole(counted),
        order_id: None,
        order_item_seq_id: None,
        ship_group_seq_id: None,
        shipment_id: None,
        return_id: None,
        return_item_seq_id: None,
        item_issuance_id: None,
        receipt_id: None,
        description: Some("Opening count"),
    });
}
