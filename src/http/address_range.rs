//! Ranges of IP addresses, as settings name them.

use std::net::IpAddr;

/// An address, or all of a network. IPv4 and its form in IPv6 (`::ffff:192.0.2.1`) are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressRange {
    address: u128,
    mask: u128,
}

impl AddressRange {
    /// Parses an address, or one with the length of its network's prefix, as in `10.0.0.0/8`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().ok()?;
        let all: u32 = if address.is_ipv4() { 32 } else { 128 };
        let length: u32 = length.map_or(Some(all), |length| length.parse().ok())?;
        let mask = u128::MAX.checked_shl(all.checked_sub(length)?).unwrap_or_default();
        Some(Self { address: bits(address) & mask, mask })
    }

    /// Whether the address is in the range.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.address
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_its_networks_in_either_form() {
        for (range, address, is_in) in [
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "::ffff:10.0.0.1", true),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("10.1.2.3/8", "10.200.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("::ffff:10.0.0.0/104", "10.200.0.1", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db8::1", true),
        ] {
            let range = AddressRange::parse(range).unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), is_in, "{range:?} {address}");
        }
        for wrong in ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "10.0.0.0/8/8", "host"] {
            assert_eq!(AddressRange::parse(wrong), None, "{wrong}");
        }
    }
}
