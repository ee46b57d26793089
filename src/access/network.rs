//! The networks that clients are counted by.

use std::net::{IpAddr, Ipv6Addr};

/// The unit that counts as one address: an IPv4 address, or the network of 64 bits that an IPv6 client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network(IpAddr);

impl Network {
    /// The network of a client's address.
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address @ IpAddr::V4(_) => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_client_has_a_network_of_64_bits() {
        let network = |address: &str| Network::of(address.parse().unwrap());
        assert_eq!(network("2001:db8:0:1:2:3:4:5"), network("2001:db8:0:1::9"));
        assert_ne!(network("2001:db8:0:1::"), network("2001:db8:0:2::"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
