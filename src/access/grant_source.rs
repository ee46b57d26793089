//! The server that the grants are read from: the primary, or while it is away a replica.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{Client, Error};

use crate::access::grants::{self, GrantOptions, Grants};
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::spawn;

/// How long connecting, or one load, may take when the connection is new.
const LONGEST_LOAD: Duration = Duration::from_secs(10);

/// How long a server may take to answer if another one can be asked.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// Why the grants cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GrantSourceError {
    /// The database reported an error, or cannot be reached.
    #[error("cannot read the accounts and their grants from the database")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer in time when asked for the accounts")]
    TooSlow(#[from] time::error::Elapsed),
    /// The connection was lost.
    #[error("the connection on which grants are read was lost")]
    Lost,
}

/// The number of changes of accounts, groups, grants and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AccessVersion(i64);

/// A connection to a server that has the grants.
#[derive(Debug)]
pub(super) struct GrantSource {
    client: Client,
    connection: JoinHandle<()>,
    /// Whether the server is not a replica.
    pub(super) is_primary: bool,
}

impl GrantSource {
    /// Connects to the primary, or else to the replica that has the newest grants. `servers` begins with the primary. Fails with the
    /// primary's error.
    pub(super) async fn find(servers: &[DatabaseAddress]) -> Result<Self, GrantSourceError> {
        let Some((primary, replicas)) = servers.split_first() else { return Err(GrantSourceError::Lost) };
        let error =
            match Self::connect(primary, true, if replicas.is_empty() { LONGEST_LOAD } else { LONGEST_ANSWER }).await {
                Ok(source) => return Ok(source),
                Err(error) => error,
            };
        let mut newest = None;
        for replica in replicas {
            let Ok(source) = Self::connect(replica, false, LONGEST_ANSWER).await else { continue };
            let Ok(version) = source.version(LONGEST_ANSWER).await else { continue };
            if newest.as_ref().is_none_or(|(newest, _)| *newest < version) {
                newest = Some((version, source));
            }
        }
        newest.map(|(_, source)| source).ok_or(error)
    }

    /// Connects to the primary alone.
    pub(super) async fn find_primary(servers: &[DatabaseAddress]) -> Result<Self, GrantSourceError> {
        let primary = servers.first().ok_or(GrantSourceError::Lost)?;
        Self::connect(primary, true, LONGEST_ANSWER).await
    }

    async fn connect(server: &DatabaseAddress, is_primary: bool, longest: Duration) -> Result<Self, GrantSourceError> {
        let (client, connection) = time::timeout(longest, spawn(&server.for_role(Role::Accounts))).await??;
        Ok(Self { client, connection, is_primary })
    }

    /// The number of changes so far, by the server's own count.
    pub(super) async fn version(&self, longest: Duration) -> Result<AccessVersion, GrantSourceError> {
        let select = "SELECT coalesce(max(version), 0) FROM orderql.access_version";
        let row = time::timeout(longest, self.client.query_one(select, &[])).await??;
        Ok(AccessVersion(row.try_get(0)?))
    }

    /// The grants, with the version that they have at least. A change between the two is found at the next look.
    pub(super) async fn load(&self, options: &GrantOptions) -> Result<(AccessVersion, Grants), GrantSourceError> {
        let version = self.version(LONGEST_LOAD).await?;
        Ok((version, time::timeout(LONGEST_LOAD, grants::load(&self.client, options)).await??))
    }

    /// Waits until the connection is lost.
    pub(super) async fn lost(&mut self) {
        // It ends without a result, and does not panic.
        let _ = (&mut self.connection).await;
    }
}
