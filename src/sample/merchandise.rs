//! The facts that shops show about products: features, prices, attributes, and the words by which they are found.

use crate::sample::batch::{Batch, row};
use crate::sample::ids::{self, Id};
use crate::sample::money::cents;
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::sample_time::SampleTime;
use crate::sample::vocabulary::{COLORS, SIZES, TAGS};

/// The properties of a product that decide about these facts.
#[derive(Debug, Clone, Copy)]
pub(in crate::sample) struct Merchandise {
    pub(in crate::sample) product_id: Id,
    pub(in crate::sample) noun: &'static str,
    /// The color, as an index into the vocabulary.
    pub(in crate::sample) color: usize,
    /// The size, as an index into the vocabulary.
    pub(in crate::sample) size: usize,
    pub(in crate::sample) is_virtual: bool,
    pub(in crate::sample) created: SampleTime,
    pub(in crate::sample) price_in_cents: u32,
}

/// Writes the colors and sizes.
pub(in crate::sample) fn write_features(batch: &mut Batch) {
    for (number, description) in COLORS.iter().enumerate() {
        let product_feature_id = ids::color(number);
        batch.push(row!(product_feature { product_feature_id, product_feature_type_id: "COLOR", description }));
    }
    for (number, description) in SIZES.iter().enumerate() {
        let product_feature_id = ids::size(number);
        batch.push(row!(product_feature {
            product_feature_id,
            product_feature_type_id: "SIZE",
            description,
            abbrev: description,
        }));
    }
}

impl Merchandise {
    /// Writes the rows of product `number`.
    pub(in crate::sample) fn write(self, batch: &mut Batch, seed: u64, number: u32) {
        // A separate stream, so that the product's other rows do not depend on these.
        let mut rng = SampleRng::new(seed, RngStream::Product, (2 << 32) + u64::from(number));
        self.write_features(batch, &mut rng);
        self.write_prices(batch, &mut rng);
        self.write_attributes(batch, &mut rng);
        self.write_keywords(batch, &mut rng);
    }

    fn write_features(self, batch: &mut Batch, rng: &mut SampleRng) {
        let has_order = rng.percent(80);
        let mut apply = |feature: Id, kind: &str, place: u32, thru_date: Option<SampleTime>| {
            batch.push(row!(product_feature_appl {
                product_id: self.product_id,
                product_feature_id: feature,
                product_feature_appl_type_id: kind,
                from_date: self.created,
                thru_date,
                sequence_num: has_order.then_some(place),
            }));
        };
        apply(ids::color(self.color), "STANDARD_FEATURE", 1, None);
        if self.is_virtual {
            for (size, place) in (0..SIZES.len()).zip(2..) {
                apply(ids::size(size), "SELECTABLE_FEATURE", place, None);
            }
        } else {
            apply(ids::size(self.size), "STANDARD_FEATURE", 2, None);
        }
        if rng.percent(5) {
            let former = ids::color((self.color + 1) % COLORS.len());
            apply(former, "STANDARD_FEATURE", 1, Some(self.created.after(100 * SampleTime::DAY)));
        }
    }

    fn write_prices(self, batch: &mut Batch, rng: &mut SampleRng) {
        // Many have the same day.
        let since = if rng.percent(60) { self.created.floor(30 * SampleTime::DAY) } else { self.created };
        let mut write = |kind: &str, in_cents: u32, from_date: SampleTime, thru_date: Option<SampleTime>| {
            batch.push(row!(product_price {
                product_id: self.product_id,
                product_price_type_id: kind,
                product_price_purpose_id: "PURCHASE",
                currency_uom_id: "USD",
                product_store_group_id: "_NA_",
                from_date,
                thru_date,
                price: cents(in_cents),
            }));
        };
        write("DEFAULT_PRICE", self.price_in_cents, since, None);
        if rng.percent(30) {
            let before = since.after(-360 * SampleTime::DAY);
            write("DEFAULT_PRICE", self.price_in_cents + 200, before, Some(since));
        }
        if rng.percent(60) {
            write("LIST_PRICE", self.price_in_cents + 500, since, None);
        }
    }

    fn write_attributes(self, batch: &mut Batch, rng: &mut SampleRng) {
        let product_id = self.product_id;
        let mut write = |attr_name: &str, attr_value: &str, attr_type: Option<&str>| {
            batch.push(row!(product_attribute { product_id, attr_name, attr_value, attr_type }));
        };
        if rng.percent(50) {
            write("care", rng.pick(&["wash at 30 °C", "wash at 60 °C", "do not wash"]), Some("TEXT"));
        }
        if rng.percent(20) {
            write("preOrder", if rng.percent(50) { "Y" } else { "N" }, Some("BOOLEAN"));
        }
        if rng.percent(5) {
            write("hazmat", "Y", None);
        }
    }

    fn write_keywords(self, batch: &mut Batch, rng: &mut SampleRng) {
        let product_id = self.product_id;
        for (keyword, weight) in [(self.noun, 2), (COLORS[self.color], 1)] {
            batch.push(row!(product_keyword_new {
                product_id,
                keyword: keyword.to_lowercase(),
                keyword_type_id: "KWT_KEYWORD",
                relevancy_weight: weight,
            }));
        }
        for tag in TAGS {
            if rng.percent(25) {
                batch.push(row!(product_keyword_new {
                    product_id,
                    keyword: tag,
                    keyword_type_id: "KWT_TAG",
                    status_id: if rng.percent(90) { "KW_APPROVED" } else { "KW_PENDING" },
                }));
            }
        }
    }
}
