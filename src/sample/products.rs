//! Products, their categories, and their identifications in other systems.

use crate::sample::batch::{Batch, row};
use crate::sample::calendar;
use crate::sample::ids::{self, Id};
use crate::sample::merchandise::Merchandise;
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::sample_time::SampleTime;
use crate::sample::vocabulary::{ADJECTIVES, BRANDS, CATEGORIES, COLORS, PRODUCTS, SIZES};

/// Writes the categories.
pub(in crate::sample) fn write_categories(batch: &mut Batch) {
    for (number, category_name) in CATEGORIES.iter().enumerate() {
        batch.push(row!(product_category { product_category_id: ids::category(number), category_name }));
    }
}

/// Writes the rows of a product.
pub(in crate::sample) fn write(batch: &mut Batch, seed: u64, number: u32) {
    let mut rng = SampleRng::new(seed, RngStream::Product, number.into());
    let rng = &mut rng;
    let product_id = ids::product(number);
    let created = calendar::before_start(rng);
    let is_virtual = rng.percent(3);
    let noun = rng.pick(PRODUCTS);
    let (color, size) = (rng.index(COLORS.len()), rng.index(SIZES.len()));
    let internal_name = format!("{}-{}-{}", noun.to_uppercase(), COLORS[color], SIZES[size]);
    batch.push(row!(product {
        product_id,
        product_type_id: "FINISHED_GOOD",
        primary_product_category_id: rng.percent(90).then(|| ids::category(rng.index(CATEGORIES.len()))),
        internal_name: rng.percent(97).then_some(internal_name),
        // Some have no name; most share one with a few others.
        product_name: (number % 50 != 7).then(|| format!("{} {noun}", rng.pick(ADJECTIVES))),
        brand_name: rng.percent(85).then(|| rng.pick(BRANDS)),
        is_virtual,
        is_variant: !is_virtual && rng.percent(80),
        returnable: rng.percent(70).then(|| rng.percent(90)),
        taxable: rng.percent(90).then(|| rng.percent(95)),
        created_date: rng.percent(95).then_some(created),
        last_modified_date: rng.percent(60).then(|| calendar::within_hours(rng, created, 10_000)),
        sales_discontinuation_date: rng.percent(5).then(|| created.after(1_000 * SampleTime::DAY)),
    }));
    let price_in_cents = price(seed, number);
    Merchandise { product_id, noun, color, size, is_virtual, created, price_in_cents }.write(batch, seed, number);
    // Many have the same day.
    let mut identify = |kind: &str, id_value: Id| {
        let is_rounded = rng.percent(60);
        let from_date = if is_rounded { created.floor(30 * SampleTime::DAY) } else { created };
        let is_expired = is_rounded && rng.percent(5);
        batch.push(row!(good_identification {
            good_identification_type_id: kind,
            product_id,
            id_value,
            from_date,
            thru_date: is_expired.then(|| created.after(60 * SampleTime::DAY)),
        }));
    };
    identify("SKU", Id::with_width("SKU-", number.into(), 5));
    if number % 10 < 7 {
        identify("UPCA", Id::with_width("8", number.into(), 11));
    }
}

/// The product's price in cents.
pub(in crate::sample) fn price(seed: u64, number: u32) -> u32 {
    // A separate stream, so that the price does not depend on the product's other random numbers.
    let mut rng = SampleRng::new(seed, RngStream::Product, (1 << 32) + u64::from(number));
    rng.pick(&[499, 999, 1_499, 1_999, 1_999, 2_499, 2_999, 3_950, 4_999, 7_900, 9_999, 14_900])
}
