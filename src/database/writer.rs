//! The pool of connections that write.

use deadpool_postgres::Object;

use crate::database::pool::{DatabaseError, Options, connections};

/// What every connection is set to: what it reads and writes is OFBiz's, whatever its role is called.
const SETTINGS: &str = "-c TimeZone=UTC -c search_path=public -c client_connection_check_interval=1s \
                        -c idle_in_transaction_session_timeout=60s";

/// Connections that write, apart from those that answer queries, so that neither can use up the other's.
#[derive(Debug, Clone)]
pub struct Writer {
    connections: deadpool_postgres::Pool,
}

impl Writer {
    /// A pool that has not connected yet.
    pub fn new(options: &Options) -> Result<Self, DatabaseError> {
        Ok(Self { connections: connections(options, |given| format!("{SETTINGS} {given}"))? })
    }

    /// A connection. Waits for a free one as long as the options allow. A transaction on it that is dropped is rolled back.
    pub async fn connection(&self) -> Result<Object, DatabaseError> {
        Ok(self.connections.get().await?)
    }
}
