//! The ids of everything that is made up. They begin with letters that no sequence of OFBiz gives, so a sample lies beside
//! other data; two samples do not lie beside each other.

use crate::sample::field::Id;

/// The party that owns the facilities and sells.
pub(in crate::sample) const COMPANY: &str = "SAMPLE_COMPANY";

pub(in crate::sample) const fn order(number: u32) -> Id {
    Id::new("SO", number as u64)
}

pub(in crate::sample) const fn party(number: u32) -> Id {
    Id::new("SP", number as u64)
}

pub(in crate::sample) const fn facility(number: u32) -> Id {
    Id::wide("SF", number as u64, 4)
}

pub(in crate::sample) const fn geo_point(facility: u32) -> Id {
    Id::wide("SG", facility as u64, 4)
}

pub(in crate::sample) const fn product(number: u32) -> Id {
    Id::wide("SK", number as u64, 5)
}

pub(in crate::sample) const fn category(number: usize) -> Id {
    Id::wide("SC", number as u64, 2)
}

pub(in crate::sample) const fn store(number: u32) -> Id {
    Id::wide("SS", number as u64, 2)
}

/// A customer's postal address.
pub(in crate::sample) const fn address(party: u32) -> Id {
    Id::new("SPA", party as u64)
}

/// A customer's mailbox.
pub(in crate::sample) const fn mailbox(party: u32) -> Id {
    Id::new("SPE", party as u64)
}

/// A customer's telephone.
pub(in crate::sample) const fn telephone(party: u32) -> Id {
    Id::new("SPT", party as u64)
}

/// The address that a facility ships from, and those of former times.
pub(in crate::sample) const fn origin(facility: u32) -> Id {
    Id::wide("SFA", facility as u64, 4)
}

/// A shipment of an order's group: a group has two at most.
pub(in crate::sample) const fn shipment(order: u32, group: u32, which: u32) -> Id {
    Id::new("SM", order as u64).part(group * 2 + which)
}

/// A return of an order, or one that nobody knows the order of.
pub(in crate::sample) const fn returned(order: u32) -> Id {
    Id::new("SR", order as u64)
}

/// The inventory item of a pair of a product and a facility that orders take from.
pub(in crate::sample) const fn inventory_item(pair: u32) -> Id {
    Id::new("SI", pair as u64)
}
