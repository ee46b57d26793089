//! The server's side of a connection.

use std::sync::{Arc, Weak};

use deadpool_postgres::{ClientWrapper, StatementCache};
#[cfg(feature = "traces")]
use tokio_postgres::config::Host;

use crate::database::connection::lock_waits::{LockWait, LockWatch};

/// PostgreSQL's port, unless an address has another one.
#[cfg(feature = "traces")]
const DEFAULT_PORT: u16 = 5432;

/// The server's side of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Backend {
    connection: Weak<StatementCache>,
    locks: LockWatch,
}

impl Backend {
    pub(super) fn of(connection: &ClientWrapper, locks: &LockWatch) -> Self {
        Self { connection: Arc::downgrade(&connection.statement_cache), locks: locks.clone() }
    }

    /// The server's host and port, or its socket; `None` if the address has several hosts, of which it may be any.
    #[cfg(feature = "traces")]
    pub(crate) fn server(&self) -> Option<(String, Option<u16>)> {
        let config = &self.locks.address().config;
        let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
        match (config.get_hosts(), config.get_hostaddrs()) {
            ([Host::Tcp(name)], _) => Some((name.clone(), Some(port))),
            ([Host::Unix(folder)], _) => Some((folder.join(format!(".s.PGSQL.{port}")).display().to_string(), None)),
            ([], [address]) => Some((address.to_string(), Some(port))),
            _ => None,
        }
    }

    /// Observes how long the connection's statement waits for locks.
    pub(crate) fn watch(&self, wait: &Arc<LockWait>) {
        self.locks.watch(&self.connection, wait);
    }
}
