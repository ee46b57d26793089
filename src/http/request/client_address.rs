//! The address that a request comes from: the connection's peer, or what a trusted proxy there reports.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::HeaderName;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client's address, as far as it can be trusted. Each proxy appends the address of its client. So the list is read from its end,
/// and only as far as trusted proxies wrote it, because any client can send a list of its own. Where an entry is malformed, the proxy
/// that sent it is the client.
pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let trusts = |address: &IpAddr| trusted.iter().any(|proxy| proxy.to_canonical() == address.to_canonical());
    if !trusts(&peer) {
        return peer;
    }
    let mut nearest = peer;
    let lists: Vec<_> = headers.get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or_default()).collect();
    for address in lists.iter().rev().flat_map(|list| list.rsplit(',')) {
        if !trusts(&nearest) {
            break;
        }
        match address.trim().parse() {
            Ok(address) => nearest = address,
            Err(_) => break,
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(peer: &str, lists: &[&str]) -> String {
        let trusted: Vec<IpAddr> = ["10.0.0.1", "10.0.0.2"].map(|proxy| proxy.parse().unwrap()).into();
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
        assert_eq!(origin("10.0.0.1", &["198.51.100.1, nonsense"]), "10.0.0.1");
    }
}
