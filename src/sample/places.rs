//! Facilities with their addresses and places on the map, and the stores that sell from them.

use std::borrow::Cow;

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::{Draw, Kind};
use crate::sample::field::{Decimal, Id, Time};
use crate::sample::ids::{self, COMPANY};
use crate::sample::size::Size;
use crate::sample::tables::{
    ContactMech, Facility, FacilityContactMech, FacilityContactMechPurpose, GeoPoint, PostalAddress, ProductStore,
    ProductStoreFacility,
};
use crate::sample::words::{CITIES, STORE_NAMES, STREETS};

const SHIPS_FROM: &str = "SHIP_ORIG_LOCATION";

/// Writes one facility.
pub(in crate::sample) fn write_facility(batch: &mut Batch, seed: u64, size: &Size, number: u32) {
    let mut draw = Draw::new(seed, Kind::Facility, number.into());
    let draw = &mut draw;
    let facility_id = ids::facility(number);
    let is_warehouse = number.is_multiple_of(4);
    let (city, state, latitude, longitude) = draw.pick(CITIES);
    let opened = calendar::before(draw).floor(Time::DAY);
    let geo_point_id = ids::geo_point(number);
    let mut around = |degrees: i64| Decimal::micros(degrees - 200_000 + i64::from(draw.below(400_001)));
    batch.push(&GeoPoint { geo_point_id, latitude: around(latitude), longitude: around(longitude) });
    batch.push(&Facility {
        facility_id,
        facility_type_id: if is_warehouse { "WAREHOUSE" } else { "RETAIL_STORE" },
        // A warehouse: these have the numbers that four divides.
        parent_facility_id: (!is_warehouse && draw.percent(40)).then(|| ids::facility(number / 16 * 4)),
        owner_party_id: COMPANY,
        // Some have none, and some are called alike; by number, so that the smallest sample has them.
        facility_name: match number {
            number if number % 17 == 5 => None,
            number if number % 9 == 8 => Some(Cow::Borrowed("Pop-up")),
            _ => Some(Cow::Owned(format!("{city} {}", if is_warehouse { "Warehouse" } else { "Store" }))),
        },
        geo_point_id: Some(geo_point_id),
        external_id: draw.percent(80).then(|| Id::wide("70", number.into(), 6)),
        opened_date: Some(opened),
    });
    let mut address = |batch: &mut Batch, contact_mech_id, geo_point_id| {
        batch.push(&ContactMech { contact_mech_id, contact_mech_type_id: "POSTAL_ADDRESS", info_string: None });
        batch.push(&PostalAddress {
            contact_mech_id,
            to_name: Some(Cow::Borrowed("Shipping")),
            attn_name: None,
            address1: Cow::Owned(format!("{} {}", draw.between(1, 999), draw.pick(STREETS))),
            address2: draw.percent(15).then_some(Cow::Borrowed("Rear entrance")),
            city,
            postal_code: Id::wide("", draw.between(10_000, 99_999).into(), 5),
            country_geo_id: "USA",
            state_province_geo_id: state,
            geo_point_id,
        });
    };
    let current = ids::origin(number);
    address(batch, current, Some(geo_point_id));
    ship_from(batch, number, current, opened, None);
    // Some have moved, and some still ship from an older place as well.
    let former = current.part(1);
    let since = opened.after(-400 * Time::DAY);
    match number % 5 {
        1 => {
            address(batch, former, None);
            ship_from(batch, number, former, since, Some(opened));
        }
        3 => {
            address(batch, former, None);
            ship_from(batch, number, former, since, None);
        }
        _ => {}
    }
    batch.push(&ProductStoreFacility {
        product_store_id: ids::store(number % size.stores),
        facility_id,
        from_date: opened,
    });
}

fn ship_from(batch: &mut Batch, number: u32, contact_mech_id: Id, from_date: Time, thru_date: Option<Time>) {
    let facility_id = ids::facility(number);
    batch.push(&FacilityContactMech { facility_id, contact_mech_id, from_date, thru_date });
    batch.push(&FacilityContactMechPurpose {
        facility_id,
        contact_mech_id,
        contact_mech_purpose_type_id: SHIPS_FROM,
        from_date,
        thru_date,
    });
}

/// Writes one store: some without a name, some named alike.
pub(in crate::sample) fn write_store(batch: &mut Batch, seed: u64, size: &Size, number: u32) {
    let mut draw = Draw::new(seed, Kind::Store, number.into());
    batch.push(&ProductStore {
        product_store_id: ids::store(number),
        store_name: (number % 6 != 4).then(|| STORE_NAMES[number as usize % STORE_NAMES.len()]),
        company_name: "Sample & Söhne",
        pay_to_party_id: COMPANY,
        inventory_facility_id: (number % 5 != 3).then(|| ids::facility(draw.below(size.facilities))),
        default_currency_uom_id: "USD",
        default_locale_string: "en_US",
        default_time_zone_string: "America/New_York",
    });
}
