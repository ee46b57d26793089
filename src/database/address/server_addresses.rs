//! The addresses of the servers that have one database.

use std::collections::HashSet;

use thiserror::Error;

use crate::database::address::connection_string::SessionTarget;
use crate::database::address::database_address::CONNECT_TIMEOUT;
use crate::database::address::database_address::DatabaseAddress;

/// Why addresses cannot be those of replicas.
#[derive(Debug, Error)]
pub(crate) enum ReplicaAddressError {
    #[error("replica-urls has {name} and further hosts in one address: give each replica an address of its own")]
    SeveralHosts { name: String },
    #[error("replica-urls has {name} twice")]
    Twice { name: String },
}

/// The servers that have one database.
#[derive(Debug, Clone)]
pub(crate) struct ServerAddresses {
    /// The server that writes; of several hosts the one that does.
    pub primary: DatabaseAddress,
    /// The servers that follow it, one each.
    pub replicas: Vec<DatabaseAddress>,
    /// Where notifications are received.
    pub listen: DatabaseAddress,
}

impl ServerAddresses {
    /// A primary with replicas. Of the primary's hosts one that is no standby is meant, because the replicas are known; and a
    /// server that is away must not keep the others waiting.
    pub(crate) fn new(
        primary: DatabaseAddress,
        replicas: Vec<DatabaseAddress>,
        listen: Option<DatabaseAddress>,
    ) -> Result<Self, ReplicaAddressError> {
        if replicas.is_empty() {
            return Ok(Self { listen: listen.unwrap_or_else(|| primary.clone()), primary, replicas });
        }
        let mut names = HashSet::new();
        for replica in &replicas {
            let name = replica.server_name();
            if replica.config.get_hosts().len().max(replica.config.get_hostaddrs().len()) > 1 {
                return Err(ReplicaAddressError::SeveralHosts { name });
            }
            if !names.insert(name.clone()) {
                return Err(ReplicaAddressError::Twice { name });
            }
        }
        let primary = impatient(primary.with_default_target(SessionTarget::Primary));
        let listen = listen.unwrap_or_else(|| primary.clone());
        // Whether a server is a standby is asked of those that can be connected to.
        let replicas = replicas.into_iter().map(|replica| impatient(replica.with_target(SessionTarget::Any))).collect();
        Ok(Self { primary, replicas, listen })
    }

    /// All servers that can be read, the primary first.
    pub(crate) fn readable(&self) -> impl Iterator<Item = &DatabaseAddress> {
        std::iter::once(&self.primary).chain(&self.replicas)
    }
}

/// A server without replicas.
impl From<DatabaseAddress> for ServerAddresses {
    fn from(primary: DatabaseAddress) -> Self {
        Self { listen: primary.clone(), primary, replicas: Vec::new() }
    }
}

/// The address, with a limit on the time that connecting takes.
fn impatient(mut address: DatabaseAddress) -> DatabaseAddress {
    if address.config.get_connect_timeout().is_none() {
        address.config.connect_timeout(CONNECT_TIMEOUT);
    }
    address
}

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;

    use super::*;

    fn address(hosts: &str) -> DatabaseAddress {
        format!("host={hosts} user=me dbname=orders").parse::<Config>().unwrap().into()
    }

    #[test]
    fn each_replica_has_an_address_of_its_own() {
        let with = |replicas: &[&str]| {
            let replicas = replicas.iter().map(|hosts| address(hosts)).collect();
            ServerAddresses::new(address("one,two"), replicas, None).map_err(|error| error.to_string())
        };
        let servers = with(&["two", "three"]).unwrap();
        assert_eq!(
            servers.readable().map(DatabaseAddress::server_name).collect::<Vec<_>>(),
            ["one:5432", "two:5432", "three:5432"]
        );
        assert_eq!((servers.primary.target, servers.listen.target), (SessionTarget::Primary, SessionTarget::Primary));
        assert_eq!(with(&[]).unwrap().primary.target, SessionTarget::Any);
        assert!(with(&["two,three"]).unwrap_err().contains("two:5432 and further hosts"));
        assert!(with(&["two", "two"]).unwrap_err().contains("two:5432 twice"));
    }
}
