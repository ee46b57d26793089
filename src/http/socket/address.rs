//! The address of a listener, as an operator writes it.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    /// An IP address and a port: `127.0.0.1:8080`.
    Tcp(SocketAddr),
    /// A Unix socket: `unix:/run/orderql.sock`.
    Unix(PathBuf),
    /// A socket that the service manager has opened: `systemd`, or `systemd:NAME` where there are several.
    Inherited(Option<String>),
}

impl ListenAddress {
    /// Parses an address. Of names, which might change their meaning, only `localhost` is known.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            return path.starts_with('/').then(|| Self::Unix(path.into()));
        }
        if let Some(name) = text.strip_prefix("systemd") {
            return match name.strip_prefix(':') {
                None => name.is_empty().then_some(Self::Inherited(None)),
                Some(name) => (!name.is_empty()).then(|| Self::Inherited(Some(name.to_owned()))),
            };
        }
        match text.strip_prefix("localhost:") {
            Some(port) => Some(Self::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)))),
            None => text.parse().ok().map(Self::Tcp),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Inherited(None) => f.write_str("systemd"),
            Self::Inherited(Some(name)) => write!(f, "systemd:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["127.0.0.1:8080", "[::]:80", "unix:/run/a b.sock", "systemd", "systemd:admin"] {
            assert_eq!(ListenAddress::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(ListenAddress::parse("localhost:1").unwrap().to_string(), "127.0.0.1:1");
        for wrong in ["", "8080", "example.com:80", "unix:", "unix:a.sock", "systemd:", "systemdadmin", "1.2.3.4"] {
            assert_eq!(ListenAddress::parse(wrong), None, "{wrong}");
        }
    }
}
