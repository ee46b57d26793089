//! Customers: persons and companies, with their roles and contacts.

use crate::sample::batch::{Batch, row};
use crate::sample::calendar;
use crate::sample::ids::{self, Id};
use crate::sample::rng::{RngStream, SampleRng};
use crate::sample::sample_time::SampleTime;
use crate::sample::vocabulary::{CITIES, COMPANY_ENDINGS, FIRST_NAMES, LAST_NAMES, STREETS};

/// The roles of every customer.
const ROLES: [&str; 3] = ["CUSTOMER", "BILL_TO_CUSTOMER", "SHIP_TO_CUSTOMER"];

/// Whether the customer has a telephone number.
pub(in crate::sample) fn has_telephone(number: u32) -> bool {
    number % 10 < 7
}

/// Writes the rows of a customer.
pub(in crate::sample) fn write(batch: &mut Batch, seed: u64, number: u32) {
    let mut rng = SampleRng::new(seed, RngStream::Party, number.into());
    let rng = &mut rng;
    let created = calendar::before_start(rng);
    let is_company = rng.percent(4);
    batch.push(row!(party {
        party_id: ids::party(number),
        party_type_id: if is_company { "PARTY_GROUP" } else { "PERSON" },
        external_id: rng.percent(60).then(|| Id::with_width("60", number.into(), 10)),
        status_id: if rng.percent(3) { "PARTY_DISABLED" } else { "PARTY_ENABLED" },
        created_date: rng.percent(95).then_some(created),
    }));
    let name = if is_company { Some(company(batch, rng, number)) } else { person(batch, rng, number) };
    for role_type_id in ROLES {
        batch.push(row!(party_role { party_id: ids::party(number), role_type_id }));
    }
    postal_address(batch, rng, number, name.as_deref());
    contact(batch, number, ids::address(number), created, &["GENERAL_LOCATION", "SHIPPING_LOCATION"]);
    batch.push(row!(contact_mech {
        contact_mech_id: ids::email(number),
        contact_mech_type_id: "EMAIL_ADDRESS",
        info_string: format!("customer{number}@example.com"),
    }));
    contact(batch, number, ids::email(number), created, &["PRIMARY_EMAIL"]);
    if has_telephone(number) {
        telephone(batch, rng, number);
        contact(batch, number, ids::telephone(number), created, &["PRIMARY_PHONE"]);
    }
}

/// Writes a person and returns the name. Two percent have no last name, twenty percent a double one.
fn person(batch: &mut Batch, rng: &mut SampleRng, number: u32) -> Option<String> {
    let first_name = rng.percent(98).then(|| rng.pick(FIRST_NAMES));
    let last = rng.pick(LAST_NAMES);
    let last_name = match rng.below(100) {
        0..2 => None,
        2..22 => Some(format!("{last}-{}", rng.pick(LAST_NAMES))),
        _ => Some(last.to_owned()),
    };
    let name = first_name.map(|first| format!("{first} {last}"));
    batch.push(row!(person { party_id: ids::party(number), first_name, last_name }));
    name
}

/// Writes a company and returns the name.
fn company(batch: &mut Batch, rng: &mut SampleRng, number: u32) -> String {
    let name = format!("{} {}", rng.pick(LAST_NAMES), rng.pick(COMPANY_ENDINGS));
    batch.push(row!(party_group { party_id: ids::party(number), group_name: name }));
    name
}

fn postal_address(batch: &mut Batch, rng: &mut SampleRng, number: u32, to_name: Option<&str>) {
    let contact_mech_id = ids::address(number);
    batch.push(row!(contact_mech { contact_mech_id, contact_mech_type_id: "POSTAL_ADDRESS" }));
    let (city, state, ..) = rng.pick(CITIES);
    batch.push(row!(postal_address {
        contact_mech_id,
        to_name,
        address1: format!("{} {}", rng.between(1, 999), rng.pick(STREETS)),
        address2: rng.percent(15).then(|| format!("Apt. {}", rng.between(1, 60))),
        city,
        postal_code: Id::with_width("", rng.between(10_000, 99_999).into(), 5),
        country_geo_id: "USA",
        state_province_geo_id: state,
    }));
}

fn telephone(batch: &mut Batch, rng: &mut SampleRng, number: u32) {
    let contact_mech_id = ids::telephone(number);
    batch.push(row!(contact_mech { contact_mech_id, contact_mech_type_id: "TELECOM_NUMBER" }));
    batch.push(row!(telecom_number {
        contact_mech_id,
        country_code: "1",
        area_code: Id::with_width("", rng.between(201, 989).into(), 3),
        contact_number: Id::with_width("555-", rng.below(10_000).into(), 4),
    }));
}

fn contact(batch: &mut Batch, number: u32, contact_mech_id: Id, from_date: SampleTime, purposes: &[&str]) {
    let party_id = ids::party(number);
    batch.push(row!(party_contact_mech { party_id, contact_mech_id, from_date }));
    for contact_mech_purpose_type_id in purposes {
        batch.push(row!(party_contact_mech_purpose {
            party_id,
            contact_mech_id,
            contact_mech_purpose_type_id,
            from_date,
        }));
    }
}
