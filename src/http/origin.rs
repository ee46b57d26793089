//! Where a request comes from: the connection's other end, or what a trusted proxy there says of it.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::http::request::Parts;

/// The address at the connection's other end, among a request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client's address, as far as it can be trusted.
pub fn of(head: &Parts, trusted: &[IpAddr]) -> Option<IpAddr> {
    let Peer(peer) = *head.extensions.get()?;
    Some(behind(peer, &head.headers, trusted))
}

/// Proxies append whom they hear, so the list is read from its end, and only as far as trusted proxies wrote it: anybody
/// can send a list of his own. What cannot be read is the proxy's own request.
fn behind(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let trusts = |address: &IpAddr| trusted.iter().any(|proxy| proxy.to_canonical() == address.to_canonical());
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
        let headers = lists.iter().map(|list| (FORWARDED_FOR.parse().unwrap(), list.parse().unwrap())).collect();
        behind(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
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
