//! The address that a request comes from: the connection's peer, or what a trusted proxy there reports.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::HeaderName;

use crate::http::address_range::AddressRange;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client's address, as far as it can be trusted. Each proxy appends the address of its client. So the list is read from its end,
/// and only as far as trusted proxies wrote it, because any client can send a list of its own. Where an entry is malformed, the proxy
/// that sent it is the client.
pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let trusts = |address: IpAddr| trusted.iter().any(|proxy| proxy.contains(address));
    if !trusts(peer) {
        return peer;
    }
    let mut nearest = peer;
    let lists: Vec<_> = headers.get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or_default()).collect();
    for address in lists.iter().rev().flat_map(|list| list.rsplit(',')) {
        if !trusts(nearest) {
            break;
        }
        match entry_address(address.trim()) {
            Some(address) => nearest = address,
            None => break,
        }
    }
    nearest
}

/// The address of an entry. Some proxies add the client's port, and some write brackets round IPv6.
fn entry_address(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    bare.parse().or_else(|_| entry.parse::<SocketAddr>().map(|address| address.ip())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(peer: &str, lists: &[&str]) -> String {
        let trusted = ["10.0.0.1", "10.0.0.2", "192.168.0.0/16"].map(|proxy| AddressRange::parse(proxy).unwrap());
        let headers = lists.iter().map(|list| (FORWARDED_FOR, list.parse().unwrap())).collect();
        of(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn believes_only_trusted_proxies() {
        assert_eq!(origin("192.0.2.1", &["198.51.100.1"]), "192.0.2.1");
        assert_eq!(origin("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(origin("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(origin("::ffff:10.0.0.1", &["2001:db8::1"]), "2001:db8::1");
        assert_eq!(origin("10.0.0.1", &["1.1.1.1, 198.51.100.1"]), "198.51.100.1", "the client sent 1.1.1.1");
        assert_eq!(origin("10.0.0.1", &["1.1.1.1, 198.51.100.1,10.0.0.2"]), "198.51.100.1");
        assert_eq!(origin("10.0.0.1", &["1.1.1.1", "198.51.100.1", "10.0.0.2"]), "198.51.100.1");
        assert_eq!(origin("192.168.3.4", &["1.1.1.1, 198.51.100.1, 192.168.9.9"]), "198.51.100.1");
        for nonsense in ["nonsense", "198.51.100.1:x", "[198.51.100.1", "2001:db8::1]:80"] {
            assert_eq!(origin("10.0.0.1", &[&format!("198.51.100.1, {nonsense}")]), "10.0.0.1", "{nonsense}");
        }
    }

    #[test]
    fn reads_addresses_with_ports() {
        for (entry, address) in [
            ("203.0.113.9:51234", "203.0.113.9"),
            ("[2001:db8::7]:443", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
        ] {
            assert_eq!(origin("10.0.0.1", &[entry]), address);
        }
    }
}
