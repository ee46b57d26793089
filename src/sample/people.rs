//! Customers: persons and companies, with their roles and how to reach them.

use std::borrow::Cow;

use crate::sample::batch::Batch;
use crate::sample::calendar;
use crate::sample::draw::{Draw, Kind};
use crate::sample::field::{Id, Time};
use crate::sample::ids;
use crate::sample::tables::{
    ContactMech, Party, PartyContactMech, PartyContactMechPurpose, PartyGroup, PartyRole, Person, PostalAddress,
    TelecomNumber,
};
use crate::sample::words::{CITIES, COMPANY_ENDINGS, FIRST_NAMES, LAST_NAMES, STREETS};

/// What every customer can be in an order.
const ROLES: [&str; 3] = ["CUSTOMER", "BILL_TO_CUSTOMER", "SHIP_TO_CUSTOMER"];

/// Whether this customer can be called.
pub(in crate::sample) fn has_telephone(number: u32) -> bool {
    number % 10 < 7
}

/// Writes one customer.
pub(in crate::sample) fn write(batch: &mut Batch, seed: u64, number: u32) {
    let mut draw = Draw::new(seed, Kind::Party, number.into());
    let draw = &mut draw;
    let created = calendar::before(draw);
    let is_company = draw.percent(4);
    batch.push(&Party {
        party_id: ids::party(number),
        party_type_id: if is_company { "PARTY_GROUP" } else { "PERSON" },
        external_id: draw.percent(60).then(|| Id::wide("60", number.into(), 10)),
        status_id: if draw.percent(3) { "PARTY_DISABLED" } else { "PARTY_ENABLED" },
        created_date: draw.percent(95).then_some(created),
    });
    let name = if is_company { Some(company(batch, draw, number)) } else { person(batch, draw, number) };
    for role_type_id in ROLES {
        batch.push(&PartyRole { party_id: ids::party(number), role_type_id });
    }
    postal_address(batch, draw, number, name);
    reach(batch, number, ids::address(number), created, &["GENERAL_LOCATION", "SHIPPING_LOCATION"]);
    batch.push(&ContactMech {
        contact_mech_id: ids::mailbox(number),
        contact_mech_type_id: "EMAIL_ADDRESS",
        info_string: Some(Cow::Owned(format!("customer{number}@example.com"))),
    });
    reach(batch, number, ids::mailbox(number), created, &["PRIMARY_EMAIL"]);
    if has_telephone(number) {
        telephone(batch, draw, number);
        reach(batch, number, ids::telephone(number), created, &["PRIMARY_PHONE"]);
    }
}

/// A person without a last name in two of a hundred, and with two last names in twenty.
fn person(batch: &mut Batch, draw: &mut Draw, number: u32) -> Option<String> {
    let first_name = draw.percent(98).then(|| draw.pick(FIRST_NAMES));
    let last = draw.pick(LAST_NAMES);
    let last_name = match draw.below(100) {
        0..2 => None,
        2..22 => Some(Cow::Owned(format!("{last}-{}", draw.pick(LAST_NAMES)))),
        _ => Some(Cow::Borrowed(last)),
    };
    let name = first_name.map(|first| format!("{first} {last}"));
    batch.push(&Person { party_id: ids::party(number), first_name, last_name });
    name
}

fn company(batch: &mut Batch, draw: &mut Draw, number: u32) -> String {
    let name = format!("{} {}", draw.pick(LAST_NAMES), draw.pick(COMPANY_ENDINGS));
    batch.push(&PartyGroup { party_id: ids::party(number), group_name: Cow::Borrowed(&name) });
    name
}

fn postal_address(batch: &mut Batch, draw: &mut Draw, number: u32, to_name: Option<String>) {
    let contact_mech_id = ids::address(number);
    batch.push(&ContactMech { contact_mech_id, contact_mech_type_id: "POSTAL_ADDRESS", info_string: None });
    let (city, state, ..) = draw.pick(CITIES);
    batch.push(&PostalAddress {
        contact_mech_id,
        to_name: to_name.map(Cow::Owned),
        attn_name: None,
        address1: Cow::Owned(format!("{} {}", draw.between(1, 999), draw.pick(STREETS))),
        address2: draw.percent(15).then(|| Cow::Owned(format!("Apt. {}", draw.between(1, 60)))),
        city,
        postal_code: Id::wide("", draw.between(10_000, 99_999).into(), 5),
        country_geo_id: "USA",
        state_province_geo_id: state,
        geo_point_id: None,
    });
}

fn telephone(batch: &mut Batch, draw: &mut Draw, number: u32) {
    let contact_mech_id = ids::telephone(number);
    batch.push(&ContactMech { contact_mech_id, contact_mech_type_id: "TELECOM_NUMBER", info_string: None });
    batch.push(&TelecomNumber {
        contact_mech_id,
        country_code: "1",
        area_code: Id::wide("", draw.between(201, 989).into(), 3),
        contact_number: Id::wide("555-", draw.below(10_000).into(), 4),
    });
}

fn reach(batch: &mut Batch, number: u32, contact_mech_id: Id, from_date: Time, purposes: &[&'static str]) {
    let party_id = ids::party(number);
    batch.push(&PartyContactMech { party_id, contact_mech_id, from_date, thru_date: None });
    for contact_mech_purpose_type_id in purposes {
        batch.push(&PartyContactMechPurpose { party_id, contact_mech_id, contact_mech_purpose_type_id, from_date });
    }
}
