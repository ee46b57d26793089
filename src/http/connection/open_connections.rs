//! The open connections of a listener, and which of them make room for new ones.
//!
//! No client can take all places: the connections of an address are limited, and where all places are taken, the connection that has been
//! idle longest is closed in favour of the new one. Connections with a request in flight are closed only if all others are in flight too,
//! and only if their clients are slow to send or to read.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time;

use crate::access::network::Network;
use crate::http::address_range::AddressRange;
use crate::http::connection::{Connection, ShedRank};

/// How often connections that were busy are looked at again while a new one waits for a place.
const RETRY: Duration = Duration::from_millis(100);

/// The most connections of a listener, and of an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits<'a> {
    /// In all.
    pub(crate) all: usize,
    /// The most connections of one client's [`Network`].
    pub(crate) per_address: usize,
    /// Reverse proxies, which have no limit of their own.
    pub(crate) trusted_proxies: &'a [AddressRange],
}

/// The open connections of a listener.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections {
    table: Mutex<ConnectionTable>,
    /// Notified when a connection has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    connections: HashMap<u64, ConnectionEntry>,
    /// The connections of each network that is limited.
    networks: HashMap<Network, Vec<u64>>,
    next: u64,
}

#[derive(Debug)]
struct ConnectionEntry {
    connection: Arc<Connection>,
    network: Option<Network>,
}

/// A connection's place, which is free when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    open: Arc<OpenConnections>,
    id: u64,
}

/// The address has as many connections as it may, and all of them are in use.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyOfAddress;

impl OpenConnections {
    /// A place for a connection of the address. If the address has too many, or the listener, another one is closed. Waits
    /// while all of the listener's are in use. Returns the number of connections that were closed beside the place.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        address: IpAddr,
        connection: &Arc<Connection>,
        limits: ConnectionLimits<'_>,
    ) -> Result<(ConnectionPlace, u64), TooManyOfAddress> {
        let is_trusted = limits.trusted_proxies.iter().any(|proxy| proxy.contains(address));
        let network = (!is_trusted).then(|| Network::of(address));
        let mut shed = 0;
        if let Some(network) = network {
            let mut table = self.table();
            let own = table.networks.get(&network).map(Vec::as_slice).unwrap_or_default();
            if own.len() >= limits.per_address {
                let longest_idle = table.first_to_shed(own.iter().copied()).ok_or(TooManyOfAddress)?;
                table.shed(longest_idle);
                shed += 1;
            }
        }
        loop {
            let ended = self.ended.notified();
            {
                let mut table = self.table();
                if table.connections.len() >= limits.all && table.shed_longest_idle() {
                    shed += 1;
                }
                if table.connections.len() < limits.all {
                    let id = table.insert(ConnectionEntry { connection: Arc::clone(connection), network });
                    return Ok((ConnectionPlace { open: Arc::clone(self), id }, shed));
                }
            }
            let _ = time::timeout(RETRY, ended).await;
        }
    }

    /// Closes this many of the connections that have been idle longest. Returns how many there were.
    pub(crate) fn shed(&self, count: u64) -> u64 {
        let mut table = self.table();
        (0..count).take_while(|_| table.shed_longest_idle()).count() as u64
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    fn insert(&mut self, entry: ConnectionEntry) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(network) = entry.network {
            self.networks.entry(network).or_default().push(id);
        }
        self.connections.insert(id, entry);
        id
    }

    fn remove(&mut self, id: u64) -> Option<ConnectionEntry> {
        let entry = self.connections.remove(&id)?;
        if let Some(network) = entry.network
            && let Some(ids) = self.networks.get_mut(&network)
        {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.networks.remove(&network);
            }
        }
        Some(entry)
    }

    fn first_to_shed(&self, ids: impl Iterator<Item = u64>) -> Option<u64> {
        let rank =
            |id: u64| -> Option<(ShedRank, u64)> { Some((self.connections.get(&id)?.connection.shed_rank()?, id)) };
        ids.filter_map(rank).min().map(|(_, id)| id)
    }

    fn shed_longest_idle(&mut self) -> bool {
        match self.first_to_shed(self.connections.keys().copied()) {
            Some(id) => self.shed(id),
            None => false,
        }
    }

    /// Closes a connection. Its place is free at once.
    fn shed(&mut self, id: u64) -> bool {
        let entry = self.remove(id);
        if let Some(entry) = &entry {
            entry.connection.shed();
        }
        entry.is_some()
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.open.table().remove(self.id);
        self.open.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::http::memory_budget::MemoryBudget;

    /// The connections of a listener, with its limits.
    struct Limited {
        open: Arc<OpenConnections>,
        all: usize,
        per_address: usize,
    }

    fn limited(all: usize, per_address: usize) -> Limited {
        Limited { open: Arc::default(), all, per_address }
    }

    /// Whether the connection was closed in favour of another one.
    fn is_shed(connection: &Connection) -> bool {
        connection.is_shed()
    }

    /// Opens a connection, if it does not have to wait.
    fn open(limited: &Limited, address: &str) -> Option<Result<(Arc<Connection>, ConnectionPlace), TooManyOfAddress>> {
        let connection = Arc::new(Connection::new(MemoryBudget::new(1 << 20, 1 << 10).connection()));
        let Limited { open, all, per_address } = limited;
        let proxies = [AddressRange::parse("10.0.0.1").unwrap()];
        let limits = ConnectionLimits { all: *all, per_address: *per_address, trusted_proxies: &proxies };
        let admitted = open.admit(address.parse().unwrap(), &connection, limits).now_or_never()?;
        Some(admitted.map(|(place, _)| (connection, place)))
    }

    #[tokio::test]
    async fn an_address_has_its_own_limit_and_a_proxy_has_none() {
        let connections = limited(100, 2);
        let open = |address| open(&connections, address).unwrap();
        let (first, _first) = open("192.0.2.1").unwrap();
        let (second, _second) = open("::ffff:192.0.2.1").unwrap();
        let (third, third_place) = open("192.0.2.1").unwrap();
        assert!(is_shed(&first) && !is_shed(&second), "the longest idle one");
        let _requests = [second.begin(), third.begin()];
        assert_eq!(open("192.0.2.1").unwrap_err(), TooManyOfAddress);
        let _other = open("192.0.2.2").unwrap();
        drop(third_place);
        let _fourth = open("192.0.2.1").unwrap();
        let proxied: Vec<_> = (0..10).map(|_| open("10.0.0.1").unwrap()).collect();
        assert!(!proxied.iter().any(|(connection, _)| is_shed(connection)));

        let _v6 = [open("2001:db8::1").unwrap(), open("2001:db8:0:1::1").unwrap(), open("2001:db8::2").unwrap()]
            .map(|(connection, place)| (connection.begin(), place));
        assert!(open("2001:db8::3").is_err());
    }

    #[tokio::test]
    async fn where_all_places_are_taken_the_longest_idle_connection_makes_room() {
        let connections = limited(3, 3);
        let [(one, one_place), (two, _two), (three, _three)] =
            ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| open(&connections, address).unwrap().unwrap());
        let request = one.begin();
        drop(two.begin());
        let (four, _four) = open(&connections, "192.0.2.4").unwrap().unwrap();
        assert!(is_shed(&three) && !is_shed(&one) && !is_shed(&two));
        let _requests = [request, two.begin(), four.begin()];
        assert!(open(&connections, "192.0.2.5").is_none(), "it waits");
        assert_eq!(connections.open.shed(1), 0);
        drop(one_place);
        assert!(open(&connections, "192.0.2.5").unwrap().is_ok());
    }
}
