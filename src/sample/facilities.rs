//! Facilities with their addresses and coordinates, and the stores that sell from them.

use rust_decimal::Decimal;

use crate::sample::batch::{Batch, row};
use crate::sample::calendar;
use crate::sample::ids::{self, COMPANY, Id};
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::sample_time::SampleTime;
use crate::sample::size::SampleSize;
use crate::sample::vocabulary::{CITIES, STORE_NAMES, STREETS};

const SHIPPING_ORIGIN: &str = "SHIP_ORIG_LOCATION";

/// Writes the rows of a facility.
pub(in crate::sample) fn write_facility(batch: &mut Batch, seed: u64, size: &SampleSize, number: u32) {
    let mut rng = SampleRng::new(seed, RngStream::Facility, number.into());
    let rng = &mut rng;
    let facility_id = ids::facility(number);
    let is_warehouse = number.is_multiple_of(4);
    let (city, state, latitude, longitude) = rng.pick(CITIES);
    let opened = calendar::before_start(rng).floor(SampleTime::DAY);
    let geo_point_id = ids::geo_point(number);
    // Within 0.2 degrees, in millionths.
    let mut near = |degrees: i64| Decimal::new(degrees - 200_000 + i64::from(rng.below(400_001)), 6);
    batch.push(row!(geo_point { geo_point_id, latitude: near(latitude), longitude: near(longitude) }));
    batch.push(row!(facility {
        facility_id,
        facility_type_id: if is_warehouse { "WAREHOUSE" } else { "RETAIL_STORE" },
        // Every fourth facility is a warehouse.
        parent_facility_id: (!is_warehouse && rng.percent(40)).then(|| ids::facility(number / 16 * 4)),
        owner_party_id: COMPANY,
        // Some have no name and some share one. Chosen by number, so that the smallest sample contains both.
        facility_name: match number {
            number if number % 17 == 5 => None,
            number if number % 9 == 8 => Some("Pop-up".to_owned()),
            _ => Some(format!("{city} {}", if is_warehouse { "Warehouse" } else { "Store" })),
        },
        geo_point_id,
        external_id: rng.percent(80).then(|| Id::with_width("70", number.into(), 6)),
        opened_date: opened,
    }));
    let mut address = |batch: &mut Batch, contact_mech_id: Id, geo_point_id: Option<Id>| {
        batch.push(row!(contact_mech { contact_mech_id, contact_mech_type_id: "POSTAL_ADDRESS" }));
        batch.push(row!(postal_address {
            contact_mech_id,
            to_name: "Shipping",
            address1: format!("{} {}", rng.between(1, 999), rng.pick(STREETS)),
            address2: rng.percent(15).then_some("Rear entrance"),
            city,
            postal_code: Id::with_width("", rng.between(10_000, 99_999).into(), 5),
            country_geo_id: "USA",
            state_province_geo_id: state,
            geo_point_id,
        }));
    };
    let current = ids::origin(number);
    address(batch, current, Some(geo_point_id));
    shipping_origin(batch, number, current, opened, None);
    // Some have moved, and some still ship from their former address too.
    let former = current.part(1);
    let since = opened.after(-400 * SampleTime::DAY);
    match number % 5 {
        1 => {
            address(batch, former, None);
            shipping_origin(batch, number, former, since, Some(opened));
        }
        3 => {
            address(batch, former, None);
            shipping_origin(batch, number, former, since, None);
        }
        _ => {}
    }
    batch.push(row!(product_store_facility {
        product_store_id: ids::store(number % size.stores),
        facility_id,
        from_date: opened,
    }));
}

fn shipping_origin(
    batch: &mut Batch,
    number: u32,
    contact_mech_id: Id,
    from_date: SampleTime,
    thru_date: Option<SampleTime>,
) {
    let facility_id = ids::facility(number);
    batch.push(row!(facility_contact_mech { facility_id, contact_mech_id, from_date, thru_date }));
    batch.push(row!(facility_contact_mech_purpose {
        facility_id,
        contact_mech_id,
        contact_mech_purpose_type_id: SHIPPING_ORIGIN,
        from_date,
        thru_date,
    }));
}

/// Writes a store. Some have no name and some share one.
pub(in crate::sample) fn write_store(batch: &mut Batch, seed: u64, size: &SampleSize, number: u32) {
    let mut rng = SampleRng::new(seed, RngStream::Store, number.into());
    batch.push(row!(product_store {
        product_store_id: ids::store(number),
        store_name: (number % 6 != 4).then(|| STORE_NAMES[number as usize % STORE_NAMES.len()]),
        company_name: "Sample & Söhne",
        pay_to_party_id: COMPANY,
        inventory_facility_id: (number % 5 != 3).then(|| ids::facility(rng.below(size.facilities))),
        default_currency_uom_id: "USD",
        default_locale_string: "en_US",
        default_time_zone_string: "America/New_York",
        default_sales_channel_enum_id: (number % 4 != 1).then_some("WEB_SALES_CHANNEL"),
        explode_order_items: (number % 3 != 1).then_some(number.is_multiple_of(5)),
        auto_approve_order: (number % 3 != 2).then_some(number.is_multiple_of(2)),
        allow_split: (number % 5 != 2).then_some(number.is_multiple_of(3)),
    }));
}
