//! Products, their categories, and what other systems call them.

use std::borrow::Cow;

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::{Draw, Kind};
use crate::sample::field::{Id, Time};
use crate::sample::ids;
use crate::sample::tables::{GoodIdentification, Product, ProductCategory};
use crate::sample::words::{ADJECTIVES, BRANDS, CATEGORIES, COLORS, SIZES, THINGS};

/// Writes the categories.
pub(in crate::sample) fn write_categories(batch: &mut Batch) {
    for (number, category_name) in CATEGORIES.iter().enumerate() {
        batch.push(&ProductCategory { product_category_id: ids::category(number), category_name });
    }
}

/// Writes one product.
pub(in crate::sample) fn write(batch: &mut Batch, seed: u64, number: u32) {
    let mut draw = Draw::new(seed, Kind::Product, number.into());
    let draw = &mut draw;
    let product_id = ids::product(number);
    let created = calendar::before(draw);
    let is_virtual = draw.percent(3);
    let thing = draw.pick(THINGS);
    let internal_name = format!("{}-{}-{}", thing.to_uppercase(), draw.pick(COLORS), draw.pick(SIZES));
    batch.push(&Product {
        product_id,
        product_type_id: "FINISHED_GOOD",
        primary_product_category_id: draw.percent(90).then(|| ids::category(draw.place(CATEGORIES.len()))),
        internal_name: draw.percent(97).then_some(Cow::Owned(internal_name)),
        // Some have none; most share theirs with a few others.
        product_name: (number % 50 != 7).then(|| Cow::Owned(format!("{} {thing}", draw.pick(ADJECTIVES)))),
        brand_name: draw.percent(85).then(|| draw.pick(BRANDS)),
        is_virtual,
        is_variant: !is_virtual && draw.percent(80),
        returnable: draw.percent(70).then(|| draw.percent(90)),
        taxable: draw.percent(90).then(|| draw.percent(95)),
        created_date: draw.percent(95).then_some(created),
        last_modified_date: draw.percent(60).then(|| calendar::within(draw, created, 10_000)),
        sales_discontinuation_date: draw.percent(5).then(|| created.after(1_000 * Time::DAY)),
    });
    // Undated ones are valid; of the dated ones many have the same day.
    let mut identify = |good_identification_type_id, id_value| {
        let from_date = draw.percent(60).then(|| created.floor(30 * Time::DAY));
        let is_over = from_date.is_some() && draw.percent(5);
        batch.push(&GoodIdentification {
            good_identification_type_id,
            product_id,
            id_value: Some(id_value),
            from_date,
            thru_date: is_over.then(|| created.after(60 * Time::DAY)),
        });
    };
    identify("SKU", Id::wide("SKU-", number.into(), 5));
    if number % 10 < 7 {
        identify("UPCA", Id::wide("8", number.into(), 11));
    }
}

/// What a piece of this product costs, in cents.
pub(in crate::sample) fn price(seed: u64, number: u32) -> u32 {
    // A stream apart from the product's own, so that a price is known without all else.
    let mut draw = Draw::new(seed, Kind::Product, (1 << 32) + u64::from(number));
    draw.pick(&[499, 999, 1_499, 1_999, 1_999, 2_499, 2_999, 3_950, 4_999, 7_900, 9_999, 14_900])
}
