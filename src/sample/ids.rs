//! The ids of the sample's entities. Their prefixes do not occur in OFBiz's sequences, so a sample does not conflict with
//! other data. Two samples do conflict.

use std::fmt;

/// The party that owns the facilities and sells the products.
pub(in crate::sample) const COMPANY: &str = "SAMPLE_COMPANY";

/// A prefix, a zero-padded number so that ids sort by number, and optionally the number of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) struct Id {
    prefix: &'static str,
    number: u64,
    width: u8,
    part: Option<u32>,
}

/// A sequence id within an order, a shipment or a return: five digits, from `00001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) struct SeqId(pub(in crate::sample) u32);

impl Id {
    /// An id of at least eight digits.
    pub(in crate::sample) const fn new(prefix: &'static str, number: u64) -> Self {
        Self { prefix, number, width: 8, part: None }
    }

    /// An id of at least `width` digits.
    pub(in crate::sample) const fn with_width(prefix: &'static str, number: u64, width: u8) -> Self {
        Self { prefix, number, width, part: None }
    }

    /// The id of a part of this entity.
    pub(in crate::sample) const fn part(self, part: u32) -> Self {
        Self { part: Some(part), ..self }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:0width$}", self.prefix, self.number, width = usize::from(self.width))?;
        match self.part {
            Some(part) => write!(f, "-{part}"),
            None => Ok(()),
        }
    }
}

impl SeqId {
    /// The sequence id at an index from 0.
    pub(in crate::sample) fn at(index: usize) -> Self {
        Self(u32::try_from(index + 1).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for SeqId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05}", self.0)
    }
}

pub(in crate::sample) const fn order(number: u32) -> Id {
    Id::new("SO", number as u64)
}

pub(in crate::sample) const fn party(number: u32) -> Id {
    Id::new("SP", number as u64)
}

pub(in crate::sample) const fn facility(number: u32) -> Id {
    Id::with_width("SF", number as u64, 4)
}

pub(in crate::sample) const fn geo_point(facility: u32) -> Id {
    Id::with_width("SG", facility as u64, 4)
}

pub(in crate::sample) const fn product(number: u32) -> Id {
    Id::with_width("SK", number as u64, 5)
}

pub(in crate::sample) const fn category(number: usize) -> Id {
    Id::with_width("SC", number as u64, 2)
}

/// A color that products have.
pub(in crate::sample) const fn color(number: usize) -> Id {
    Id::with_width("SKC", number as u64, 2)
}

/// A size that products have.
pub(in crate::sample) const fn size(number: usize) -> Id {
    Id::with_width("SKS", number as u64, 2)
}

pub(in crate::sample) const fn store(number: u32) -> Id {
    Id::with_width("SS", number as u64, 2)
}

/// A customer's postal address.
pub(in crate::sample) const fn address(party: u32) -> Id {
    Id::new("SPA", party as u64)
}

/// A customer's email address.
pub(in crate::sample) const fn email(party: u32) -> Id {
    Id::new("SPE", party as u64)
}

/// A customer's telephone number.
pub(in crate::sample) const fn telephone(party: u32) -> Id {
    Id::new("SPT", party as u64)
}

/// The address that a facility ships from. Its part 1 is a former address.
pub(in crate::sample) const fn origin(facility: u32) -> Id {
    Id::with_width("SFA", facility as u64, 4)
}

/// The picklist of an order's ship group.
pub(in crate::sample) const fn picklist(order: u32, group: u32) -> Id {
    Id::new("SL", order as u64).part(group)
}

/// Its bin.
pub(in crate::sample) const fn picklist_bin(order: u32, group: u32) -> Id {
    Id::new("SB", order as u64).part(group)
}

/// A shipment of an order's ship group. A ship group has at most two.
pub(in crate::sample) const fn shipment(order: u32, group: u32, number: u32) -> Id {
    Id::new("SM", order as u64).part(group * 2 + number)
}

/// The return of an order.
pub(in crate::sample) const fn returned(order: u32) -> Id {
    Id::new("SR", order as u64)
}

/// The inventory item that orders take a facility's product from.
pub(in crate::sample) const fn inventory_item(pair: u32) -> Id {
    Id::new("SI", pair as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_ids_and_appends_their_parts() {
        assert_eq!(Id::new("SO", 42).to_string(), "SO00000042");
        assert_eq!(Id::new("SO", 1_234_567_890).to_string(), "SO1234567890");
        assert_eq!(Id::with_width("#", 0, 1).part(10).to_string(), "#0-10");
        assert_eq!(SeqId::at(6).to_string(), "00007");
    }
}
