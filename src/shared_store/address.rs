//! The address of a store.

use std::fmt;

use redis::Client;

/// The address of a store. It may have a password, which is not shown.
#[derive(Clone)]
pub(crate) struct StoreAddress(Client);

impl StoreAddress {
    /// From a URL: `redis://user:password@host:port/number`, or `rediss://…` with TLS; `None` if it is none.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        Client::open(url).ok().map(Self)
    }

    /// The client, which opens connections.
    pub(super) fn client(&self) -> &Client {
        &self.0
    }
}

/// Host and port.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get_connection_info().addr().fmt(f)
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_an_address_whose_password_is_not_shown() {
        for (url, shown) in [
            ("redis://store.example", "store.example:6379"),
            ("redis://me:geheim@store.example:6380/2", "store.example:6380"),
            ("rediss://:geheim@store.example", "store.example:6379"),
            ("redis+unix:///run/valkey.sock", "/run/valkey.sock"),
        ] {
            let address = StoreAddress::parse(url).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("StoreAddress({shown})"));
        }
        for wrong in ["", "store.example", "http://store.example", "redis://", "redis://store.example/x", "redis://a:b"]
        {
            assert!(StoreAddress::parse(wrong).is_none(), "{wrong}");
        }
    }
}
