//! `target_session_attrs`: which of the servers of an address is meant, and connecting to it.
//!
//! tokio-postgres knows two of libpq's values and asks whether transactions are read-only, which they are on every reading
//! connection of this program. So the servers are tried here, and PostgreSQL is asked what libpq asks.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::pin::pin;

use futures_util::future::{Either, select};
use tokio::net;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::connection_string::SessionTarget;

/// PostgreSQL's usual port.
const PORT: u16 = 5432;

/// A client, and its connection, which has to be polled.
pub(crate) type OpenConnection = (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

/// Whether the server's own default of read-only transactions decides, so that a connection must not begin with another.
pub(in crate::database) const fn depends_on_default(target: SessionTarget) -> bool {
    matches!(target, SessionTarget::ReadWrite | SessionTarget::ReadOnly)
}

/// What is wrong with a server that is not meant: a condition, and how an error says it.
const fn mismatch(target: SessionTarget) -> Option<(&'static str, &'static str)> {
    const READ_ONLY: &str = "pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";
    const WRITES: &str = "NOT (pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean)";
    match target {
        SessionTarget::Any => None,
        SessionTarget::ReadWrite => Some((READ_ONLY, "the server is read-only")),
        SessionTarget::ReadOnly => Some((WRITES, "the server is not read-only")),
        SessionTarget::Primary => Some(("pg_is_in_recovery()", "the server is a standby")),
        SessionTarget::Standby | SessionTarget::PreferStandby => {
            Some(("NOT pg_is_in_recovery()", "the server is not a standby"))
        }
    }
}

/// Connects to the first server of the address that is meant. Fails with the error of the last one.
pub(super) async fn connect(
    config: &Config,
    tls: &MakeRustlsConnect,
    target: SessionTarget,
) -> Result<OpenConnection, Error> {
    let Some((is_wrong, reason)) = mismatch(target) else { return config.connect(tls.clone()).await };
    // PostgreSQL itself raises the error, because only tokio-postgres can make one of its own.
    let check = format!(
        "DO $$ BEGIN IF {is_wrong} THEN RAISE object_not_in_prerequisite_state USING MESSAGE = '{reason}'; END IF; END $$"
    );
    let mut last = None;
    for server in servers(config).await {
        match connect_checked(&server, tls, &check).await {
            Ok(connection) => return Ok(connection),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) if target != SessionTarget::PreferStandby => Err(error),
        // Any server will do; or there is none, and tokio-postgres says so.
        _ => config.connect(tls.clone()).await,
    }
}

async fn connect_checked(server: &Config, tls: &MakeRustlsConnect, check: &str) -> Result<OpenConnection, Error> {
    let (client, connection) = server.connect(tls.clone()).await?;
    let checked = match select(pin!(client.batch_execute(check)), connection).await {
        Either::Left((Ok(()), connection)) => Ok(connection),
        Either::Left((Err(error), _)) | Either::Right((Err(error), _)) => Err(error),
        Either::Right((Ok(()), _)) => Err(closed(&client).await),
    };
    checked.map(|connection| (client, connection))
}

/// The error of a client whose connection has ended.
async fn closed(client: &Client) -> Error {
    loop {
        // Nothing can be sent any more, so this fails at once.
        if let Err(error) = client.batch_execute("").await {
            return error;
        }
    }
}

/// The servers of an address, each with an address of its own, in the order in which they are tried. A name may stand for
/// several.
async fn servers(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let mut servers = Vec::new();
    for at in 0..hosts.len().max(addresses.len()) {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(PORT);
        let host = hosts.get(at);
        match (host, addresses.get(at)) {
            (Some(Host::Tcp(name)), None) => match net::lookup_host((name.as_str(), port)).await {
                Ok(found) => servers.extend(found.map(|found| server(config, host, Some(found.ip()), port))),
                // Connecting fails alike, and says why.
                Err(_) => servers.push(server(config, host, None, port)),
            },
            (_, address) => servers.push(server(config, host, address.copied(), port)),
        }
    }
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        let random = RandomState::new();
        let mut order: Vec<_> = servers.into_iter().enumerate().collect();
        order.sort_by_key(|(at, _)| random.hash_one(at));
        servers = order.into_iter().map(|(_, server)| server).collect();
    }
    servers
}

/// The configuration with this server alone. A configuration cannot lose servers, so that everything else is copied.
fn server(config: &Config, host: Option<&Host>, address: Option<IpAddr>, port: u16) -> Config {
    let mut copy = Config::new();
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .port(port);
    match host {
        Some(Host::Tcp(name)) => drop(copy.host(name)),
        Some(Host::Unix(folder)) => drop(copy.host_path(folder)),
        None => {}
    }
    address.map(|address| copy.hostaddr(address));
    config.get_user().map(|user| copy.user(user));
    config.get_password().map(|password| copy.password(password));
    config.get_dbname().map(|name| copy.dbname(name));
    config.get_options().map(|options| copy.options(options));
    config.get_application_name().map(|name| copy.application_name(name));
    config.get_connect_timeout().map(|time| copy.connect_timeout(*time));
    config.get_tcp_user_timeout().map(|time| copy.tcp_user_timeout(*time));
    config.get_keepalives_interval().map(|time| copy.keepalives_interval(time));
    config.get_keepalives_retries().map(|count| copy.keepalives_retries(count));
    copy
}
