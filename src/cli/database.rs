//! The connection of a command to its database, and what to do if there is none.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::{Client, Config, Error};

use crate::catalog::Catalog;
use crate::cli::outcome::Outcome;
use crate::cli::settings::warn;
use crate::config::settings::Config as Settings;
use crate::database::address::connection_string::ConnectionString;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::error::AddressError;
use crate::database::address::role::Role;
use crate::database::address::server_addresses::ServerAddresses;
use crate::database::connection::connect;
use crate::database::pool::options::PoolOptions;
use crate::database::pool::reader_pool::ReaderPool;
use crate::preflight::stored_types;

/// How long a connection that reads may be waited for.
const WAIT: Duration = Duration::from_secs(10);

/// PostgreSQL's usual port.
const PORT: u16 = 5432;

/// A database cannot be connected to.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to {address}; {remedy}")]
pub(crate) struct ConnectError {
    /// The database, its hosts and the role. Never the password.
    address: String,
    remedy: Cow<'static, str>,
    source: Error,
}

impl ConnectError {
    /// Whether the database may come up by itself: nobody listens yet, it starts, or no server is the one that is meant.
    pub(crate) fn may_pass(&self) -> bool {
        if let Some(code) = self.source.code() {
            return matches!(
                *code,
                SqlState::CANNOT_CONNECT_NOW
                    | SqlState::TOO_MANY_CONNECTIONS
                    | SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE
            );
        }
        let is_lasting = |kind| matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidData);
        io_error(&self.source).is_some_and(|kind| !is_lasting(kind))
    }
}

/// Completes an address from the environment and files. Prints what its operator should know to standard error.
pub(crate) fn address(given: &ConnectionString) -> Result<DatabaseAddress, AddressError> {
    let address = DatabaseAddress::complete(given)?;
    for warning in address.warnings() {
        warn(&warning.to_string());
    }
    Ok(address)
}

/// The catalog with the types that the columns have in a database, and a connection to read from it.
pub(crate) async fn fitted(database: &ConnectionString, catalog: Catalog) -> Outcome<(Catalog, ReaderPool)> {
    let database = address(database)?;
    // This error says what to do, and the error of a pool does not.
    let client = connect(&database).await?;
    let stored = stored_types(&client, &catalog).await?;
    let pool = ReaderPool::new(&PoolOptions { database, size: 1, shared: 0, wait: WAIT })?;
    Ok((catalog.with_stored_types(&stored), pool))
}

/// Completes the addresses of the primary and its replicas.
pub(crate) fn addresses(settings: &Settings) -> Result<ServerAddresses, Box<dyn std::error::Error + Send + Sync>> {
    let address_of = |given: &ConnectionString| {
        Ok::<_, AddressError>(address(given)?.with_startup_options(settings.startup_options))
    };
    let primary = address_of(&settings.database()?)?;
    let replicas = settings.replica_urls.iter().map(address_of).collect::<Result<_, _>>()?;
    Ok(ServerAddresses::new(primary, replicas, settings.listen_url.as_ref().map(address).transpose()?)?)
}

/// Connects to the database of a command.
pub(crate) async fn connect(database: &DatabaseAddress) -> Result<Client, ConnectError> {
    connect::connect(database.for_role(Role::Command)).await.map_err(|source| ConnectError {
        address: described(&database.config),
        remedy: remedy(&source, database),
        source,
    })
}

/// The address for people: ``the database orders at db.example.com:5432 as the role ofbiz``.
fn described(config: &Config) -> String {
    let mut text = match config.get_dbname() {
        Some(name) => format!("the database {name}"),
        None => "the role's database".to_owned(),
    };
    let names = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    });
    let mut hosts: Vec<_> = names.collect();
    if hosts.is_empty() {
        hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
    }
    let ports = config.get_ports();
    for (index, host) in hosts.iter().enumerate() {
        // One port stands for all hosts.
        let port = ports.get(index).or(ports.first()).unwrap_or(&PORT);
        // Writing to a string cannot fail.
        let _ = write!(text, " {} {host}:{port}", if index == 0 { "at" } else { "or" });
    }
    if let Some(role) = config.get_user() {
        let _ = write!(text, " as the role {role}");
    }
    text
}

/// Advice about an error of the database.
fn remedy(error: &Error, database: &DatabaseAddress) -> Cow<'static, str> {
    let has_password = database.config.get_password().is_some();
    match database.password_file() {
        Some(file) if has_password && error.code() == Some(&SqlState::INVALID_PASSWORD) => {
            format!("correct the password in {}", file.display()).into()
        }
        file if !has_password && error.source().is_some_and(|source| source.to_string() == "password missing") => {
            let looked_in = file.map_or_else(
                || "no password file, as HOME is not set".to_owned(),
                |file| format!("{}, which has no line for it (host:port:database:role:password)", file.display()),
            );
            format!("it asks for a password, and there is none in the address, in PGPASSWORD, or in {looked_in}").into()
        }
        _ => usual_remedy(error).into(),
    }
}

fn usual_remedy(error: &Error) -> &'static str {
    if let Some(code) = error.code() {
        return match *code {
            SqlState::INVALID_PASSWORD => "correct the password in the address",
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                "correct the role in the address, or allow its connection in PostgreSQL's pg_hba.conf"
            }
            SqlState::INVALID_CATALOG_NAME => "correct the database's name, or create it (`createdb NAME`)",
            // The function that reports it tells the limits apart, in any language of messages.
            SqlState::TOO_MANY_CONNECTIONS => match error.as_db_error().and_then(DbError::routine) {
                Some("InitializeSessionUserId") => {
                    "wait for a free connection of the role, or raise its limit (ALTER ROLE … CONNECTION LIMIT …)"
                }
                Some("CheckMyDatabase") => {
                    "wait for a free connection, or raise the database's limit (ALTER DATABASE … CONNECTION LIMIT …)"
                }
                _ => "wait for a free connection, or raise PostgreSQL's max_connections",
            },
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE => {
                "name a server of the kind that target_session_attrs asks for, or change it"
            }
            SqlState::CANNOT_CONNECT_NOW => "PostgreSQL starts or stops: try it again in a moment",
            _ => "PostgreSQL refused it",
        };
    }
    match io_error(error) {
        Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
            "start PostgreSQL there, or correct host and port in the address"
        }
        Some(io::ErrorKind::PermissionDenied) => "run it as a user who may open PostgreSQL's socket",
        Some(_) => "check the host's name, the port and the network between",
        None => "check the address",
    }
}

/// The operating system's error among the causes.
fn io_error(error: &Error) -> Option<io::ErrorKind> {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_database_hosts_and_role_but_no_password() {
        for (text, expected) in [
            (
                "postgresql://me:secret@one:6000,two:6001/orders",
                "the database orders at one:6000 or two:6001 as the role me",
            ),
            ("postgresql://me@one,two/orders", "the database orders at one:5432 or two:5432 as the role me"),
            ("host=/run/postgresql user=me", "the role's database at /run/postgresql:5432 as the role me"),
            ("hostaddr=192.0.2.1 port=7 user=me", "the role's database at 192.0.2.1:7 as the role me"),
        ] {
            assert_eq!(described(&text.parse().unwrap()), expected);
        }
    }
}
